import type { ReactElement } from "react";
import type { LeaderboardEntry } from "../../api/answers";
import { points } from "../../format";
import { DIMENSIONS } from "../../shared/dimensions";
import { outlineOf, scoreOf, spotAt } from "./dimensions";

const RADIUS = 130;
const RINGS = [0.25, 0.5, 0.75, 1];

function ring(share: number): string {
  const spots = DIMENSIONS.map((_, axis) => spotAt(axis, share * RADIUS));
  return spots.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
}

function Axis({ name, index }: { name: string; index: number }): ReactElement {
  const end = spotAt(index, RADIUS);
  const label = spotAt(index, RADIUS + 16);
  const anchor = Math.abs(label.x) < 5 ? "middle" : label.x > 0 ? "start" : "end";
  return (
    <>
      <line className="leaderboard-grid" x1={0} y1={0} x2={end.x} y2={end.y} />
      <text className="leaderboard-axis" x={label.x} y={label.y + 4} textAnchor={anchor}>
        {name}
      </text>
    </>
  );
}

function Shape({ entry, index }: { entry: LeaderboardEntry; index: number }): ReactElement {
  const { path, whole, spots } = outlineOf(DIMENSIONS.map((name) => scoreOf(entry, name)), RADIUS);
  return (
    <g className={`leaderboard-shape leaderboard-series-${(index % 7) + 1} leaderboard-line-${index % 3}`}>
      <title>{`${entry.agent}: ${DIMENSIONS.map((name) => `${name} ${points(scoreOf(entry, name))}`).join(", ")}`}</title>
      <path className={whole ? "leaderboard-filled" : "leaderboard-open"} d={path} />
      {spots.map(({ x, y }) => (
        <circle key={`${x} ${y}`} cx={x} cy={y} r={3.5} />
      ))}
    </g>
  );
}

/** The chosen agents on the five dimensions, always all five: one that is not known of an agent is a gap in its line. */
export function PerformanceRadarChart({ entries }: { entries: readonly LeaderboardEntry[] }): ReactElement {
  const gaps = entries.flatMap((entry) => {
    const missing = DIMENSIONS.filter((name) => scoreOf(entry, name) === null);
    return missing.length > 0 ? [`${entry.agent} has no ${missing.join(", ")}`] : [];
  });
  const described = entries.map(
    (entry) => `${entry.agent}: ${DIMENSIONS.map((name) => `${name} ${points(scoreOf(entry, name))}`).join(", ")}`,
  );
  return (
    <figure className="chart leaderboard-radar" aria-labelledby="leaderboard-radar">
      <figcaption>
        <span className="chart-title" id="leaderboard-radar">
          Radar of the chosen agents
        </span>
      </figcaption>
      <svg viewBox="-240 -165 480 320" role="img" aria-label={`Radar of the chosen agents. ${described.join(". ")}`}>
        {RINGS.map((share) => (
          <polygon key={share} className="leaderboard-grid" points={ring(share)} />
        ))}
        {DIMENSIONS.map((name, index) => (
          <Axis key={name} name={name} index={index} />
        ))}
        {entries.map((entry, index) => (
          <Shape key={entry.agent} entry={entry} index={index} />
        ))}
      </svg>
      <ul className="leaderboard-legend">
        {entries.map((entry, index) => (
          <li key={entry.agent}>
            <svg viewBox="0 0 24 10" width={24} height={10} aria-hidden="true">
              <g className={`leaderboard-shape leaderboard-series-${(index % 7) + 1} leaderboard-line-${index % 3}`}>
                <path className="leaderboard-open" d="M0 5H24" />
              </g>
            </svg>{" "}
            {entry.agent}
          </li>
        ))}
      </ul>
      {gaps.length > 0 && <p className="muted">A gap is not known: {gaps.join("; ")}.</p>}
    </figure>
  );
}
