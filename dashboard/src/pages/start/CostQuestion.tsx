import type { ReactElement } from "react";
import type { AgentRow, CostReport, SuiteRow } from "../../api/answers";
import { count, money, plural } from "../../format";
import { useResource } from "../../hooks/useResource";
import { address } from "../../router";
import type { Typed } from "./request";

interface CostQuestionProps {
  agent: AgentRow;
  suite: SuiteRow;
  typed: Typed;
  agreed: boolean;
  onAgree: (agreed: boolean) => void;
}

/** What one execution of the agent has cost in this suite, US dollars; null where nothing tells. */
function useKnownPrice(agent: AgentRow, suite: SuiteRow): number | null {
  const asked = agent.last_success_at === null ? null : address("/api/cost", { suite_id: suite.suite_id, agent_ids: agent.name });
  const report = useResource<CostReport>(asked);
  return report.data?.rows[0]?.cost_per_task_usd ?? null;
}

function amountText(suite: SuiteRow, typed: Typed, price: number | null): string {
  const cases = typed.quick ? null : Math.min(Number(typed.limit) || Infinity, suite.cases);
  const epochs = Number(typed.epochs) || null;
  const asks = cases === null ? "the suite's quick cases" : plural(cases, "case");
  const times = epochs === null ? "as often as the suite says" : epochs === 1 ? "once" : `${count(epochs)} times`;
  const known = price === null ? "What one answer costs is not known yet." : `One answer has cost ${money(price)} so far.`;
  const whole = price !== null && cases !== null && epochs !== null ? ` That makes about ${money(price * cases * epochs)}.` : "";
  return `It is asked ${asks}, ${times}. ${known}${whole}`;
}

/** Commands that spend ask first, and so does the form. */
export function CostQuestion({ agent, suite, typed, agreed, onAgree }: CostQuestionProps): ReactElement {
  const price = useKnownPrice(agent, suite);
  const most = Number(typed.maxCost);
  return (
    <fieldset>
      <legend>{agent.name} costs money</legend>
      <p>{amountText(suite, typed, price)}</p>
      <label className="row">
        <input type="checkbox" checked={agreed} onChange={(event) => onAgree(event.target.checked)} />
        <span>{most > 0 ? `Spend at most ${money(most)}` : "Spend what it costs: no limit is set"}</span>
      </label>
    </fieldset>
  );
}
