import { useMemo, useState } from "react";
import type { CSSProperties, ReactElement } from "react";
import type { Answer } from "../../../api/answers";
import { Fold } from "../../../components";
import { asText, count, duration, money, plural } from "../../../format";
import { useListed } from "../../../hooks/useListed";
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

interface Shown {
  whole: number;
  agent: string;
  /** The steps that are open, by answer and number, and a way to say that one was opened or closed. */
  opened: ReadonlySet<string>;
  turn: (key: string, open: boolean) => void;
  /** In front of the number of a step: one page has several answers. */
  prefix: string;
  /** How many steps are above it. */
  depth: number;
}

function Row({ step, ...shown }: Shown & { step: Step }): ReactElement {
  const { whole, agent, opened, turn, prefix, depth } = shown;
  const key = `${prefix}${step.number}`;
  const { event } = step;
  const label = `Step ${step.number} of ${agent}`;
  const details = Object.fromEntries(Object.entries(event.details).filter(([name]) => name !== "result"));
  return (
    <li>
      <details className="step" open={opened.has(key)} onToggle={(event) => turn(key, event.currentTarget.open)}>
        <summary style={{ "--depth": depth } as CSSProperties}>
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
        {step.below.length > 0 && <Rows steps={step.below} {...shown} depth={depth + 1} />}
      </details>
    </li>
  );
}

function Rows({ steps, ...shown }: Shown & { steps: readonly Step[] }): ReactElement {
  const [wanted, setShown] = useState(SHOWN);
  const most = useExporting() ? steps.length : wanted;
  return (
    <>
      <ol className="steps">
        {steps.slice(0, most).map((step) => (
          <Row key={step.number} step={step} {...shown} />
        ))}
      </ol>
      {steps.length > most && (
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
  const [opened, turn] = useListed("steps");
  if (steps.length === 0) return null;
  const place = `${answer.agent} ${answer.iteration + 1}`;
  const whole = wholeTime(steps, answer.duration_s ?? 0);
  return (
    <Fold className="waterfall" name={`steps-${place}`} open summary={`${plural(countOf(steps), "step")}, ${duration(whole)} from left to right`}>
      <Rows steps={steps} whole={whole} agent={answer.agent} opened={opened} turn={turn} prefix={`${place} `} depth={0} />
    </Fold>
  );
}
