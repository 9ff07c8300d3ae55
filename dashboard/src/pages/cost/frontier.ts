/** Cost per task against what it buys, as a chart. */
import type { CostReport, CostRow } from "../../api/answers";
import type { ChartOption } from "../../components";
import { duration, money, moneyColumn, percent, points } from "../../format";
import type { Palette } from "../../palette";
import { nameOf } from "../../shared/paths";

export type Bought = "accuracy" | "latency";
export type Scale = "log" | "linear";

export interface Priced extends CostRow {
  cost_per_task_usd: number;
}

/** What an agent reaches: accuracy in 0..1, or seconds per task. */
export function reached(row: CostRow, bought: Bought): number | null {
  return bought === "accuracy" ? row.accuracy : row.duration_s;
}

export function reachedText(row: CostRow, bought: Bought): string {
  return bought === "accuracy" ? points(row.accuracy) : duration(row.duration_s);
}

export function onFrontier(row: CostRow, bought: Bought): boolean | null {
  return bought === "accuracy" ? row.on_accuracy_frontier : row.on_latency_frontier;
}

export function frontierShare(row: CostRow, bought: Bought): number | null {
  return bought === "accuracy" ? row.accuracy_frontier_probability : row.latency_frontier_probability;
}

/** Why an agent has no place in the chart; "" where it has one. */
export function absent(row: CostRow, bought: Bought, scale: Scale): string {
  if (row.cost_per_task_usd === null) return "cost unknown";
  if (row.never_succeeded) return "never succeeded";
  if (reached(row, bought) === null) return `${bought} unknown`;
  return scale === "log" && row.cost_per_task_usd <= 0 ? "costs nothing: no place on a log axis" : "";
}

export function placed(report: CostReport, bought: Bought, scale: Scale): Priced[] {
  const rows = report.rows.filter(
    (row): row is Priced => row.cost_per_task_usd !== null && absent(row, bought, scale) === "",
  );
  return rows.toSorted((a, b) => a.cost_per_task_usd - b.cost_per_task_usd);
}

function tooltip(row: CostRow, bought: Bought): string {
  const share = frontierShare(row, bought);
  const lines = [
    row.agent,
    `${money(row.cost_per_task_usd)} per task`,
    `${money(row.cost_per_success_usd)} per success` +
      (row.cost_interval ? ` [${money(row.cost_interval[0])}, ${money(row.cost_interval[1])}]` : ""),
    `accuracy ${points(row.accuracy)}, ${duration(row.duration_s)} per task`,
    `${row.successes} of ${row.tasks} succeeded`,
  ];
  if (share !== null) lines.push(`on the frontier in ${percent(share, 0)} of redraws`);
  if (row.simulated) lines.push("simulated");
  return lines.join("\n");
}

const LONGEST = 26;

/** A label as long as a chart has room for: the name is cut, never the version. */
export function cutLabel(label: string): string {
  const name = nameOf(label);
  const room = LONGEST - (label.length - name.length);
  return label.length <= LONGEST || room < 4 ? label : `${name.slice(0, room)}…${label.slice(name.length)}`;
}

/** On which side of a point its name has room: towards the middle of the chart. */
export function sideOf(cost: number, rows: readonly Priced[], scale: Scale): "left" | "right" {
  const place = (value: number): number => (scale === "log" ? Math.log(value) : value);
  const costs = rows.map((row) => place(row.cost_per_task_usd));
  return place(cost) > (Math.min(...costs) + Math.max(...costs)) / 2 ? "left" : "right";
}

export function scatterOption(rows: readonly Priced[], bought: Bought, scale: Scale, colours: Palette): ChartOption {
  const point = (row: Priced): [number, number] => [row.cost_per_task_usd, reached(row, bought) ?? 0];
  const frontier = rows.filter((row) => onFrontier(row, bought) === true);
  const rest = rows.filter((row) => onFrontier(row, bought) !== true);
  const items = (list: readonly Priced[]): object[] =>
    list.map((row) => ({
      name: cutLabel(row.agent),
      value: point(row),
      row,
      label: { position: sideOf(row.cost_per_task_usd, rows, scale) },
      ...(row.simulated ? { symbol: "diamond" } : {}),
    }));
  const unit = moneyColumn(rows.map((row) => row.cost_per_task_usd));
  const common = {
    type: "scatter",
    label: { show: true, formatter: "{b}", distance: 8, color: colours.text, fontSize: 11 },
    labelLayout: { hideOverlap: true },
    tooltip: { formatter: (hit: { data: { row: Priced } }) => tooltip(hit.data.row, bought) },
    z: 3,
  };
  const format = bought === "accuracy" ? (value: number) => points(value, 0) : duration;
  return {
    legend: { type: "scroll", top: 0 },
    grid: { left: 26, right: 40, top: 58, bottom: 30, containLabel: true },
    xAxis: {
      type: scale === "log" ? "log" : "value",
      name: `$ ${unit.per}${scale === "log" ? " (log)" : ""}`,
      nameLocation: "middle",
      nameGap: 28,
      axisLabel: { formatter: unit.text, hideOverlap: true },
      splitLine: { show: true },
    },
    yAxis: {
      type: "value",
      scale: true,
      ...(bought === "accuracy" ? { max: 1 } : { min: 0 }),
      name: bought === "accuracy" ? "accuracy →" : "seconds →",
      nameLocation: "middle",
      nameGap: bought === "accuracy" ? 32 : 56,
      axisLabel: { formatter: format },
    },
    series: [
      {
        name: "frontier",
        type: "line",
        step: "end",
        symbol: "none",
        silent: true,
        data: frontier.map(point),
        lineStyle: { color: colours.better, width: 2 },
        itemStyle: { color: colours.better },
        tooltip: { show: false },
      },
      {
        ...common,
        name: "on the frontier",
        symbol: "circle",
        symbolSize: 14,
        itemStyle: { color: colours.better },
        data: items(frontier),
      },
      {
        ...common,
        name: "not on it",
        symbol: "rect",
        symbolSize: 11,
        itemStyle: { color: colours.surface, borderColor: colours.muted, borderWidth: 2 },
        data: items(rest),
      },
    ],
  };
}
