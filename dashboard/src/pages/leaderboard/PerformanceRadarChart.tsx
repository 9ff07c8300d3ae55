import { useCallback, useMemo } from "react";
import type { ReactElement } from "react";
import type { LeaderboardEntry } from "../../api/answers";
import { Chart } from "../../components";
import type { ChartOption } from "../../components";
import { points } from "../../format";
import { Link, address } from "../../router";
import { SHAPES } from "../../palette";
import type { Palette } from "../../palette";
import { DIMENSIONS } from "../../shared/dimensions";

const LINES = ["solid", "dashed", "dotted"] as const;

const scoreOf = (entry: LeaderboardEntry, name: string): number | null => entry.scores[name]?.score ?? null;

function radarOption(entries: readonly LeaderboardEntry[], axes: readonly string[], colours: Palette): ChartOption {
  return {
    legend: { bottom: 0, data: entries.map((entry, index) => ({ name: entry.agent, icon: SHAPES[index % SHAPES.length] })) },
    radar: {
      indicator: axes.map((name) => ({ name, max: 100 })),
      radius: "62%",
      center: ["50%", "46%"],
      axisName: { color: colours.text },
      splitArea: { show: false },
      splitLine: { lineStyle: { color: colours.line } },
      axisLine: { lineStyle: { color: colours.line } },
    },
    series: entries.map((entry, index) => ({
      type: "radar",
      name: entry.agent,
      symbol: SHAPES[index % SHAPES.length],
      symbolSize: 7,
      lineStyle: { width: 2, type: LINES[index % LINES.length] },
      itemStyle: { color: colours.series[index % colours.series.length] },
      areaStyle: { opacity: 0.06 },
      data: [{ name: entry.agent, value: axes.map((name) => Math.round(1000 * (scoreOf(entry, name) ?? 0)) / 10) }],
    })),
    tooltip: {
      formatter: (item: { name: string; seriesIndex?: number }) => {
        const entry = entries.find((candidate) => candidate.agent === item.name);
        const lines = DIMENSIONS.map((name) => `${name}: ${points(entry?.scores[name]?.score)}`);
        return [item.name, ...lines].join("\n");
      },
    },
  };
}

/** Bars instead, where fewer than three dimensions are known of every agent: what is unknown has no bar. */
function barOption(entries: readonly LeaderboardEntry[], colours: Palette): ChartOption {
  return {
    legend: { bottom: 0 },
    grid: { left: 40, right: 12, top: 16, bottom: 60 },
    xAxis: { type: "category", data: [...DIMENSIONS] },
    yAxis: { type: "value", min: 0, max: 100 },
    series: entries.map((entry, index) => ({
      type: "bar",
      barMaxWidth: 48,
      name: entry.agent,
      itemStyle: { color: colours.series[index % colours.series.length] },
      label: { show: true, position: "top", color: colours.text, fontSize: 11 },
      data: DIMENSIONS.map((name) => {
        const score = scoreOf(entry, name);
        return score === null ? "-" : Math.round(1000 * score) / 10;
      }),
    })),
  };
}

const LEAST_AXES = 3;

interface RadarProps {
  entries: readonly LeaderboardEntry[];
  chosen: readonly string[];
  suite: string;
}

/** The five dimensions of the chosen agents. The table's checkboxes choose them; the address keeps them. */
export function PerformanceRadarChart({ entries, chosen, suite }: RadarProps): ReactElement {
  const shown = useMemo(() => entries.filter((entry) => chosen.includes(entry.agent)), [entries, chosen]);
  // A dimension that is not known of every agent is left out: the middle of the radar would read as a zero.
  const axes = useMemo(() => DIMENSIONS.filter((name) => shown.every((entry) => scoreOf(entry, name) !== null)), [shown]);
  const radar = axes.length >= LEAST_AXES;
  const option = useCallback((colours: Palette) => (radar ? radarOption(shown, axes, colours) : barOption(shown, colours)), [shown, axes, radar]);
  if (shown.length === 0) return <p className="muted">Tick agents in the column Radar to see their dimensions side by side.</p>;
  const described = shown.map((entry) => {
    const scores = DIMENSIONS.map((name) => `${name} ${points(entry.scores[name]?.score)}`);
    return `${entry.agent}: ${scores.join(", ")}`;
  });
  const unknown = DIMENSIONS.filter((name) => !axes.includes(name));
  const pair = shown.map((entry) => entry.agent).join(",");
  return (
    <Chart
      title="Dimensions of the chosen agents"
      description={described.join(". ")}
      option={option}
      height={400}
      table={{
        columns: ["Agent", ...DIMENSIONS],
        rows: shown.map((entry) => [entry.agent, ...DIMENSIONS.map((name) => points(entry.scores[name]?.score))]),
      }}
    >
      {radar && unknown.length > 0 && (
        <p className="muted">Not known of every agent and left out: {unknown.join(", ")}.</p>
      )}
      {!radar && <p className="muted">A radar needs three dimensions that are known of every agent; what has no bar is not known.</p>}
      {shown.length > 1 && <Link to={address("/compare", { agents: pair, suite })}>Compare these {shown.length} case by case</Link>}
    </Chart>
  );
}
