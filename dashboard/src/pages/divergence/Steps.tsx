import { useEffect, useMemo, useRef } from "react";
import type { ReactElement } from "react";
import type { Divergence, TrajectoryEvent } from "../../api/answers";
import { asText, duration, plural } from "../../format";
import { align } from "./align";
import type { AlignedStep } from "./align";

const KINDS: Record<string, string> = {
  message: "message",
  tool_call: "tool call",
  tool_result: "tool result",
  model_call: "model call",
  retry: "retry",
  note: "note",
};

function Step({
  event,
  agent,
  index,
}: {
  event: TrajectoryEvent | null;
  agent: string;
  index: number | null;
}): ReactElement {
  if (event === null) {
    return (
      <div className="divergence-cell divergence-none">
        <span className="visually-hidden">{agent}: </span>
        <span className="muted">no such step</span>
      </div>
    );
  }
  const text = asText(event.content);
  return (
    <div className="divergence-cell">
      <p className="divergence-step-head">
        <span className="divergence-agent">{agent} · </span>
        <span className="muted">{(index ?? 0) + 1}.</span> <strong>{KINDS[event.kind] ?? event.kind}</strong>
        {event.name && <> {event.name}</>}
        <span className="muted">
          {" "}
          at {duration(event.at_s)}
          {event.duration_s !== null && `, took ${duration(event.duration_s)}`}
        </span>
      </p>
      {text && <pre tabIndex={text.length > 600 ? 0 : undefined}>{text}</pre>}
    </div>
  );
}

function Line({ step, answers }: { step: AlignedStep; answers: Divergence }): ReactElement {
  const here = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (step.divergence) here.current?.scrollIntoView({ block: "center" });
  }, [step]);
  const state = step.divergence ? "divergence-first" : step.same ? "divergence-same" : "divergence-differs";
  return (
    <li ref={here} className={`divergence-line ${state}`} id={step.divergence ? "first-divergence" : undefined}>
      {step.divergence && <p className="divergence-mark">▼ First divergence</p>}
      {!step.divergence && !step.same && <span className="visually-hidden">differs</span>}
      <Step event={step.first} agent={answers.first.agent} index={step.firstIndex} />
      <Step event={step.second} agent={answers.second.agent} index={step.secondIndex} />
    </li>
  );
}

/** Both trajectories, step beside step. The first divergence is scrolled to. */
export function Steps({ answers }: { answers: Divergence }): ReactElement {
  const { first, second, divergence } = answers;
  const steps = useMemo(() => align(first.events, second.events, divergence), [first, second, divergence]);
  if (steps.length === 0)
    return <p className="muted">Neither answer has a recorded trajectory: only the outputs can be compared.</p>;
  return (
    <>
      <p>
        {divergence === null
          ? `The trajectories are alike in all ${plural(steps.length, "step")}.`
          : `Alike in the first ${plural(divergence, "step")}; they part at step ${divergence + 1}.`}
      </p>
      <ol className="divergence-lines">
        {steps.map((step, index) => (
          <Line key={index} step={step} answers={answers} />
        ))}
      </ol>
    </>
  );
}
