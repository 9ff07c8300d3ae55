import type { ReactElement } from "react";
import type { Leaderboard, LeaderboardEntry, RankedScore } from "../../api/answers";
import { Table } from "../../components";
import type { Column } from "../../components";
import { UNKNOWN, age, count, dateTime, moneyColumn, points, signed } from "../../format";
import { Link, address } from "../../router";
import { OfCases } from "../../shared/BoardScope";
import { DIMENSIONS } from "../../shared/dimensions";

const TOP = 3;
/** In place of a category: every one that has results, ranks within it. */
export const EACH = "each";

function Score({ score }: { score: RankedScore | undefined }): ReactElement {
  if (!score || score.score === null) return <span className="muted">{UNKNOWN}</span>;
  return (
    <span>
      {points(score.score)}
      {score.interval && (
        <span className="interval leaderboard-interval">
          [{points(score.interval[0])}, {points(score.interval[1])}]
        </span>
      )}
    </span>
  );
}

function Rank({ score }: { score: RankedScore | undefined }): ReactElement {
  const rank = score?.rank ?? null;
  if (rank === null) return <span className="muted">{UNKNOWN}</span>;
  const range = score?.rank_interval;
  return (
    <span className="leaderboard-rank">
      <span className={rank <= TOP ? `leaderboard-top leaderboard-top-${rank}` : undefined}>{rank}</span>
      {range && range[0] !== range[1] && (
        <span className="interval" title="95 % interval of the rank">
          {range[0]}–{range[1]}
        </span>
      )}
    </span>
  );
}

function Trend({ change }: { change: number | null | undefined }): ReactElement {
  if (change === null || change === undefined) return <span className="muted">new</span>;
  const tone = change > 0 ? "better" : change < 0 ? "worse" : "same";
  const sign = change > 0 ? "▲" : change < 0 ? "▼" : "=";
  return (
    <span className={`delta verdict-${tone}`}>
      <span aria-hidden="true">{sign}</span> {signed(points(change))}
    </span>
  );
}

/** The category of an entry, where the board has the agents of each category one after the other. */
const CATEGORY: Column<LeaderboardEntry> = {
  key: "category",
  label: "Category",
  value: (entry) => entry.category,
  render: (entry) => entry.category,
};

function columnsOf(board: Leaderboard, chosen: readonly string[], onToggle: (agent: string) => void): Column<LeaderboardEntry>[] {
  const ordered = board.metric === "all" ? "overall" : board.metric;
  const spent = moneyColumn(board.entries.map((entry) => entry.cost_per_task_usd));
  const scores = ["overall", ...DIMENSIONS].map(
    (name): Column<LeaderboardEntry> => ({
      key: name,
      label: name[0]?.toUpperCase() + name.slice(1),
      align: "right",
      first: "descending",
      value: (entry) => entry.scores[name]?.score,
      render: (entry) => (
        <span>
          <Score score={entry.scores[name]} />
          {name === "accuracy" && entry.scores[name]?.score != null && <OfCases entry={entry} />}
          {name === "speed" && board.scope.recorded.includes(entry.agent) && <span title="Its model calls were recorded, which takes time"> ‡</span>}
          {name === "overall" && entry.missing.length > 0 && (
            <span className="leaderboard-partial" title={`Without ${entry.missing.join(", ")}`}>
              {" "}
              partial
            </span>
          )}
        </span>
      ),
    }),
  );
  const shown: Column<LeaderboardEntry> = {
    key: "radar",
    label: "Show",
    render: (entry) => (
      <input
        type="checkbox"
        aria-label={`Show ${entry.agent} in the pictures`}
        checked={chosen.includes(entry.agent)}
        onChange={() => onToggle(entry.agent)}
      />
    ),
  };
  return [
    ...(board.category === EACH ? [CATEGORY] : []),
    { key: "rank", label: "Rank", value: (entry) => entry.scores[ordered]?.rank, render: (entry) => <Rank score={entry.scores[ordered]} /> },
    {
      key: "agent",
      label: "Agent",
      value: (entry) => entry.agent,
      render: (entry) => (
        <div className="leaderboard-agent">
          <Link to={`/agents/${encodeURIComponent(entry.name)}`}>{entry.name}</Link> <span className="muted">{entry.version}</span>
        </div>
      ),
    },
    ...scores,
    {
      key: "trend",
      label: "Trend",
      align: "right",
      first: "descending",
      value: (entry) => entry.trend[ordered],
      render: (entry) => (
        <Link to={address("/history", { subject: entry.name, metric: ordered })} className="leaderboard-trend">
          <Trend change={entry.trend[ordered]} />
        </Link>
      ),
    },
    {
      key: "benchmarks",
      label: "Benchmarks",
      align: "right",
      first: "descending",
      value: (entry) => entry.benchmarks_completed,
      render: (entry) => (
        <span title={`${count(entry.executions)} successes in ${count(entry.attempts)} executions${entry.not_whole > 0 ? `, ${count(entry.not_whole)} not of whole runs` : ""}`}>{count(entry.benchmarks_completed)}{entry.not_whole > 0 && " †"}</span>
      ),
    },
    {
      key: "spent",
      label: `$ ${spent.per}`,
      title: "What cases cost, each asked once",
      align: "right",
      value: (entry) => entry.cost_per_task_usd,
      render: (entry) => spent.text(entry.cost_per_task_usd),
    },
    {
      key: "last",
      label: "Last",
      first: "descending",
      value: (entry) => entry.last_benchmark_at,
      render: (entry) => (
        <span title={dateTime(entry.last_benchmark_at)} className="leaderboard-last">
          {age(entry.last_benchmark_at)}
        </span>
      ),
    },
    ...(board.category === EACH ? [] : [shown]),
  ];
}

interface LeaderboardTableProps {
  board: Leaderboard;
  /** Labels of the agents in the pictures. */
  chosen: readonly string[];
  onToggle: (agent: string) => void;
}

export function LeaderboardTable({ board, chosen, onToggle }: LeaderboardTableProps): ReactElement {
  const ordered = board.metric === "all" ? "overall" : board.metric;
  return (
    <div className="leaderboard-table">
    <Table
      caption={`Agents by ${ordered}, ${board.category}, last ${board.days} days`}
      columns={columnsOf(board, chosen, onToggle)}
      rows={board.entries}
      rowKey={(entry) => `${entry.category} ${entry.agent}`}
      compact={["agent", ordered]}
      rowClass={(entry) => ((entry.scores[ordered]?.rank ?? TOP + 1) <= TOP ? "leaderboard-podium" : undefined)}
    />
    </div>
  );
}
