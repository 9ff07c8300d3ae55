import type { ReactElement } from "react";
import type { AgentRow, RunEstimate } from "../../api/answers";
import { moneySum } from "../../format";
import type { Typed } from "./request";

interface CostQuestionProps {
  agent: AgentRow;
  typed: Typed;
  estimate: RunEstimate | undefined;
  agreed: boolean;
  onAgree: (agreed: boolean) => void;
}

/** Commands that spend ask first, and so does the form. */
export function CostQuestion({ agent, typed, estimate, agreed, onAgree }: CostQuestionProps): ReactElement {
  const most = Number(typed.maxCost);
  const expected = estimate?.usd ?? null;
  return (
    <fieldset>
      <legend>{agent.name} costs money</legend>
      <p>
        {expected === null ? "What this run will cost is not known." : `This run is expected to cost ${moneySum(expected)}.`}
      </p>
      <label className="row">
        <input type="checkbox" checked={agreed} onChange={(event) => onAgree(event.target.checked)} />
        <span>{most > 0 ? `Spend at most ${moneySum(most)}` : "Spend what it costs: no limit is set"}</span>
      </label>
    </fieldset>
  );
}
