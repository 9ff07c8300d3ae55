import type { ReactElement } from "react";
import type { ScoreEstimate } from "../api/answers";
import { UNKNOWN, points } from "../format";

/** A score in points of a hundred with its 95 % interval. */
export function ScoreCell({ score }: { score: ScoreEstimate | undefined }): ReactElement {
  if (!score || score.value === null) return <span className="muted">{UNKNOWN}</span>;
  return (
    <span className="score-cell">
      {points(score.value)}
      {score.interval && (
        <span className="interval">
          <span className="visually-hidden"> 95 % interval </span> [{points(score.interval[0], 0)}, {points(score.interval[1], 0)}]
        </span>
      )}
    </span>
  );
}
