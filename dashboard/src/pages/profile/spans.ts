/** Where the spans of one execution stand: by line (waterfall) or by depth (flame view). */
import type { ProfiledSpan, SpanTree } from "../../api/answers";

export const PHASES: readonly (readonly [phase: string, words: string])[] = [
  ["model", "model"],
  ["tool", "tools"],
  ["retrieval", "retrieval"],
  ["own_code", "own code"],
  ["queue", "queue"],
  ["retry_wait", "wait before a retry"],
  ["idle", "idle"],
];

export type View = "waterfall" | "flame";

/** A span as it is drawn: percentages of the width, and its line from the top. */
export interface Bar {
  span: ProfiledSpan;
  left: number;
  width: number;
  line: number;
}

/** So many spans are drawn at most: the longest ones. */
export const MOST_DRAWN = 400;

export function phaseWords(phase: string): string {
  return PHASES.find(([name]) => name === phase)?.[1] ?? phase;
}

export function bars(tree: SpanTree, view: View): Bar[] {
  const whole = tree.wall_s;
  const longest = tree.spans.toSorted((a, b) => b.end_s - b.start_s - (a.end_s - a.start_s)).slice(0, MOST_DRAWN);
  const kept = new Set(longest.map((span) => span.index));
  return tree.spans
    .filter((span) => kept.has(span.index))
    .map((span, line) => ({
      span,
      left: whole > 0 ? (100 * span.start_s) / whole : 0,
      width: whole > 0 ? Math.max(0.15, (100 * (span.end_s - span.start_s)) / whole) : 0,
      line: view === "flame" ? span.depth : line,
    }));
}

export function lines(drawn: readonly Bar[]): number {
  return drawn.reduce((most, bar) => Math.max(most, bar.line + 1), 0);
}
