import type { ReactElement } from "react";
import type { LeaderboardEntry } from "../../api/answers";
import { points } from "../../format";
import { DIMENSIONS } from "../../shared/dimensions";
import { scoreOf } from "./dimensions";

const WIDTH = 360;
const LEFT = 4;
const RIGHT = 304;
const ROW = 40;
const at = (score: number): number => LEFT + score * (RIGHT - LEFT);

function Bar({ entry, name, index }: { entry: LeaderboardEntry; name: string; index: number }): ReactElement {
  const score = scoreOf(entry, name);
  const range = entry.scores[name]?.interval;
  const y = index * ROW;
  return (
    <g>
      <text className="leaderboard-bar-name" x={LEFT} y={y + 13}>
        {entry.agent}
      </text>
      <rect className="leaderboard-track" x={LEFT} y={y + 19} width={RIGHT - LEFT} height={12} rx={2} />
      {score !== null && (
        <rect className={`leaderboard-series-${(index % 7) + 1}`} x={LEFT} y={y + 19} width={Math.max(1, at(score) - LEFT)} height={12} rx={2} />
      )}
      {range && <path className="leaderboard-whisker" d={`M${at(range[0])} ${y + 20}v10M${at(range[0])} ${y + 25}H${at(range[1])}M${at(range[1])} ${y + 20}v10`} />}
      <text className="leaderboard-bar-value" x={WIDTH - 2} y={y + 29} textAnchor="end">
        {points(score)}
      </text>
    </g>
  );
}

/** Each dimension of the chosen agents as bars to 100, with 95 % intervals as whiskers; no bar is not known. */
export function DimensionBars({ entries }: { entries: readonly LeaderboardEntry[] }): ReactElement {
  return (
    <section className="chart" aria-labelledby="leaderboard-bars">
      <p className="chart-title" id="leaderboard-bars">
        Dimensions with 95 % intervals
      </p>
      <div className="leaderboard-bars">
        {["overall", ...DIMENSIONS].map((name) => (
          <figure key={name} className="leaderboard-bar">
            <figcaption>{name}</figcaption>
            <svg
              viewBox={`0 0 ${WIDTH} ${entries.length * ROW}`}
              role="img"
              aria-label={`${name}: ${entries.map((entry) => `${entry.agent} ${points(scoreOf(entry, name))}`).join(", ")}`}
            >
              {entries.map((entry, index) => (
                <Bar key={entry.agent} entry={entry} name={name} index={index} />
              ))}
            </svg>
          </figure>
        ))}
      </div>
    </section>
  );
}
