/** Figures of a load run in words. */
import type { BreakingPoint, ScenarioReport, StressReport } from "../../api/answers";
import { UNKNOWN, bytes, duration, number, percent } from "../../format";

const AXES: Record<string, string> = {
  rate: "requests per second",
  concurrency: "requests at once",
  size: "words of input",
  memory: "left to it",
};

const LIMITS: Record<string, string> = {
  nothing: "nothing",
  latency: "latency",
  errors: "errors",
  throughput: "throughput",
  rate_limit: "its rate limit",
  memory: "memory",
  size: "the size of the input",
  connections: "the cap on connections",
  client: "the client: nothing is known of the target beyond that",
};

/** "Limited by latency: latency_p99 is 1.05 s.", or that nothing did. */
export function limitSentence(limit: string, evidence: string): string {
  const begin = limit === "nothing" ? "It stood what was asked" : `Limited by ${limitText(limit)}`;
  const text = !evidence ? begin : limit === "nothing" ? `${begin}. ${evidence}` : `${begin}: ${evidence}`;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export function plainName(scenario: string): string {
  return scenario.replaceAll("_", " ");
}

export function axisName(axis: string): string {
  return AXES[axis] ?? axis;
}

export function limitText(limit: string): string {
  return LIMITS[limit] ?? limit.replaceAll("_", " ");
}

/** A level of an axis: memory in bytes, everything else as a plain number. */
export function levelText(value: number | null, axis: string): string {
  if (value === null) return UNKNOWN;
  return axis === "memory" ? bytes(value) : number(value);
}

/** "900 requests per second [850, 950]"; the brackets are the levels between which it breaks. */
export function breakText(point: BreakingPoint): string {
  const { axis, value, interval } = point;
  const range = interval ? ` [${levelText(interval[0], axis)}, ${levelText(interval[1], axis)}]` : "";
  return `${levelText(value, axis)} ${axisName(axis)}${range}`;
}

/** What became of a scenario in one line. */
export function verdictText(report: ScenarioReport): string {
  if (report.breaking_point) return `breaks at ${breakText(report.breaking_point)}`;
  if (report.broke) return "broke";
  return report.limited_by === "client" || report.client_limited ? "not judged: the client was the limit" : "held";
}

/** What the levels of a scenario count: the axis of its breaking point, else what a scenario of its kind raises. */
export function axisOf({ breaking_point: point, closed_loop: closed, scenario }: ScenarioReport): string {
  if (point) return point.axis;
  if (scenario === "large_inputs") return "size";
  if (scenario === "memory_pressure") return "memory";
  return closed ? "concurrency" : "rate";
}

/** What was measured for an objective: a time, or a share such as the error rate. */
export function objectiveValue(name: string, value: number | null): string {
  return /_(mean|p[\d.]+)$/.test(name) ? duration(value) : percent(value);
}

/** A figure by the ending of its name: `recovery_half_life_s` is seconds, `error_rate` a share. */
export function figureText(name: string, value: number | null): string {
  if (value === null) return UNKNOWN;
  if (name.endsWith("_bytes_per_s")) return `${bytes(value)}/s`;
  if (name.endsWith("_per_s")) return `${number(value)}/s`;
  if (name.endsWith("_bytes")) return bytes(value);
  if (name.endsWith("_s")) return duration(value);
  if (name.endsWith("_rate") || name.endsWith("_share")) return percent(value);
  return number(value);
}

/** The name of a figure without the unit that its value carries. */
export function figureName(name: string): string {
  return name.replace(/(_bytes)?_per_s$|_bytes$|_s$/, "").replaceAll("_", " ");
}

/** "ttft_p95 < 200 ms". */
export function objectiveText({ metric, limit, quantile }: StressReport["objectives"][number]): string {
  if (metric === "error_rate") return `error_rate < ${percent(limit)}`;
  return `${metric}_${quantile === null ? "mean" : `p${number(100 * quantile)}`} < ${duration(limit)}`;
}
