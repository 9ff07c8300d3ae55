/** Durations by agent (or by arm, in an experiment), for the chart of the distribution. */
import type { ArmResult, SampleRow } from "../../../api/answers";

export interface Spread {
  name: string;
  /** Seconds, ascending. */
  values: number[];
  /** Minimum, lower quartile, median, upper quartile, maximum. */
  box: readonly [number, number, number, number, number];
}

/** Linear between the two nearest values of an ascending list. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? 0;
  const high = sorted[Math.ceil(place)] ?? low;
  return low + (high - low) * (place - Math.floor(place));
}

function spreadOf(name: string, values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    name,
    values: sorted,
    box: [0, 0.25, 0.5, 0.75, 1].map((share) => quantile(sorted, share)) as unknown as Spread["box"],
  };
}

/** Answered executions only: the time of one that raised says nothing of the work. */
export function spreads(samples: readonly SampleRow[], arms: readonly ArmResult[]): Spread[] {
  const names = new Map(arms.map((arm) => [arm.arm_id, arm.agent ?? arm.name]));
  const found = new Map<string, number[]>();
  for (const sample of samples) {
    if (sample.duration_s === null || (sample.status !== "ok" && sample.status !== "failed")) continue;
    const name = sample.agent || names.get(sample.arm_id) || sample.arm;
    const values = found.get(name);
    if (values) values.push(sample.duration_s);
    else found.set(name, [sample.duration_s]);
  }
  return [...found].map(([name, values]) => spreadOf(name, values));
}

/** At most `most` values, evenly from the ascending list, both ends included. */
export function thinned(values: readonly number[], most: number): number[] {
  if (values.length <= most) return [...values];
  return Array.from({ length: most }, (_, index) => values[Math.round((index * (values.length - 1)) / (most - 1))] ?? 0);
}

/** -0.5..0.5 and the same every time, so that a chart does not move when it is drawn again. */
export function jitter(index: number): number {
  return ((index * 0.618034) % 1) - 0.5;
}

/** Where the largest is more than 30 times the smallest, a logarithmic axis shows both. */
export function wantsLog(all: readonly Spread[]): boolean {
  const low = Math.min(...all.map((item) => item.box[0]));
  const high = Math.max(...all.map((item) => item.box[4]));
  return low > 0 && high / low > 30;
}
