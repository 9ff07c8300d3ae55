import type { ReactElement } from "react";
import type { RunPage, RunPlace } from "../../api/answers";
import { ApiError } from "../../api/client";
import { useChanges } from "../../changes";
import { CommandHint, Empty, Show, VerdictBadge, shellWord } from "../../components";
import { useResource } from "../../hooks/useResource";
import { Link, address, useRoute } from "../../router";
import { ExportButton } from "../../shared/ExportButton";
import { FormMark } from "../../shared/FormMark";
import { api, runAddress, shortId } from "../../shared/paths";
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

/** A run by its name, with a mark where it was not a whole one: what it is held against may then be another set of cases. */
function RunSide({ run }: { run: string }): ReactElement {
  const found = useResource<RunPage>(api("runs", run));
  const place = useResource<RunPlace>(api("runs", run, "place"));
  const name = found.data?.run.name;
  return (
    <>
      <Link to={runAddress(run)}>{name ? `${name} ${shortId(run)}` : shortId(run)}</Link> <FormMark form={place.data?.form ?? ""} />
    </>
  );
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
            <span className="muted">{index === 0 ? "baseline" : "against"}</span> <RunSide run={run} />
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

const SUGGESTED = 6;

/** Pairs that are worth a look: agents that are held against a baseline, the worst first. */
function Suggested({ agents }: { agents: readonly string[] }): ReactElement | null {
  const { data } = useChanges();
  const rows = (data?.rows ?? []).filter((row) => row.baseline !== "" && row.baseline !== row.agent && agents.every((agent) => [row.baseline, row.agent].includes(agent)));
  if (rows.length === 0) return null;
  return (
    <ul className="compare-suggested" aria-label="Agents with a baseline">
      {rows.slice(0, SUGGESTED).map((row) => (
        <li key={`${row.agent} ${row.suite_id}`} data-row tabIndex={-1}>
          <VerdictBadge verdict={row.verdict} />{" "}
          <Link to={address("/compare", { agents: `${row.baseline},${row.agent}`, suite: row.suite_id })}>
            {row.baseline} against {row.agent}
          </Link>{" "}
          <span className="muted">on {row.suite_name || row.suite_id}</span>
        </li>
      ))}
    </ul>
  );
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
          <Suggested agents={agents} />
          <p>Agents can be compared where they have run the same suite. To run one for another agent:</p>
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
