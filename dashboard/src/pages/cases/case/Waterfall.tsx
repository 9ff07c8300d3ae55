import { useMemo, useState } from "react";
import type { ReactElement } from "react";
import type { Answer } from "../../../api/answers";
import { asText, count, duration, money, plural } from "../../../format";
import { useExporting } from "../../../shared/exporting";
import { TextFold } from "../../../shared/TextFold";
import { countOf, stepsOf, wholeTime } from "./waterfall";
import type { Step } from "./waterfall";

const KINDS: Record<string, string> = {
  message: "message",
  tool_call: "calls",
  tool_result: "result of",
  model_call: "asks the model",
  retry: "tries again",
  note: "note",
};
/** Steps that are drawn at first; the others follow when somebody asks for them. */
const SHOWN = 200;

function Bar({ step, whole }: { step: Step; whole: number }): ReactElement {
  const left = whole > 0 ? Math.min(99.5, (100 * step.at) / whole) : 0;
  const width = whole > 0 ? Math.min(100 - left, Math.max(0.5, (100 * (step.took ?? 0)) / whole)) : 0;
  return (
    <span className="step-lane" aria-hidden="true">
      <span className={`step-bar step-${step.event.kind}${step.failed ? " step-failed" : ""}`} style={{ left: `${left}%`, width: `${width}%` }} />
    </span>
  );
}

function Row({ step, whole, agent }: { step: Step; whole: number; agent: string }): ReactElement {
  const { event } = step;
  const label = `Step ${step.number} of ${agent}`;
  const details = Object.fromEntries(Object.entries(event.details).filter(([name]) => name !== "result"));
  return (
    <li>
      <details className="step">
        <summary>
          <span className="step-name">
            {KINDS[event.kind] ?? event.kind} <strong>{event.name}</strong>
            {step.failed && <span className="verdict-worse"> failed</span>}
            {step.below.length > 0 && <span className="muted"> ({step.below.length} below)</span>}
          </span>
          <Bar step={step} whole={whole} />
          <span className="step-figures">
            {step.took === null ? `at ${duration(step.at)}` : duration(step.took)}
            {step.tokens !== null && `, ${count(step.tokens)} tokens`}
            {step.cost !== null && `, ${money(step.cost)}`}
          </span>
        </summary>
        {asText(event.content) !== "" && <TextFold value={event.content} label={label} most={600} />}
        {step.result !== undefined && (
          <>
            <p className="muted step-result">gave back</p>
            <TextFold value={step.result} label={`${label}, result`} most={600} />
          </>
        )}
        {Object.keys(details).length > 0 && (
          <details>
            <summary>Details</summary>
            <TextFold value={details} label={`${label}, details`} />
          </details>
        )}
        {step.below.length > 0 && <Rows steps={step.below} whole={whole} agent={agent} />}
      </details>
    </li>
  );
}

function Rows({ steps, whole, agent }: { steps: readonly Step[]; whole: number; agent: string }): ReactElement {
  const [wanted, setShown] = useState(SHOWN);
  const shown = useExporting() ? steps.length : wanted;
  return (
    <>
      <ol className="steps">
        {steps.slice(0, shown).map((step) => (
          <Row key={step.number} step={step} whole={whole} agent={agent} />
        ))}
      </ol>
      {steps.length > shown && (
        <button type="button" className="quiet" onClick={() => setShown(wanted * 5)}>
          Show more of {plural(steps.length, "step")}
        </button>
      )}
    </>
  );
}

/** The steps of an answer over time. A step opens on what went in and came out; its own spans are below it. */
export function Waterfall({ answer }: { answer: Answer }): ReactElement | null {
  const steps = useMemo(() => stepsOf(answer.events), [answer.events]);
  if (steps.length === 0) return null;
  const whole = wholeTime(steps, answer.duration_s ?? 0);
  return (
    <details className="waterfall" open>
      <summary>
        {plural(countOf(steps), "step")}, {duration(whole)} from left to right
      </summary>
      <Rows steps={steps} whole={whole} agent={answer.agent} />
    </details>
  );
}
