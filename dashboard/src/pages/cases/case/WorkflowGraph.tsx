import type { ReactElement } from "react";
import type { TrajectoryEvent } from "../../../api/answers";
import { count, duration, plural } from "../../../format";
import { Facts } from "../../../shared/Facts";
import { TextFold } from "../../../shared/TextFold";
import { ticksOf } from "./ticks";

interface Step {
  key: string;
  name: string;
  command: string;
  state: string;
  at: number;
  took: number | null;
  needs: string[];
  critical: boolean;
  /** "0", or "" where it did not run. */
  exit: string;
  read: string[];
  written: string[];
  why: string;
  output: string;
}

const ROW = 26;
const LEFT = 150;
const WIDTH = 720;

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

function stepsOf(events: readonly TrajectoryEvent[]): Step[] {
  return events.flatMap((event) => {
    const details: Record<string, unknown> = event.details;
    if (event.kind !== "step" || typeof details["state"] !== "string") return [];
    const around = textOf(details["parent"]);
    const needs = Array.isArray(details["needs"]) ? details["needs"].map(textOf) : [];
    return [
      {
        key: `${around}/${event.name}`,
        name: event.name,
        command: textOf(event.content),
        state: details["state"],
        at: event.at_s,
        took: event.duration_s,
        needs: needs.map((need) => `${around}/${need}`),
        critical: details["critical"] === true,
        exit: textOf(details["exit_code"]),
        read: namesOf(details["files_read"]),
        written: namesOf(details["files_written"]),
        why: textOf(details["why"]),
        output: textOf(details["output"]),
      },
    ];
  });
}

function Axis({ span, x, y }: { span: number; x: (at: number) => number; y: number }): ReactElement {
  return (
    <g className="workflow-axis">
      {ticksOf(span).map((at) => (
        <g key={at}>
          <line x1={x(at)} y1={0} x2={x(at)} y2={y} />
          <text x={x(at)} y={y + 18} textAnchor="middle">
            {duration(at)}
          </text>
        </g>
      ))}
    </g>
  );
}

/** One step: what was run, what it printed, and which files it touched. */
function StepDetails({ step }: { step: Step }): ReactElement {
  const files = (names: readonly string[]): string | null => (names.length > 0 ? `${names.join(", ")}` : null);
  return (
    <details className="workflow-detail">
      <summary>
        <strong>{step.name}</strong>{" "}
        <span className={step.state === "failed" ? "verdict-worse" : "muted"}>
          {step.state.replaceAll("_", " ")}
          {step.took !== null && `, ${duration(step.took)}`}
          {step.exit !== "" && `, exit ${step.exit}`}
          {step.written.length > 0 && `, wrote ${plural(step.written.length, "file")}`}
        </span>
      </summary>
      <TextFold value={step.command} label={`Command of ${step.name}`} />
      {step.output && <TextFold value={step.output} label={`Output of ${step.name}`} />}
      <Facts
        facts={[
          ["Why", step.why || null],
          ["After", step.needs.map((need) => need.slice(need.lastIndexOf("/") + 1)).join(", ") || null],
          [`Read (${count(step.read.length)})`, files(step.read)],
          [`Wrote (${count(step.written.length)})`, files(step.written)],
          ["Printed", step.output ? null : "nothing"],
        ]}
      />
    </details>
  );
}

/** The steps of a workflow over time: the longest way is strong, failed steps are red, skipped ones are rings. */
export function WorkflowGraph({ events }: { events: readonly TrajectoryEvent[] }): ReactElement | null {
  const steps = stepsOf(events);
  if (steps.length === 0) return null;
  const first = Math.min(...steps.map((step) => step.at));
  const span = Math.max(...steps.map((step) => step.at + (step.took ?? 0) - first), 1e-6);
  const x = (at: number): number => LEFT + ((at - first) / span) * (WIDTH - LEFT - 12);
  const height = steps.length * ROW + 4;
  const rows = new Map(steps.map((step, index) => [step.key, { step, y: index * ROW + ROW / 2 }]));
  return (
    <figure className="workflow">
      <svg viewBox={`0 0 ${WIDTH} ${height + 24}`} role="img" aria-label={`Workflow of ${steps.length} steps, ${duration(span)}`}>
        <Axis span={span} x={(at) => x(first + at)} y={height} />
        {[...rows.values()].map(({ step, y }) => (
          <g key={step.key} className={`workflow-step is-${step.state.replace(" ", "-")}${step.critical ? " is-critical" : ""}`}>
            <title>{step.command}</title>
            {step.needs.map((need) => {
              const before = rows.get(need);
              return before === undefined ? null : (
                <line key={need} x1={x(before.step.at + (before.step.took ?? 0))} y1={before.y} x2={x(step.at)} y2={y} />
              );
            })}
            <text x={LEFT - 8} y={y + 4} textAnchor="end">
              {step.name.length > 14 ? `${step.name.slice(0, 13)}…` : step.name}
            </text>
            {step.took === null ? (
              <circle cx={x(step.at)} cy={y} r={4} />
            ) : (
              <rect x={x(step.at)} y={y - 8} width={Math.max(2, x(step.at + step.took) - x(step.at))} height={16} rx={2} />
            )}
          </g>
        ))}
      </svg>
      <figcaption className="muted">
        Time from left to right, {duration(span)} in all. The steps that decided how long it took are strong; rings were
        skipped or not run; red ones failed.
      </figcaption>
      {steps.map((step) => (
        <StepDetails key={step.key} step={step} />
      ))}
    </figure>
  );
}
