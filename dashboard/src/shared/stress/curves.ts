/** Charts of one scenario: over time with its phases shaded, and level by level with the breaking point. */
import type { ScenarioReport, StressReport, TimePoint } from "../../api/answers";
import type { ChartOption } from "../../components";
import { duration, number, percent } from "../../format";
import { SHAPES } from "../../palette";
import type { Palette } from "../../palette";
import { axisName, axisOf, levelText, objectiveText } from "./words";

type Objective = StressReport["objectives"][number];
export type Curve = "latency" | "rate" | "errors";
export type Axis = "time" | "level";

interface Line {
  name: string;
  values: (number | null)[];
  dashed?: boolean;
}

export interface Drawn {
  title: string;
  x: number[];
  lines: Line[];
  format: (value: number | null) => string;
}

const perSecond = (value: number | null): string => (value === null ? "—" : `${number(value)}/s`);

const FORMATS: Record<Curve, Drawn["format"]> = {
  latency: (value) => duration(value),
  rate: perSecond,
  errors: (value) => percent(value),
};

const TITLES: Record<Curve, string> = { latency: "Latency", rate: "Rate", errors: "Errors" };

/** What windows and levels have in common. */
type Figures = Pick<TimePoint, "asked_per_s" | "throughput_per_s" | "error_rate" | "latency_p50_s" | "latency_p99_s">;

function linesOf(points: readonly Figures[], curve: Curve): Line[] {
  if (curve === "latency") {
    return [
      { name: "p99", values: points.map((point) => point.latency_p99_s) },
      { name: "p50", values: points.map((point) => point.latency_p50_s), dashed: true },
    ];
  }
  if (curve === "rate") {
    return [
      { name: "asked", values: points.map((point) => point.asked_per_s), dashed: true },
      { name: "completed", values: points.map((point) => point.throughput_per_s) },
    ];
  }
  return [{ name: "errors", values: points.map((point) => point.error_rate) }];
}

/** What a chart of a scenario shows; levels come in ascending order, whatever order they were tried in. */
export function drawn(report: ScenarioReport, curve: Curve, axis: Axis): Drawn {
  const levels = report.curve.toSorted((a, b) => a.level - b.level);
  const windows = report.over_time;
  return {
    title: `${TITLES[curve]} ${axis === "time" ? "over time" : `by ${axisName(axisOf(report))}`}`,
    x: axis === "time" ? windows.map((point) => point.at_s) : levels.map((point) => point.level),
    lines: linesOf(axis === "time" ? windows : levels, curve),
    format: FORMATS[curve],
  };
}

/** Every other phase is shaded; each carries its name. */
/** The names over phases: steps of one kind that follow each other are named once, at the first. */
export function phaseNames(labels: readonly string[]): string[] {
  return labels.map((label, index) => (labels[index - 1] === label ? "" : label));
}

function phases(report: ScenarioReport, colours: Palette): object {
  const names = phaseNames(report.phases.map(([label]) => label));
  return {
    silent: true,
    label: { position: "insideTop", color: colours.muted, fontSize: 11 },
    data: report.phases.map(([, from, to], index) => [
      { name: names[index], xAxis: from, itemStyle: { color: colours.muted, opacity: index % 2 === 0 ? 0.08 : 0.18 } },
      { xAxis: to },
    ]),
  };
}

/** The objectives that a chart can show: limits of latency, or of errors. */
export function limitsOf(objectives: readonly Objective[], curve: Curve): Objective[] {
  const metric: Record<Curve, string> = { latency: "latency", errors: "error_rate", rate: "" };
  return objectives.filter((objective) => objective.metric === metric[curve]);
}

/** An objective as a line across the chart. */
function limitLines(objectives: readonly Objective[], curve: Curve, colours: Palette): object {
  return {
    name: "objective",
    type: "line",
    data: [],
    markLine: {
      silent: true,
      symbol: "none",
      data: limitsOf(objectives, curve).map((objective) => ({ yAxis: objective.limit, name: objectiveText(objective) })),
      lineStyle: { color: colours.worse, type: "dotted", width: 2 },
      label: { formatter: "{b}", color: colours.worse, position: "insideEndTop" },
    },
  };
}

function breaking(report: ScenarioReport, colours: Palette): object {
  const point = report.breaking_point;
  if (!point) return {};
  const area = point.interval
    ? {
        markArea: {
          silent: true,
          itemStyle: { color: colours.worse, opacity: 0.14 },
          data: [[{ xAxis: point.interval[0] }, { xAxis: point.interval[1] }]],
        },
      }
    : {};
  return {
    ...area,
    markLine: {
      silent: true,
      symbol: "none",
      data: [{ xAxis: point.value }],
      lineStyle: { color: colours.worse, type: "dashed", width: 2 },
      label: {
        formatter: `breaks at ${levelText(point.value, point.axis)}`,
        color: colours.worse,
        position: "insideEndTop",
      },
    },
  };
}

export interface Shown {
  report: ScenarioReport;
  curve: Curve;
  axis: Axis;
  objectives: readonly Objective[];
}

export function curveOption({ report, curve, axis, objectives }: Shown, colours: Palette): ChartOption {
  const { x, lines, format } = drawn(report, curve, axis);
  const series = lines.map((line, index) => ({
    name: line.name,
    type: "line",
    symbol: SHAPES[index % SHAPES.length],
    symbolSize: 5,
    showSymbol: x.length <= 60,
    itemStyle: { color: colours.series[index] },
    lineStyle: { color: colours.series[index], width: 2, type: line.dashed ? "dashed" : "solid" },
    data: x.map((at, place) => [at, line.values[place] ?? null]),
    tooltip: { valueFormatter: (value: unknown) => format(typeof value === "number" ? value : null) },
    ...(index > 0 ? {} : axis === "time" ? { markArea: phases(report, colours) } : breaking(report, colours)),
  }));
  return {
    legend: { type: "scroll", top: 0, data: lines.map((line) => line.name) },
    tooltip: { trigger: "axis" },
    grid: { left: 12, right: 20, top: 34, bottom: 28, containLabel: true },
    xAxis: {
      type: "value",
      min: axis === "time" ? 0 : "dataMin",
      name: axis === "time" ? "seconds" : axisName(axisOf(report)),
      nameLocation: "middle",
      nameGap: 26,
      splitLine: { show: false },
    },
    yAxis: {
      type: "value",
      min: 0,
      // An objective is always in sight, also where nothing came near it.
      max: ({ max }: { max: number }) => Math.max(max, ...limitsOf(objectives, curve).map((objective) => objective.limit * 1.05)),
      axisLabel: { formatter: (value: number) => format(value), showMaxLabel: false },
    },
    series: [...series, limitLines(objectives, curve, colours)],
  };
}
