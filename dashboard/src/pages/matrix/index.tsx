import type { ReactElement } from "react";
import type { Matrix, MatrixEntry, RankedScore, SuiteItems } from "../../api/answers";
import { CommandHint, Empty, Filters, Select, Show, Table, shellWord } from "../../components";
import type { Column } from "../../components";
import { UNKNOWN, age, dateTime, percent, points } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, address, useQueryParam } from "../../router";
import { BoardScope, OfCases, suiteOptions } from "../../shared/BoardScope";
import { DIMENSIONS } from "../../shared/dimensions";
import "./page.css";

export const title = "Matrix";

const CATEGORIES = [["", "all categories"], "speed", "accuracy", "cost", "reliability", "scalability", "comprehensive"] as const;

function Cell({ score }: { score: RankedScore | undefined }): ReactElement {
  if (!score || score.score === null) return <span className="muted">{UNKNOWN}</span>;
  const level = Math.min(4, Math.max(0, Math.floor(score.score * 5)));
  const ranks = score.rank_interval;
  return (
    <span className={`matrix-cell matrix-${level}`}>
      <strong>{points(score.score)}</strong>
      {score.rank !== null && (
        <span className="matrix-rank" title={ranks ? `Rank, 95 % interval ${ranks[0]} to ${ranks[1]}` : "Rank"}>
          #{score.rank}
        </span>
      )}
      {score.interval && (
        <span className="interval">
          [{points(score.interval[0])}, {points(score.interval[1])}]
        </span>
      )}
    </span>
  );
}

function columnsOf(matrix: Matrix): Column<MatrixEntry>[] {
  return [
    {
      key: "agent",
      label: "Agent",
      value: (entry) => entry.agent,
      render: (entry) => (
        <div>
          <Link to={`/agents/${encodeURIComponent(entry.name)}`}>{entry.name}</Link> <span className="muted">{entry.version}</span>
        </div>
      ),
    },
    ...["overall", ...DIMENSIONS].map(
      (name): Column<MatrixEntry> => ({
        key: name,
        label: name[0]?.toUpperCase() + name.slice(1),
        title: name in matrix.weights ? `Counts ${percent(matrix.weights[name], 0)} of overall` : undefined,
        first: "descending",
        value: (entry) => entry.scores[name]?.score,
        render: (entry) => (
          <>
            <Cell score={entry.scores[name]} />
            {name === "accuracy" && entry.scores[name]?.score != null && <OfCases entry={entry} />}
          </>
        ),
      }),
    ),
    {
      key: "benchmarks",
      label: "Benchmarks",
      first: "descending",
      value: (entry) => entry.benchmarks_completed,
      render: (entry) => (
        <div>
          {entry.benchmarks_completed} of {matrix.benchmarks}
          {entry.missing.length > 0 && <div className="matrix-note">partial: without {entry.missing.join(", ")}</div>}
          {entry.failing.length > 0 && <div className="matrix-note verdict-worse">▼ last attempt failed: {entry.failing.join(", ")}</div>}
        </div>
      ),
    },
    {
      key: "last",
      label: "Last success",
      first: "descending",
      value: (entry) => entry.last_success_at,
      render: (entry) => <span title={dateTime(entry.last_success_at)}>{age(entry.last_success_at)}</span>,
    },
  ];
}

export default function MatrixPage(): ReactElement {
  const [suite, setSuite] = useQueryParam("suite");
  const [category, setCategory] = useQueryParam("category");
  const matrix = useResource<Matrix>(address("/api/matrix", { suite_id: suite, category }));
  const suites = useResource<SuiteItems>("/api/suites");
  const options = [category && `--category ${shellWord(category)}`, suite && `--suite ${shellWord(suite)}`];
  return (
    <>
      <div className="page-head">
        <h1>Matrix</h1>
        <CommandHint command={["dyno board --matrix", ...options.filter(Boolean)].join(" ")} />
      </div>
      <p className="muted">Every agent in every dimension, from its last success in each benchmark; points of a hundred.</p>
      <Filters label="Choose suite and category">
        <Select label="Suite" value={suite} options={suiteOptions(suites.data)} onChange={setSuite} />
        <Select label="Category" value={category} options={CATEGORIES} onChange={setCategory} />
      </Filters>
      <Show of={matrix}>
        {(data) => (
          <>
          <Table
            caption="Every agent in every dimension"
            compact={["agent", "overall"]}
            columns={columnsOf(data)}
            rows={data.entries}
            rowKey={(entry) => entry.agent}
            empty={<Empty title={suite || category ? "No agent has completed a benchmark of this choice." : "What each agent scores in each dimension is shown here. To measure the first one:"} command="dyno init && dyno run suites/first.yaml" />}
          />
          <BoardScope scope={data.scope} />
          </>
        )}
      </Show>
    </>
  );
}
