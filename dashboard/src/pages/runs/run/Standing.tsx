import type { ReactElement } from "react";
import type { AgentStanding, ArmStanding, HeadToHead, ScorerTrouble, SuiteStanding } from "../../../api/answers";
import { Delta, Fold, Table, VerdictBadge } from "../../../components";
import type { Column } from "../../../components";
import { count, duration, money, moneyColumn, moneySum, number, percent, plural, points } from "../../../format";
import { Link, address } from "../../../router";
import { AgentLabel } from "../../../shared/AgentLabel";
import { agentAddress, casesAddress } from "../../../shared/paths";
import { ScoreCell } from "../../../shared/ScoreCell";
import { DIMENSIONS } from "../../../shared/dimensions";

const SCORES = [...DIMENSIONS, "overall"] as const;

function scoreColumns<R extends { scores: AgentStanding["scores"] }>(): Column<R>[] {
  return SCORES.map((name) => ({
    key: name,
    label: name === "overall" ? "Overall" : `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    align: "right",
    first: "descending",
    title: "Points of a hundred, with the 95 % interval",
    value: (row) => row.scores[name]?.value,
    render: (row) => <ScoreCell score={row.scores[name]} />,
  }));
}

function cost(row: AgentStanding): string {
  if (row.cost_usd !== null) return moneySum(row.cost_usd);
  return row.known_cost_usd ? `≥ ${moneySum(row.known_cost_usd)}` : money(null);
}

/** One column for each scorer, where there are several; the primary one is named. */
function scorerColumns(agents: readonly AgentStanding[]): Column<AgentStanding>[] {
  const names = [...new Set(agents.flatMap((agent) => (agent.by_scorer ?? []).map((item) => item.scorer)))];
  if (names.length < 2) return [];
  const said = (row: AgentStanding, name: string) => row.by_scorer?.find((item) => item.scorer === name);
  return names.map((name) => {
    const primary = agents.some((agent) => said(agent, name)?.primary);
    return {
      key: `scorer-${name}`,
      label: primary ? `${name} (primary)` : name,
      title: `What the scorer ${name} says, in points of 100`,
      align: "right" as const,
      first: "descending" as const,
      value: (row: AgentStanding) => said(row, name)?.value ?? null,
      render: (row: AgentStanding) => <span className="score-cell">{points(said(row, name)?.value ?? null, 0)}</span>,
    };
  });
}

function agentColumns(runId: string, agents: readonly AgentStanding[]): Column<AgentStanding>[] {
  const perSuccess = moneyColumn(agents.map((agent) => agent.cost_per_success_usd), "success");
  return [
    {
      key: "agent",
      label: "Agent",
      value: (row) => row.agent,
      render: (row) => (
        <span>
          <Link to={agentAddress(row.agent)}>
            <AgentLabel label={row.agent} />
          </Link>{" "}
          {row.simulated && <span className="badge">simulated</span>}{" "}
          {row.missing.length > 0 && (
            <span className="badge" title={`Unknown: ${row.missing.join(", ")}`}>
              {DIMENSIONS.length - row.missing.length} of {DIMENSIONS.length} dimensions
            </span>
          )}
        </span>
      ),
    },
    ...scoreColumns<AgentStanding>(),
    ...scorerColumns(agents),
    {
      key: "passed",
      label: "Passed",
      align: "right",
      first: "descending",
      value: (row) => (row.samples > 0 ? row.passed / row.samples : null),
      render: (row) => (
        <Link className="score-cell" to={casesAddress(runId, { agent: row.agent })}>
          {count(row.passed)} of {count(row.samples)}
        </Link>
      ),
    },
    {
      key: "scored",
      label: "Scored",
      title: "Cases with a score, which the accuracy is of; errors and answers without a verdict have none",
      align: "right",
      render: (row) => <span className="score-cell">{`${count(row.scored)} of ${count(row.cases)}`}</span>,
    },
    {
      key: "median",
      label: "Median",
      align: "right",
      value: (row) => row.duration_s,
      render: (row) => <span className="score-cell">{duration(row.duration_s)}</span>,
    },
    {
      key: "p95",
      label: "p95",
      align: "right",
      value: (row) => row.duration_p95_s,
      render: (row) => <span className="score-cell">{duration(row.duration_p95_s)}</span>,
    },
    { key: "ttft", label: "First token", align: "right", value: (row) => row.ttft_s, render: (row) => duration(row.ttft_s) },
    { key: "tokens", label: "Tokens", align: "right", value: (row) => row.total_tokens, render: (row) => count(row.total_tokens) },
    { key: "spent", label: "Spent", title: "≥ where the price of some answers is not known", align: "right", value: (row) => row.cost_usd, render: cost },
    {
      key: "per-success",
      label: `$ ${perSuccess.per}`,
      align: "right",
      value: (row) => row.cost_per_success_usd,
      render: (row) => perSuccess.text(row.cost_per_success_usd),
    },
  ];
}

function armColumns(runId: string): Column<ArmStanding>[] {
  return [
    { key: "benchmark", label: "Benchmark", value: (row) => row.benchmark, render: (row) => row.benchmark },
    { key: "agent", label: "Agent", value: (row) => row.agent, render: (row) => row.agent },
    ...scoreColumns<ArmStanding>(),
    {
      key: "passed",
      label: "Passed",
      align: "right",
      first: "descending",
      value: (row) => (row.samples > 0 ? row.passed / row.samples : null),
      render: (row) => (
        <Link to={casesAddress(runId, { agent: row.agent, benchmark: row.benchmark, status: "all" })}>
          {count(row.passed)} of {count(row.samples)}
        </Link>
      ),
    },
  ];
}

function Duel({ duel, suiteId }: { duel: HeadToHead; suiteId: string | undefined }): ReactElement {
  return (
    <div className="panel">
      <p>
        <VerdictBadge verdict={duel.verdict} />{" "}
        <strong>
          {duel.baseline} → {duel.candidate}
        </strong>
        : accuracy {points(duel.baseline_mean, 0)} → {points(duel.candidate_mean, 0)} on{" "}
        {duel.unpaired > 0 ? `${count(duel.cases)} of ` : ""}
        {plural(duel.cases + duel.unpaired, "case")},{" "}
        <Delta change={duel.difference} interval={duel.interval} relative={false} verdict={duel.verdict} />
        {duel.p_value !== null && `; p = ${number(duel.p_value, 2)}, ${duel.method}`}.
      </p>
      <p className="muted">
        {plural(duel.fixed.length, "case")} fixed, {duel.broken.length} broken, {duel.both_right} right in both, {duel.both_wrong}{" "}
        wrong in both
        {duel.unpaired > 0 && `, ${duel.unpaired} without a score on a side`}.
        {duel.detectable !== null && ` This many cases show a difference from ${percent(duel.detectable, 0)} on, 8 times in 10.`}
      </p>
      <Link to={address("/compare", { agents: `${duel.baseline},${duel.candidate}`, suite: suiteId })}>
        Compare them in every metric
      </Link>
    </div>
  );
}

/** Without the columns that say nothing of any agent here: a run without tokens needs no column of them. */
function telling(columns: Column<AgentStanding>[], rows: readonly AgentStanding[]): Column<AgentStanding>[] {
  const may = new Set<string>([...DIMENSIONS, "ttft", "tokens", "spent", "per-success"]);
  const says = (column: Column<AgentStanding>, row: AgentStanding): boolean =>
    (column.value?.(row) ?? null) !== null || (column.key === "spent" && (row.known_cost_usd ?? 0) > 0);
  return columns.filter((column) => !may.has(column.key) || rows.some((row) => says(column, row)));
}

const TROUBLES: Column<ScorerTrouble>[] = [
  { key: "scorer", label: "Scorer", value: (row) => row.scorer, render: (row) => row.scorer },
  { key: "agent", label: "Agent", value: (row) => row.agent, render: (row) => row.agent },
  { key: "benchmark", label: "Benchmark", value: (row) => row.benchmark, render: (row) => row.benchmark },
  {
    key: "raised",
    label: "Raised",
    title: "Answers on which the scorer raised: each has 0 from it and is failed",
    align: "right",
    value: (row) => row.raised,
    render: (row) => `${count(row.raised)} of ${count(row.answers)}`,
  },
  {
    key: "unscored",
    label: "No verdict",
    title: "Answers about which the scorer said nothing",
    align: "right",
    value: (row) => row.unscored,
    render: (row) => `${count(row.unscored)} of ${count(row.answers)}`,
  },
  { key: "why", label: "Why", render: (row) => row.why },
];

/** Where the agents of a suite's run stand. */
export function Standing({ standing, suiteId }: { standing: SuiteStanding; suiteId: string | undefined }): ReactElement {
  return (
    <section aria-labelledby="standing" className="standing">
      <h2 id="standing">Where the agents stand</h2>
      <Table
        caption="Agents by overall score"
        columns={telling(agentColumns(standing.run_id, standing.agents), standing.agents)}
        rows={standing.agents}
        rowKey={(row) => row.agent}
        compact={["agent", "overall"]}
      />
      {standing.scorers.length > 0 && (
        <Table
          caption="Scorers that could not judge"
          columns={TROUBLES}
          rows={standing.scorers}
          rowKey={(row) => `${row.benchmark} ${row.agent} ${row.scorer}`}
          sortParam="scorers"
        />
      )}
      {standing.head_to_head && <Duel duel={standing.head_to_head} suiteId={suiteId} />}
      <Fold name="benchmarks" summary={`By benchmark (${standing.benchmarks.length})`}>
        <Table
          caption="Agents in each benchmark"
          columns={armColumns(standing.run_id)}
          rows={standing.arms}
          rowKey={(row) => row.arm_id}
          sortParam="arms"
        />
      </Fold>
    </section>
  );
}
