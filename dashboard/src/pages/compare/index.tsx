import type { ReactElement } from "react";
import { ApiError } from "../../api/client";
import { CommandHint, Empty, Show, shellWord } from "../../components";
import { useRoute } from "../../router";
import { ExportButton } from "../../shared/ExportButton";
import { Choices } from "./Choices";
import { HeadToHeadComparison } from "./HeadToHead";
import { NotComparable } from "./NotComparable";
import { Pairs } from "./Pairs";
import "./page.css";
import { useComparison } from "./useComparison";

export const title = "Compare";

export default function Page(): ReactElement {
  const { query } = useRoute();
  const given = (query.get("agents") ?? "").split(",").map((name) => name.trim());
  const agents = [...new Set(given.filter(Boolean))];
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
