import type { PairedRow } from "../../api/answers";
import { isScore } from "../../shared/units";

/** A row on the common scale of the chart: per cent, or points of a hundred; positive is better for the candidate. */
export interface Effect {
  row: PairedRow;
  change: number | null;
  low: number | null;
  high: number | null;
  /** "%" of the baseline's value, or "points" of a hundred. A change in another unit has no place on the scale. */
  kind: "%" | "points";
}

/** Turns a row's change and interval so that positive is better, whatever the direction of the metric. */
export function effectOf(row: PairedRow): Effect {
  const sign = row.higher_is_better ? 100 : -100;
  const kind = row.relative ? "%" : "points";
  if (row.change === null || (!row.relative && !isScore(row.unit)))
    return { row, change: null, low: null, high: null, kind };
  const ends = row.interval === null ? null : [row.interval[0] * sign, row.interval[1] * sign];
  return {
    row,
    change: row.change * sign,
    low: ends === null ? null : Math.min(...ends),
    high: ends === null ? null : Math.max(...ends),
    kind,
  };
}

/** Half the width of the symmetric axis, and its ticks, as round numbers that hold every effect. */
export function axisFor(effects: Effect[]): { reach: number; ticks: number[] } {
  const values = effects.flatMap((effect) => [effect.change, effect.low, effect.high]);
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  const largest = Math.max(1, ...known.map(Math.abs));
  const power = 10 ** Math.floor(Math.log10(largest / 2));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size * 2.999 >= largest) ?? 10 * power;
  const reach = Math.ceil(largest / step) * step;
  const count = Math.round(reach / step);
  return { reach, ticks: Array.from({ length: 2 * count + 1 }, (_, index) => (index - count) * step) };
}
