/** Stress tests: what a target does under each load, and where it breaks. Durations are seconds. */
import type { ChartOption } from "../../components";
import { duration, number, percent } from "../../format";
import { SHAPES } from "../../theme";
import type { Palette } from "../../theme";

export interface StressPoint {
  /** Requests per second offered, or the number of clients: as the scenario counts. */
  load: number;
  p50_s: number | null;
  p99_s: number | null;
  throughput_per_s: number | null;
  /** In 0..1. */
  error_rate: number | null;
}

export interface StressResult {
  scenario: string;
  target: string;
  points: StressPoint[];
  /** The load from which the target no longer keeps up; null where it was not reached. */
  breaking_point: number | null;
  run_id?: string;
}

export type Curve = "latency" | "throughput" | "errors";

interface Line {
  field: Exclude<keyof StressPoint, "load">;
  suffix: string;
  dashed: boolean;
}

export const CURVES: Record<
  Curve,
  { title: string; lines: readonly Line[]; format: (value: number | null) => string }
> = {
  latency: {
    title: "Latency under load",
    lines: [
      { field: "p99_s", suffix: " p99", dashed: false },
      { field: "p50_s", suffix: " p50", dashed: true },
    ],
    format: duration,
  },
  throughput: {
    title: "Throughput under load",
    lines: [{ field: "throughput_per_s", suffix: "", dashed: false }],
    format: (value) => `${number(value)}/s`,
  },
  errors: {
    title: "Errors under load",
    lines: [{ field: "error_rate", suffix: "", dashed: false }],
    format: (value) => percent(value),
  },
};

export function curveOption(results: readonly StressResult[], curve: Curve, colours: Palette): ChartOption {
  const { lines, format } = CURVES[curve];
  const series = results.flatMap((result, place) => {
    const colour = colours.series[place % colours.series.length];
    return lines.map((line, index) => ({
      name: `${result.scenario}${line.suffix}`,
      type: "line",
      symbol: SHAPES[place % SHAPES.length],
      symbolSize: 7,
      itemStyle: { color: colour },
      lineStyle: { color: colour, type: line.dashed ? "dashed" : "solid" },
      data: result.points.map((point) => [point.load, point[line.field]]),
      tooltip: { valueFormatter: (value: unknown) => format(typeof value === "number" ? value : null) },
      ...(index === 0 && result.breaking_point !== null
        ? {
            markLine: {
              silent: true,
              symbol: "none",
              data: [{ xAxis: result.breaking_point }],
              lineStyle: { color: colours.worse, type: "dashed", width: 2 },
              label: {
                formatter: `breaks at ${number(result.breaking_point)}`,
                color: colours.worse,
                position: "insideEndTop",
              },
            },
          }
        : {}),
    }));
  });
  return {
    legend: { type: "scroll", top: 0 },
    tooltip: { trigger: "axis" },
    grid: { left: 12, right: 24, top: 40, bottom: 28, containLabel: true },
    xAxis: { type: "value", name: "load", nameLocation: "middle", nameGap: 26 },
    yAxis: { type: "value", min: 0, axisLabel: { formatter: format } },
    series,
  };
}
