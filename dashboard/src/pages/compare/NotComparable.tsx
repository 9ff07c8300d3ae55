import type { ReactElement } from "react";
import type { ApiError } from "../../api/client";
import { Link, address } from "../../router";
import { nameOf } from "../../shared/paths";
import { asSentence } from "../../shared/words";

interface NotComparableProps {
  error: ApiError;
  agents: readonly string[];
  suite: string;
}

/** Why the server cannot set these agents against each other, what would change that, and where their totals are. */
export function NotComparable({ error, agents, suite }: NotComparableProps): ReactElement {
  const { detail, remedy } = error.problem;
  const names = [...new Set(agents.map(nameOf))];
  return (
    <div className="empty" role="alert">
      <p className="empty-title">These agents cannot be set against each other case by case.</p>
      <p>
        {asSentence(detail)} {remedy}
      </p>
      <p>What has totals alone is here:</p>
      <p className="row">
        {names.map((name) => (
          <Link key={name} to={address("/history", { subject: name, suite })}>
            History of {name}
          </Link>
        ))}
        <Link to={address("/matrix", { suite })}>Matrix</Link>
        <Link to={address("/leaderboard", { suite })}>Leaderboard</Link>
      </p>
    </div>
  );
}
