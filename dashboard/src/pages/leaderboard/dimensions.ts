/** The scores of agents as pictures of the dimensions need them. */
import type { LeaderboardEntry } from "../../api/answers";
import { DIMENSIONS } from "../../shared/dimensions";

export const scoreOf = (entry: LeaderboardEntry, name: string): number | null => entry.scores[name]?.score ?? null;

export interface Spot {
  x: number;
  y: number;
}

/** The end of an axis of the radar: the first is at the top, the others follow clockwise. */
export function spotAt(axis: number, distance: number): Spot {
  const angle = (2 * Math.PI * axis) / DIMENSIONS.length - Math.PI / 2;
  return { x: distance * Math.cos(angle), y: distance * Math.sin(angle) };
}

export interface Outline {
  /** The path along all neighbouring axes that are known; it is closed, and filled, where all are. */
  path: string;
  whole: boolean;
  spots: Spot[];
}

/** The outline of one agent on five fixed axes. What is not known is a gap, and never a zero. */
export function outlineOf(scores: readonly (number | null)[], radius: number): Outline {
  const spots = scores.map((score, axis) => (score === null ? null : spotAt(axis, score * radius)));
  const known = spots.filter((spot) => spot !== null);
  const whole = known.length === spots.length;
  const text = ({ x, y }: Spot): string => `${x.toFixed(1)} ${y.toFixed(1)}`;
  if (whole) return { path: `M${known.map(text).join("L")}Z`, whole, spots: known };
  const path = spots
    .map((spot, axis) => {
      const next = spots[(axis + 1) % spots.length];
      return spot && next ? `M${text(spot)}L${text(next)}` : "";
    })
    .join("");
  return { path, whole, spots: known };
}
