import type { ReactElement } from "react";
import type { BenchmarkRow, Matrix, MatrixEntry, SuitePage } from "../../../api/answers";
import { CommandHint, Empty, Fold, Show, Table, shellWord } from "../../../components";
import type { Column } from "../../../components";
import { age, count, dateTime, money, plural } from "../../../format";
import { useResource } from "../../../hooks/useResource";
import { Link, address } from "../../../router";
import type { PageProps } from "../..";
import { Facts } from "../../../shared/Facts";
import { agentAddress, api } from "../../../shared/paths";
import { quantityName, valueOf } from "../../../shared/units";
import { ScoreCell } from "../../../shared/ScoreCell";

export const title = (params: Record<string, string>): string => params["suite_id"] ?? "Suite";

const BENCHMARKS: readonly Column<BenchmarkRow>[] = [
  {
    key: "name",
    label: "Benchmark",
    value: (row) => row.name,
    render: (row) => (
      <span>
        {row.name} {row.benchmark_id !== row.name && <span className="muted">{row.benchmark_id}</span>}
      </span>
    ),
  },
  { key: "description", label: "What it asks", render: (row) => row.description || <span className="muted">—</span> },
  { key: "category", label: "Category", value: (row) => row.category, render: (row) => row.category },
  { key: "type", label: "Type", value: (row) => row.test_type, render: (row) => row.test_type.replaceAll("_", " ") },
  { key: "complexity", label: "Complexity", value: (row) => row.complexity, render: (row) => row.complexity },
  { key: "cases", label: "Cases", align: "right", value: (row) => row.cases, render: (row) => count(row.cases) },
];

/** What one case may use, in words; empty where nothing is limited. */
function limitsOf(limits: SuitePage["constraints"]): string {
  const told = [
    limits.time_limit_ms != null && `${count(limits.time_limit_ms)} ms`,
    limits.memory_limit_mb != null && `${count(limits.memory_limit_mb)} MiB`,
    limits.token_limit != null && `${count(limits.token_limit)} tokens`,
    limits.cost_limit_usd != null && money(limits.cost_limit_usd),
  ];
  return told.filter(Boolean).join(", ");
}

/** "duration 500 ms to 10 s": the values at which a quantity scores 1 and 0. */
function boundsOf(rubric: BenchmarkRow["scoring_rubric"]): string {
  const names = Object.keys({ ...rubric.targets, ...rubric.limits });
  return names.map((name) => `${quantityName(name)} ${valueOf(rubric.targets?.[name] ?? null, name)} to ${valueOf(rubric.limits?.[name] ?? null, name)}`).join(", ");
}

const RULES: readonly Column<BenchmarkRow>[] = [
  { key: "name", label: "Benchmark", value: (row) => row.name, render: (row) => row.name },
  { key: "scorer", label: "Judged by", render: (row) => (row.scoring_rubric.scorers ?? []).map((item) => item.name).join(", ") },
  { key: "pass", label: "Passes from", align: "right", render: (row) => String(row.scoring_rubric.pass_threshold) },
  { key: "bounds", label: "Full score to none", render: (row) => boundsOf(row.scoring_rubric) || <span className="muted">from the baseline agent</span> },
  { key: "scored", label: "Scored in", render: (row) => row.dimensions.join(", ") },
  { key: "limits", label: "A case may use", render: (row) => limitsOf(row.constraints) || <span className="muted">no limit</span> },
];

function agentColumns(suiteId: string, benchmarks: number): Column<MatrixEntry>[] {
  return [
    { key: "agent", label: "Agent", value: (row) => row.agent, render: (row) => <Link to={agentAddress(row.agent)}>{row.agent}</Link> },
    {
      key: "overall",
      label: "Overall",
      align: "right",
      first: "descending",
      value: (row) => row.scores["overall"]?.score,
      render: (row) => {
        const overall = row.scores["overall"];
        return <ScoreCell score={overall && { value: overall.score, interval: overall.interval }} />;
      },
    },
    { key: "rank", label: "Rank", align: "right", value: (row) => row.scores["overall"]?.rank, render: (row) => count(row.scores["overall"]?.rank) },
    {
      key: "benchmarks",
      label: "Benchmarks done",
      align: "right",
      value: (row) => row.benchmarks_completed,
      render: (row) => `${count(row.benchmarks_completed)} of ${count(benchmarks)}`,
    },
    {
      key: "last",
      label: "Last success",
      first: "descending",
      value: (row) => row.last_success_at,
      render: (row) => <span title={dateTime(row.last_success_at)}>{age(row.last_success_at)}</span>,
    },
    {
      key: "open",
      label: "Open",
      render: (row) => <Link to={address("/history", { subject: row.name, suite: suiteId })}>history</Link>,
    },
  ];
}

function WhoRanIt({ suiteId, registered }: { suiteId: string; registered: boolean }): ReactElement {
  const matrix = useResource<Matrix>(address("/api/matrix", { suite_id: suiteId }));
  return (
    <Show of={matrix}>
      {(found) => (
        <Table
          caption="Agents that have run the suite"
          compact={["agent", "overall"]}
          columns={agentColumns(suiteId, found.benchmarks)}
          rows={found.entries}
          rowKey={(row) => row.agent}
          sortParam="agents"
          empty={
            <Empty
              title="No agent has completed it yet."
              command={`dyno run ${registered ? shellWord(suiteId) : "SUITE"} --agent AGENT`}
            />
          }
        />
      )}
    </Show>
  );
}

function Body({ page }: { page: SuitePage }): ReactElement {
  const { suite, benchmarks, versions } = page;
  return (
    <>
      {suite.description && <p>{suite.description}</p>}
      <Facts
        facts={[
          ["Id", <code key="id">{suite.suite_id}</code>],
          ["Version", suite.version],
          ["Content", <code key="digest">{suite.digest}</code>],
          ["Category", suite.category],
          ["Asks", `${plural(suite.cases, "case")} in ${plural(suite.benchmarks, "benchmark")}`],
          ["Registered here", suite.registered ? "yes" : "no: it can be looked at and not run"],
        ]}
      />
      <nav className="row" aria-label="More about the suite">
        <Link to={address("/matrix", { suite: suite.suite_id })}>Matrix: agents × dimensions</Link>
        <Link to={address("/cost", { suite: suite.suite_id })}>Cost</Link>
        {suite.registered && <Link to={address("/start", { suite: suite.suite_id })}>Start a run</Link>}
      </nav>
      <h2>Benchmarks</h2>
      <Table caption="Benchmarks" columns={BENCHMARKS} rows={benchmarks} rowKey={(row) => row.benchmark_id} />
      <h2>How it is judged</h2>
      <Table caption="Rules of judging" columns={RULES} rows={benchmarks} rowKey={(row) => row.benchmark_id} sortParam="rules" />
      {page.baseline_scores.length > 0 && (
        <p>
          Baseline scores of the suite:{" "}
          {page.baseline_scores
            .map((item) => `${item.agent_id} (${Object.entries(item.scores ?? {}).map(([name, value]) => `${name} ${value}`).join(", ")})`)
            .join("; ")}
        </p>
      )}
      <h2>Who has run it</h2>
      {versions.length > 0 ? (
        <WhoRanIt suiteId={suite.suite_id} registered={suite.registered} />
      ) : (
        <Empty title="Nobody has run it yet." command="dyno run SUITE --agent AGENT" />
      )}
      {versions.length > 1 && (
        <Fold name="versions" summary={`Versions that have been run (${versions.length})`}>
          <Facts
            facts={versions.map((version) => [
              dateTime(version.created_at),
              <Link key={version.digest} to={`/suites/${encodeURIComponent(version.digest)}`}>
                {version.version || "no version declared"} <code>{version.digest}</code>
              </Link>,
            ])}
          />
        </Fold>
      )}
    </>
  );
}

export default function Suite({ params }: PageProps): ReactElement {
  const id = params["suite_id"] ?? "";
  const page = useResource<SuitePage>(api("suites", id));
  return (
    <>
      <div className="page-head">
        <h1>{page.data?.suite.name ?? id}</h1>
        <CommandHint command={`dyno board --matrix --suite ${shellWord(id)}`} />
      </div>
      <Show of={page}>{(found) => <Body page={found} />}</Show>
    </>
  );
}
