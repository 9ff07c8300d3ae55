import type { ReactElement } from "react";
import type { Duel } from "../../api/answers";
import { Sign } from "../../components";
import { Link, address, useQueryParam } from "../../router";
import { Dumbbell } from "./Dumbbell";
import { Flips } from "./Flips";
import { RowsTable } from "./RowsTable";
import { agentsOf } from "./sides";
import { Warnings } from "../../shared/Warnings";
import { nameOf } from "../../shared/paths";
import { asSentence } from "../../shared/words";

function Winners({ duel }: { duel: Duel }): ReactElement | null {
  const named = Object.entries(duel.category_winners);
  if (named.length === 0) return null;
  return (
    <p className="muted">
      Better accuracy by category:{" "}
      {named.map(([category, winner]) => `${category}: ${winner ?? "neither"}`).join(" · ")}
    </p>
  );
}

/** Who wins and why, the effects as a picture and as a table, and every case that flipped. */
export function HeadToHeadComparison({ duel, suite }: { duel: Duel; suite: string }): ReactElement {
  const [unfolded, unfold] = useQueryParam("benchmarks");
  const state = duel.winner === null ? "inconclusive" : duel.winner === duel.candidate ? "better" : "worse";
  const agents = agentsOf(duel);
  const name = nameOf(agents[1]);
  return (
    <>
      <div className="columns">
        <section className={`panel compare-verdict compare-${state}`} aria-label="Verdict">
          <p className={`compare-headline verdict-${state}`}>
            <Sign verdict={state} /> {duel.winner === null ? "No winner" : `${duel.winner} wins`}
          </p>
          <p>{asSentence(duel.why)}</p>
          <p className="muted">
            Baseline {duel.baseline}, candidate {duel.candidate}, on {duel.suite}; paired by case
            {duel.paired ? "." : ", from separate runs, not interleaved."}
          </p>
          <Winners duel={duel} />
          {duel.recommendations.length > 0 && (
            <ul>
              {duel.recommendations.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          )}
          <Warnings warnings={duel.warnings} />
        </section>
        <Dumbbell duel={duel} />
      </div>
      <RowsTable caption="The five dimensions and overall" rows={duel.rows} sortParam="sort" />
      {duel.benchmark_rows.length > 0 && (
        <details
          className="compare-folded"
          open={unfolded === "open"}
          onToggle={(event) => unfold(event.currentTarget.open ? "open" : "")}
        >
          <summary>Per benchmark ({duel.benchmark_rows.length} rows)</summary>
          <RowsTable caption="Per benchmark" rows={duel.benchmark_rows} sortParam="benchmarks_sort" perBenchmark />
        </details>
      )}
      <Flips duel={duel} />
      <p className="row">
        <Link to={address("/history", { subject: name, suite })}>History of {name}</Link>
        <Link to={address("/cost", { suite, agents: [...new Set(agents)].join(",") })}>{agents[0] === agents[1] ? "What it costs" : "What the two cost"}</Link>
      </p>
    </>
  );
}
