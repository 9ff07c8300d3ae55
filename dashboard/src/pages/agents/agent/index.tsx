import type { ReactElement } from "react";
import type { AgentPage, AgentVersion, BaselineItems, Execution, MatrixEntry, SuiteRun } from "../../../api/answers";
import { CommandHint, Empty, Fold, Show, StatusBadge, Table, shellWord } from "../../../components";
import type { Column } from "../../../components";
import { age, count, dateTime, duration, moneySum, points } from "../../../format";
import { useResource } from "../../../hooks/useResource";
import { Link, address } from "../../../router";
import type { PageProps } from "../..";
import { Facts } from "../../../shared/Facts";
import { FormMark } from "../../../shared/FormMark";
import { agentAddress, api, nameOf, runAddress, suiteAddress } from "../../../shared/paths";
import { ScoreCell } from "../../../shared/ScoreCell";
import { DIMENSIONS } from "../../../shared/dimensions";

export const title = (params: Record<string, string>): string => params["agent_id"] ?? "Agent";

const SCORES = [...DIMENSIONS, "overall"] as const;
const heading = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

const BOARD: readonly Column<MatrixEntry>[] = [
  { key: "version", label: "Version", value: (row) => row.version, render: (row) => row.version },
  ...SCORES.map(
    (name): Column<MatrixEntry> => ({
      key: name,
      label: heading(name),
      align: "right",
      first: "descending",
      value: (row) => row.scores[name]?.score,
      render: (row) => <ScoreCell score={{ value: row.scores[name]?.score ?? null, interval: row.scores[name]?.interval ?? null }} />,
    }),
  ),
  { key: "rank", label: "Rank", align: "right", value: (row) => row.scores["overall"]?.rank, render: (row) => count(row.scores["overall"]?.rank) },
  { key: "benchmarks", label: "Benchmarks", align: "right", value: (row) => row.benchmarks_completed, render: (row) => count(row.benchmarks_completed) },
  {
    key: "notes",
    label: "Notes",
    render: (row) =>
      row.missing.length + row.failing.length > 0 && (
        <span>
          {row.missing.length > 0 && <span title={`Unknown: ${row.missing.join(", ")}`}>partial </span>}
          {row.failing.length > 0 && <span className="verdict-worse">last attempt failed: {row.failing.join(", ")}</span>}
        </span>
      ),
  },
];

function suiteColumns(name: string): Column<SuiteRun>[] {
  return [
    { key: "suite", label: "Suite", value: (row) => row.name, render: (row) => <Link to={suiteAddress(row.suite_id)}>{row.name}</Link> },
    { key: "version", label: "By version", render: (row) => row.version },
    { key: "benchmarks", label: "Benchmarks", align: "right", render: (row) => count(row.benchmarks) },
    { key: "last", label: "Last run", first: "descending", value: (row) => row.last_at, render: (row) => <span title={dateTime(row.last_at)}>{age(row.last_at)}</span> },
    {
      key: "open",
      label: "Open",
      render: (row) => (
        <span className="ways">
          <Link to={address("/history", { subject: name, suite: row.suite_id })}>history</Link>
          <Link to={address("/matrix", { suite: row.suite_id })}>matrix</Link>
          {row.simulated && <span className="badge">simulated</span>}
        </span>
      ),
    },
  ];
}

function resultColumns(suites: readonly SuiteRun[]): Column<Execution>[] {
  const names = new Map(suites.map((suite) => [suite.digest, suite.name]));
  const score = (row: Execution, name: (typeof SCORES)[number]): number | null => row[name];
  return [
    {
      key: "benchmark",
      label: "Benchmark",
      value: (row) => row.benchmark,
      render: (row) => (
        <span>
          {row.benchmark} <span className="muted">{names.get(row.suite)}</span>
        </span>
      ),
    },
    { key: "version", label: "Version", value: (row) => row.agent_version, render: (row) => row.agent_version },
    {
      key: "status",
      label: "Ended",
      value: (row) => row.status,
      render: (row) => (
        <span>
          <StatusBadge status={row.status === "success" ? "complete" : row.status} /> <FormMark form={row.form} />
        </span>
      ),
    },
    ...SCORES.map(
      (name): Column<Execution> => ({
        key: name,
        label: heading(name),
        align: "right",
        first: "descending",
        value: (row) => score(row, name),
        render: (row) => points(score(row, name)),
      }),
    ),
    { key: "took", label: "Took", align: "right", value: (row) => row.duration_s, render: (row) => duration(row.duration_s) },
    { key: "spent", label: "Spent", align: "right", value: (row) => row.cost_usd, render: (row) => moneySum(row.cost_usd) },
    {
      key: "run",
      label: "Run",
      first: "descending",
      value: (row) => row.created_at,
      render: (row) =>
        row.run_id ? (
          <Link to={runAddress(row.run_id)} title={dateTime(row.created_at)}>
            {age(row.created_at)}
          </Link>
        ) : (
          age(row.created_at)
        ),
    },
  ];
}

function versionColumns(name: string): Column<AgentVersion>[] {
  return [
    {
      key: "version",
      label: "Version",
      value: (row) => row.version,
      render: (row) => (
        <span>
          <Link to={agentAddress(`${name}@${row.version}`)}>{row.version}</Link>{" "}
          {!row.registered && (
            <span className="badge" title="It has results, and cannot be run from here: another version is registered, or none.">
              not registered
            </span>
          )}
        </span>
      ),
    },
    { key: "uses", label: "Uses", render: (row) => <code>{row.uses}</code> },
    { key: "first", label: "First seen", first: "descending", value: (row) => row.created_at, render: (row) => dateTime(row.created_at) },
    { key: "success", label: "Last success", first: "descending", value: (row) => row.last_success_at, render: (row) => age(row.last_success_at) },
    { key: "attempt", label: "Last attempt", first: "descending", value: (row) => row.last_attempt_at, render: (row) => age(row.last_attempt_at) },
  ];
}

function Baselines({ name, newest }: { name: string; newest: string | undefined }): ReactElement {
  const baselines = useResource<BaselineItems>("/api/baselines");
  return (
    <Show of={baselines}>
      {({ items }) => {
        const own = items.filter((row) => nameOf(row.agent) === name || row.agent === name);
        if (own.length === 0) {
          return (
            <Empty
              title="It has no baseline, so nothing can be worse than it. To hold later versions against one:"
              command={`dyno baseline set ${shellWord(newest === undefined ? name : `${name}@${newest}`)}`}
            />
          );
        }
        return (
          <Facts
            facts={own.map((row) => [
              row.suite_id || "all suites",
              <span key={row.suite_id}>
                version {row.version}, since {dateTime(row.set_at)}
                {row.note && `: ${row.note}`}{" "}
                {row.run_id && <Link to={runAddress(row.run_id)}>its run</Link>}
              </span>,
            ])}
          />
        );
      }}
    </Show>
  );
}

/** Versions in the order in which they came, the newest on top; ranks have their own column. */
function newestFirst(scores: readonly MatrixEntry[], versions: readonly AgentVersion[]): MatrixEntry[] {
  const place = new Map(versions.map((item, index) => [item.version, index]));
  return scores.toSorted((a, b) => (place.get(a.version) ?? versions.length) - (place.get(b.version) ?? versions.length));
}

function Ways({ page }: { page: AgentPage }): ReactElement {
  const { agent, versions } = page;
  const [newest, before] = versions;
  return (
    <nav className="row" aria-label="More about the agent">
      <Link to={address("/history", { subject: agent.name })}>History</Link>
      <Link to={address("/runs", { q: agent.name })}>Its runs</Link>
      <Link to={address("/grid", { agent: agent.name })}>Cases by version</Link>
      <Link to={address("/alerts", { agent: agent.name })}>Regressions</Link>
      {newest && before && (
        <Link to={address("/compare", { agents: `${agent.name}@${before.version},${agent.name}@${newest.version}` })}>
          Compare {before.version} with {newest.version}
        </Link>
      )}
      <Link to={address("/cost", { agents: agent.name })}>Cost</Link>
      {agent.registered && <Link to={address("/start", { agent: agent.name })}>Start a run</Link>}
    </nav>
  );
}

function Body({ page }: { page: AgentPage }): ReactElement {
  const { agent, versions, suites, scores, results } = page;
  const settings = Object.entries(agent.settings);
  const run = `dyno run SUITE --agent ${shellWord(agent.name)}`;
  return (
    <>
      {agent.description && <p>{agent.description}</p>}
      {agent.identity !== "" && !agent.identity.startsWith("name:") && (
        <p className="muted">
          From <code>{agent.identity}</code>
        </p>
      )}
      <p>
        {!agent.registered && <span className="badge">not registered here</span>} {agent.paid === true && <span className="badge">costs money</span>}
      </p>
      <Ways page={page} />
      <h2>Newest scores</h2>
      <Table
        caption="Newest scores over all suites, by version"
        columns={BOARD}
        rows={newestFirst(scores, versions)}
        rowKey={(row) => row.agent}
        sortParam="scores"
        compact={["version", "overall"]}
        empty={<Empty title="It is not on the board yet. To put it there:" command={run} />}
      />
      <h2>Suites it has run</h2>
      <Table
        caption="Suites it has run"
        columns={suiteColumns(agent.name)}
        rows={suites}
        rowKey={(row) => row.suite_id}
        sortParam="suites"
        empty={<p className="muted">None yet.</p>}
      />
      {results.length > 0 && (
        <Fold name="results" open={results.length <= 30} summary={`The newest result of each benchmark (${count(results.length)})`}>
          <Table caption="Newest results" columns={resultColumns(suites)} rows={results} rowKey={(row) => row.uid} sortParam="results" />
        </Fold>
      )}
      <h2>Baseline</h2>
      <Baselines name={agent.name} newest={versions[0]?.version} />
      <h2>Versions</h2>
      <Table
        caption="Versions"
        compact={["version", "success"]}
        columns={versionColumns(agent.name)}
        rows={versions}
        rowKey={(row) => row.uid}
        sortParam="versions"
        empty={<p className="muted">None has been run yet.</p>}
      />
      {settings.length > 0 && (
        <>
          <h2>Settings that a run may change</h2>
          <Facts facts={settings.map(([name, type]) => [name, <code key={name}>{type}</code>])} />
        </>
      )}
    </>
  );
}

export default function Agent({ params }: PageProps): ReactElement {
  const id = params["agent_id"] ?? "";
  const page = useResource<AgentPage>(api("agents", id));
  return (
    <>
      <div className="page-head">
        <h1>{id}</h1>
        <CommandHint command={`dyno history ${shellWord(id)}`} />
      </div>
      <Show of={page}>{(found) => <Body page={found} />}</Show>
    </>
  );
}
