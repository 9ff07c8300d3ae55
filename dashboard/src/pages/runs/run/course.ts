/** What the charts of a run that goes on show. */
import type { RunCourse } from "../../../api/answers";
import { duration, money, percent } from "../../../format";

type Point = RunCourse["points"][number];

export interface CourseChart {
  title: string;
  /** Executions, ascending: one for each value of a line. */
  done: number[];
  lines: { name: string; values: (number | null)[] }[];
  /** The end of the axis; null where it follows from the values. */
  most: number | null;
  format: (value: number | null) => string;
}

/** Pass rate and latency, and cost where some of it is known. */
export function courseLines(points: readonly Point[]): CourseChart[] {
  const done = points.map((point) => point.done);
  const charts: CourseChart[] = [
    {
      title: "Passed so far",
      done,
      lines: [{ name: "passed", values: points.map((point) => point.passed / point.done) }],
      most: 1,
      format: (value) => percent(value, 0),
    },
    {
      title: "Latency",
      done,
      lines: [
        { name: "median", values: points.map((point) => point.median_s) },
        { name: "p95", values: points.map((point) => point.p95_s) },
      ],
      most: null,
      format: (value) => duration(value),
    },
  ];
  if (points.some((point) => point.cost_usd !== null)) {
    charts.push({
      title: "Cost so far",
      done,
      lines: [{ name: "known cost", values: points.map((point) => point.cost_usd) }],
      most: null,
      format: (value) => money(value),
    });
  }
  return charts;
}
