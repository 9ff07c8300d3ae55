import { points, quantity } from "../../format";

/** Whether values of this unit are shares or scores in 0..1, which are shown in points of a hundred. */
export function isScore(unit: string): boolean {
  return unit === "ratio" || unit === "score";
}

/** A value in the unit that the server names. */
export function measured(value: number | null, unit: string): string {
  return isScore(unit) ? points(value) : quantity(value, unit);
}
