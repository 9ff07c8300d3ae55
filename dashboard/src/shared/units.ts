import type { PairedRow, Regression } from "../api/answers";
import { number, points, quantity } from "../format";

/** Whether values of this unit are shares or scores in 0..1, which are shown in points of a hundred. */
export function isScore(unit: string): boolean {
  return unit === "ratio" || unit === "score";
}

/** A value in the unit that the server names. */
export function measured(value: number | null, unit: string): string {
  return isScore(unit) ? points(value) : quantity(value, unit);
}

const ENDINGS: readonly (readonly [ending: string, unit: string])[] = [["_s", "s"], ["_usd", "usd"], ["_bytes", "bytes"]];

/** A quantity by the ending of its name: `duration_s` is "duration", in seconds. */
export function quantityName(name: string): string {
  const [ending = ""] = ENDINGS.find(([end]) => name.endsWith(end)) ?? [];
  return name.slice(0, name.length - ending.length).replaceAll("_", " ");
}

/** The value of such a quantity. */
export function valueOf(value: number | null, name: string): string {
  const [, unit = ""] = ENDINGS.find(([end]) => name.endsWith(end)) ?? [];
  return quantity(value, unit);
}

/** So many times what the baseline takes: 1.5 is 1.5×. */
function multiple(value: number | null): string {
  return value === null ? number(value) : `${number(value)}×`;
}

/** One side of a compared row. Efficiency puts several quantities together and is told in multiples of the baseline's. */
export function sideValue(value: number | null, row: Pick<PairedRow, "unit" | "relative">): string {
  return row.relative && isScore(row.unit) ? multiple(value) : measured(value, row.unit);
}

/** A value of a regression: between versions efficiency is a multiple, over time it is a score like the others. */
export function levelOf(value: number | null, regression: Pick<Regression, "detector" | "metric" | "unit">): string {
  const { detector, metric, unit } = regression;
  const used = detector === "version" && metric === "efficiency" && isScore(unit);
  return used ? multiple(value) : measured(value, unit);
}
