import type { ReactElement } from "react";
import type { Answer, Failure } from "../../../api/answers";
import { StatusBadge } from "../../../components";
import { UNKNOWN, asText, count, duration, money, number, percent, points } from "../../../format";
import { useListed } from "../../../hooks/useListed";
import { Link } from "../../../router";
import { Facts } from "../../../shared/Facts";
import type { Fact } from "../../../shared/Facts";
import { TextFold } from "../../../shared/TextFold";
import { agentAddress } from "../../../shared/paths";
import { Waterfall } from "./Waterfall";
import { WorkflowGraph } from "./WorkflowGraph";

function FailureView({ failure }: { failure: Failure }): ReactElement {
  return (
    <div className="error-box">
      <strong>{failure.kind}</strong> <span className="muted">while it was in {failure.where}</span>
      <p>{failure.message}</p>
      {failure.traceback && (
        <details>
          <summary>Traceback</summary>
          <TextFold value={failure.traceback} label="Traceback" most={6000} />
        </details>
      )}
      {failure.output_tail && (
        <details>
          <summary>The end of what it printed</summary>
          <TextFold value={failure.output_tail} label="The end of what it printed" />
        </details>
      )}
    </div>
  );
}

function scoreText(answer: Answer): string {
  const others = Object.entries(answer.scores).filter(([name]) => name !== "score");
  const parts = others.map(([name, value]) => `${name} ${points(value, 0)}`);
  return [points(answer.score, 0), ...(parts.length > 0 ? [`(${parts.join(", ")})`] : [])].join(" ");
}

interface Scored {
  scorer: string;
  weight: number | null;
  values: string;
  explanation: string;
}

function scoredBy(scoring: unknown): Scored[] {
  if (!Array.isArray(scoring)) return [];
  return (scoring as unknown[])
    .filter((item): item is Record<string, unknown> => typeof item === "object" && item !== null)
    .map((item) => {
      const values = typeof item["values"] === "object" && item["values"] !== null ? Object.entries(item["values"]) : [];
      return {
        scorer: asText(item["scorer"]) || "scorer",
        weight: typeof item["weight"] === "number" ? item["weight"] : null,
        values: values.map(([name, value]) => `${name} ${typeof value === "number" ? points(value, 0) : UNKNOWN}`).join(", "),
        explanation: asText(item["explanation"]),
      };
    });
}

function Judged({ answer }: { answer: Answer }): ReactElement | null {
  const scored = scoredBy(answer.scoring);
  if (scored.length === 0) return null;
  return (
    <div>
      <h4>Why this score</h4>
      <ul className="plain-list">
        {scored.map((item, index) => (
          <li key={index}>
            <strong>{item.scorer}</strong>: {item.values}
            {item.weight !== null && item.weight !== 1 && ` (weight ${number(item.weight)})`}
            {item.explanation && <TextFold value={item.explanation} label={`What ${item.scorer} says`} />}
          </li>
        ))}
      </ul>
    </div>
  );
}

function tokensOf(answer: Answer): string | null {
  if (answer.tokens !== null) return count(answer.tokens);
  const { usage } = answer;
  const input = usage["input_tokens"];
  const output = usage["output_tokens"];
  return input === undefined || output === undefined ? null : `${count(input)} in, ${count(output)} out`;
}

function spent(answer: Answer): Fact[] {
  const ttft = answer.readings["ttft_s"];
  return [
    ["Score", scoreText(answer)],
    ["Took", duration(answer.duration_s)],
    ["First token", ttft === undefined ? null : duration(ttft)],
    ["Tokens", tokensOf(answer)],
    ["Cost", answer.cost_usd === null ? null : money(answer.cost_usd)],
    ["Attempts", answer.attempts > 1 ? count(answer.attempts) : null],
  ];
}

/** One execution of a case: what came back, how it was judged, and step by step how it got there. */
export function AnswerCard({ answer }: { answer: Answer }): ReactElement {
  const name = `${answer.agent}, epoch ${answer.iteration + 1}`;
  const [raws, turn] = useListed("raw");
  const raw = raws.has(name);
  return (
    <article className="answer" aria-label={name}>
      <h3>
        <Link to={agentAddress(answer.agent)}>{answer.agent}</Link>
        <span className="muted">epoch {answer.iteration + 1}</span>
        <StatusBadge status={answer.status} />
        {answer.simulated && <span className="badge">simulated</span>}
        {answer.cached && <span className="badge">from the cache, not measured</span>}
        <button type="button" className="quiet" aria-pressed={raw} onClick={() => turn(name, !raw)}>
          {raw ? "Readable" : "Raw JSON"}
        </button>
      </h3>
      {raw ? (
        <TextFold value={JSON.stringify(answer, null, 2)} label={`${name} as JSON`} most={20_000} />
      ) : (
        <>
          <Facts facts={spent(answer)} />
          {answer.failure && <FailureView failure={answer.failure} />}
          <WorkflowGraph events={answer.events} />
          <div className="columns">
            <div>
              <h4>Answer</h4>
              {answer.output === null ? <p className="muted">none</p> : <TextFold value={answer.output} label={`Answer of ${name}`} />}
              {answer.output_cut && <p className="muted">The answer was longer and is cut here.</p>}
            </div>
            <Judged answer={answer} />
          </div>
          <Waterfall answer={answer} />
        </>
      )}
    </article>
  );
}

/** "2 of 3 passed" by agent. */
export function passedText(answers: readonly Answer[]): string {
  const passed = answers.filter((answer) => answer.status === "ok").length;
  return `${passed} of ${answers.length} passed (${percent(answers.length > 0 ? passed / answers.length : null, 0)})`;
}
