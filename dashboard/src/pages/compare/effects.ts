import type { PairedRow } from "../../api/answers";
import { number, percent, points, quantity, signed, UNKNOWN } from "../../format";
import { isScore } from "../../shared/units";

/** What stands on one axis: differences of scores in points, or use as a factor of the baseline's. */
export type Scale = "points" | "factor";

/** A row on its axis. Positive places are better for the candidate: points of a hundred, or doublings of a factor. */
export interface Effect {
  row: PairedRow;
  at: number | null;
  low: number | null;
  high: number | null;
  /** Null for a change in a unit of its own, which has no place on either axis. */
  scale: Scale | null;
}

const LEAST_FACTOR = 1 / 64;

/** 0.5 more is log2(1.5) doublings. What fell to nothing stays on the picture. */
function doublings(change: number): number {
  return Math.log2(Math.max(1 + change, LEAST_FACTOR));
}

/** Where a row's change and interval stand: worse is left, whatever the direction of the metric. */
export function effectOf(row: PairedRow): Effect {
  const scale: Scale | null = row.relative ? "factor" : isScore(row.unit) ? "points" : null;
  if (row.change === null || scale === null) return { row, at: null, low: null, high: null, scale };
  const sign = row.higher_is_better ? 1 : -1;
  const place = (value: number): number => sign * (scale === "factor" ? doublings(value) : 100 * value);
  const ends = row.interval === null ? null : [place(row.interval[0]), place(row.interval[1])];
  return {
    row,
    at: place(row.change),
    low: ends === null ? null : Math.min(...ends),
    high: ends === null ? null : Math.max(...ends),
    scale,
  };
}

/** A relative change: per cent up to twice as much, a factor beyond. */
export function relativeText(change: number): string {
  return change > 1 ? `${number(1 + change, 2)}×` : signed(percent(change));
}

/** The change of a row with the sign of its metric, as the table and the picture say it. */
export function changeText(row: Pick<PairedRow, "change" | "relative" | "unit">): string {
  if (row.change === null) return UNKNOWN;
  if (row.relative) return relativeText(row.change);
  return isScore(row.unit) ? `${signed(points(row.change))} pt` : signed(quantity(row.change, row.unit));
}

export interface Axis {
  reach: number;
  ticks: { at: number; label: string }[];
}

const FACTORS = [1.1, 1.25, 1.5, 2, 4, 8, 16, 32, 64];

/** A symmetric axis with round ticks that holds every effect. */
export function axisFor(effects: readonly Effect[], scale: Scale): Axis {
  const values = effects.flatMap((effect) => (effect.scale === scale ? [effect.at, effect.low, effect.high] : []));
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  const largest = Math.max(0, ...known.map(Math.abs));
  return scale === "factor" ? factorAxis(largest) : pointsAxis(Math.max(1, largest));
}

function factorAxis(largest: number): Axis {
  const most = FACTORS.find((factor) => Math.log2(factor) >= largest) ?? 64;
  const shown = most > 4 ? FACTORS.filter((factor) => factor >= 2 && factor <= most) : [most];
  const apart = shown.length > 3 ? shown.filter((_, index) => (shown.length - 1 - index) % 2 === 0) : shown;
  const side = apart.map((factor) => ({ at: Math.log2(factor), label: `${factor}×` }));
  const left = side.map(({ at, label }) => ({ at: -at, label })).toReversed();
  return { reach: Math.log2(most), ticks: [...left, { at: 0, label: "same" }, ...side] };
}

function pointsAxis(largest: number): Axis {
  const power = 10 ** Math.floor(Math.log10(largest / 2));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size * 2.999 >= largest) ?? 10 * power;
  const steps = Math.ceil(largest / step);
  const ticks = Array.from({ length: 2 * steps + 1 }, (_, index) => (index - steps) * step);
  return { reach: steps * step, ticks: ticks.map((at) => ({ at, label: at === 0 ? "0" : `${signed(number(at))} pt` })) };
}
