import type { ReactElement } from "react";
import type { AllAgainstAll, CaseScores, Duel } from "../../api/answers";
import { Sign, Table } from "../../components";
import type { Column } from "../../components";
import { points } from "../../format";
import { Link, address } from "../../router";
import { AgentLabel } from "../../shared/AgentLabel";
import { divergenceAddress } from "../../shared/place";
import { Warnings } from "../../shared/Warnings";
import { asSentence } from "../../shared/words";
import { placeOf } from "./sides";

function duelOf(found: AllAgainstAll, one: string, other: string): Duel | undefined {
  return found.duels.find(
    ({ baseline, candidate }) => (baseline === one && candidate === other) || (baseline === other && candidate === one),
  );
}

function Cell({
  found,
  row,
  column,
  suite,
}: {
  found: AllAgainstAll;
  row: string;
  column: string;
  suite: string;
}): ReactElement {
  const duel = duelOf(found, row, column);
  if (row === column || !duel) return <span className="muted">·</span>;
  const state = duel.winner === row ? "better" : duel.winner === column ? "worse" : "inconclusive";
  const word = { better: "wins", worse: "loses", inconclusive: "undecided" }[state];
  return (
    <Link
      to={address("/compare", { agents: `${column},${row}`, suite })}
      className={`verdict-${state}`}
      title={duel.why}
    >
      <Sign verdict={state} /> {word}
      <span className="visually-hidden">
        : {row} against {column}
      </span>
    </Link>
  );
}

function PairTable({ found, suite }: { found: AllAgainstAll; suite: string }): ReactElement {
  const columns: Column<string>[] = [
    { key: "agent", label: "Agent", render: (agent) => <strong>{agent}</strong> },
    {
      key: "wins",
      label: "Wins",
      align: "right",
      value: (agent) => found.wins[agent],
      first: "descending",
      render: (agent) => found.wins[agent] ?? 0,
    },
    ...found.agents.map((other) => ({
      key: `against ${other}`,
      label: `against ${other}`,
      heading: (
        <>
          against <AgentLabel label={other} />
        </>
      ),
      render: (agent: string) => <Cell found={found} row={agent} column={other} suite={suite} />,
    })),
  ];
  return (
    <Table
      caption="Every pair: the row against the column"
      columns={columns}
      rows={found.agents}
      rowKey={(agent) => agent}
    />
  );
}

/** Leads to the best and the worst answer side by side. */
function CaseLink({ found, item }: { found: AllAgainstAll; item: CaseScores }): ReactElement {
  const scored = found.agents
    .filter((agent) => typeof item.scores[agent] === "number")
    .toSorted((a, b) => (item.scores[b] ?? 0) - (item.scores[a] ?? 0));
  const [best = ""] = scored;
  const duel = duelOf(found, best, scored.at(-1) ?? "");
  const place = duel && placeOf(duel, item.key, [item.key]);
  if (!place?.first_run || !place.second_run) return <>{item.key.case_id}</>;
  return <Link to={divergenceAddress(place)}>{item.key.case_id}</Link>;
}

function Disagreements({ found }: { found: AllAgainstAll }): ReactElement | null {
  const cases = found.cases.filter((item) => item.disagree);
  if (cases.length === 0) return null;
  const columns: Column<CaseScores>[] = [
    {
      key: "case",
      label: "Case",
      value: (item) => item.key.case_id,
      render: (item) => <CaseLink found={found} item={item} />,
    },
    { key: "benchmark", label: "Benchmark", value: (item) => item.key.benchmark, render: (item) => item.key.benchmark },
    ...found.agents.map((agent) => ({
      key: `score ${agent}`,
      label: agent,
      heading: <AgentLabel label={agent} />,
      align: "right" as const,
      value: (item: CaseScores) => item.scores[agent],
      render: (item: CaseScores) => points(item.scores[agent] ?? null),
    })),
  ];
  return (
    <>
      <h2>Cases on which they disagree ({cases.length})</h2>
      <Table
        caption="Score of each agent, in points of a hundred"
        columns={columns}
        rows={cases.slice(0, 200)}
        rowKey={(item) => `${item.key.benchmark}/${item.key.case_id}`}
        sortParam="cases_sort"
      />
      {cases.length > 200 && <p className="muted">The first 200 are shown. A pair shows all of its own.</p>}
    </>
  );
}

/** Three or more agents: every pair, each with a way to its head to head. */
export function Pairs({ found, suite }: { found: AllAgainstAll; suite: string }): ReactElement {
  return (
    <>
      <section className="panel" aria-label="Verdict">
        <p className={`compare-headline verdict-${found.winner === null ? "inconclusive" : "better"}`}>
          {found.winner === null ? "No winner" : `${found.winner} wins`}
        </p>
        <p>{asSentence(found.why)}</p>
        <Warnings warnings={found.warnings} />
      </section>
      <PairTable found={found} suite={suite} />
      <Disagreements found={found} />
    </>
  );
}
