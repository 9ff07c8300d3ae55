import type { ReactElement } from "react";
import { ApiError } from "../../api/client";
import { CommandHint, Empty, Show, shellWord } from "../../components";
import { Link, address, useRoute } from "../../router";
import { ExportButton } from "../../shared/ExportButton";
import { runAddress, shortId } from "../../shared/paths";
import { Choices } from "./Choices";
import { HeadToHeadComparison } from "./HeadToHead";
import { NotComparable } from "./NotComparable";
import { Pairs } from "./Pairs";
import { RunPairs } from "./RunPairs";
import "./page.css";
import { useComparison } from "./useComparison";

export const title = "Compare";

/** Values of a list with commas, each once. */
function listed(text: string | null): string[] {
  const given = (text ?? "").split(",").map((name) => name.trim());
  return [...new Set(given.filter(Boolean))];
}

function ComparedRuns({ runs }: { runs: readonly string[] }): ReactElement {
  return (
    <>
      <div className="page-head">
        <h1>{runs.length > 2 ? `${runs.length} runs, each against the first` : "Two runs"}</h1>
        <CommandHint command={`dyno compare ${runs.slice(0, 2).map(shortId).join(" ")}`} />
      </div>
      <p className="row">
        {runs.map((run, index) => (
          <span key={run}>
            <span className="muted">{index === 0 ? "baseline" : "against"}</span> <Link to={runAddress(run)}>{shortId(run)}</Link>
          </span>
        ))}
        {runs.length === 2 && (
          <Link to={address("/compare", { runs: runs.toReversed().join(",") })}>Swap</Link>
        )}
      </p>
      <RunPairs runs={runs} />
    </>
  );
}

export default function Page(): ReactElement {
  const { query } = useRoute();
  const runs = listed(query.get("runs"));
  return runs.length > 1 ? <ComparedRuns runs={runs} /> : <ComparedAgents query={query} />;
}

function ComparedAgents({ query }: { query: URLSearchParams }): ReactElement {
  const agents = listed(query.get("agents"));
  const suite = query.get("suite") ?? "";
  const answer = useComparison(agents, suite);
  const names = agents.length > 0 ? agents.map(shellWord).join(" ") : "AGENT AGENT";
  return (
    <>
      <div className="page-head">
        <h1>{agents.length > 2 ? "All against all" : "Head to head"}</h1>
        <CommandHint command={`dyno compare ${names}${suite ? ` --suite ${shellWord(suite)}` : ""}`} />
      </div>
      <Choices agents={agents} suite={suite} />
      {agents.length > 1 && <ExportButton name={`compare-${agents.join("-")}`} />}
      {agents.length < 2 ? (
        <Empty
          title={
            agents.length === 0 ? "Choose two agents or more; the first is the baseline." : "Choose one more agent."
          }
        >
          <p>Agents that have run the same suite compare: run it for each of them with</p>
          <CommandHint command="dyno run SUITE --agent AGENT" />
        </Empty>
      ) : answer.error instanceof ApiError && answer.error.status === 409 ? (
        <NotComparable error={answer.error} agents={agents} suite={suite} />
      ) : (
        <Show of={answer}>
          {({ duel, tournament }) =>
            duel ? (
              <HeadToHeadComparison duel={duel} suite={suite} />
            ) : tournament ? (
              <Pairs found={tournament} suite={suite} />
            ) : (
              <Empty
                title="There is nothing to compare."
                command={`dyno run SUITE --agent ${shellWord(agents[0] ?? "AGENT")}`}
              />
            )
          }
        </Show>
      )}
    </>
  );
}
