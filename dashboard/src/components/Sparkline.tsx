import type { ReactElement } from "react";
import type { History } from "../api/answers";
import { quantity } from "../format";

const WIDTH = 132;
const HEIGHT = 30;
const EDGE = 4;

function describe(history: History): string {
  const last = history.points.at(-1);
  const changes = history.changes.filter((change) => change.comparable).length;
  const turns = changes === 0 ? "no change of level" : `${changes} ${changes === 1 ? "change" : "changes"} of level`;
  return `${history.metric}, ${history.points.length} runs, newest ${quantity(last?.value, history.unit)}, ${turns}`;
}

/** At most 30 points of a history; triangles mark where its level changed (up: for the better, down: for the worse). */
export function Sparkline({ history }: { history: History | null }): ReactElement {
  const shown = history?.points ?? [];
  if (!history || shown.length < 2) return <span className="muted">{shown.length === 1 ? "one run" : "—"}</span>;
  const values = shown.map((point) => point.value);
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const x = (index: number): number => EDGE + (index * (WIDTH - 2 * EDGE)) / (shown.length - 1);
  const y = (value: number): number => HEIGHT - EDGE - ((value - low) * (HEIGHT - 2 * EDGE)) / span;
  const line = shown.map((point, index) => `${x(index).toFixed(1)},${y(point.value).toFixed(1)}`).join(" ");
  const last = shown.length - 1;
  return (
    <svg className="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img" aria-label={describe(history)}>
      <polyline points={line} fill="none" />
      <circle className="newest" cx={x(last)} cy={y(values[last] ?? low)} r="2.5" />
      {history.changes
        .filter((change) => change.index >= 0 && change.index < shown.length)
        .map((change) => {
          const cx = x(change.index);
          const cy = y(values[change.index] ?? low);
          const up = change.better !== false;
          const tone = change.better === null || !change.comparable ? "same" : change.better ? "better" : "worse";
          const tip = up ? cy - 4 : cy + 4;
          const base = up ? cy + 3 : cy - 3;
          return <path key={change.index} className={`mark verdict-${tone}`} d={`M${cx} ${tip}L${cx - 4} ${base}H${cx + 4}Z`} />;
        })}
    </svg>
  );
}
