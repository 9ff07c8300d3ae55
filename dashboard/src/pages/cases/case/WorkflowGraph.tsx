import type { ReactElement } from "react";
import type { TrajectoryEvent } from "../../../api/answers";
import { duration } from "../../../format";

interface Step {
  key: string;
  name: string;
  command: string;
  state: string;
  at: number;
  took: number | null;
  needs: string[];
  critical: boolean;
  told: string;
}

const ROW = 26;
const LEFT = 150;
const WIDTH = 720;

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function namesOf(value: unknown): string {
  return Array.isArray(value) ? value.map(textOf).join(", ") : "";
}

function stepsOf(events: readonly TrajectoryEvent[]): Step[] {
  return events.flatMap((event) => {
    const details: Record<string, unknown> = event.details;
    if (event.kind !== "step" || typeof details["state"] !== "string") return [];
    const around = textOf(details["parent"]);
    const needs = Array.isArray(details["needs"]) ? details["needs"].map(textOf) : [];
    const told = [
      textOf(event.content),
      details["exit_code"] === undefined ? "" : `exit ${textOf(details["exit_code"])}`,
      namesOf(details["files_read"]) && `read ${namesOf(details["files_read"])}`,
      namesOf(details["files_written"]) && `wrote ${namesOf(details["files_written"])}`,
      textOf(details["why"]),
      textOf(details["output"]),
    ];
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
        told: told.filter((part) => part !== "").join("\n"),
      },
    ];
  });
}

/** The steps of a workflow over time: the longest way is strong, failed steps are red, skipped ones are rings. */
export function WorkflowGraph({ events }: { events: readonly TrajectoryEvent[] }): ReactElement | null {
  const steps = stepsOf(events);
  if (steps.length === 0) return null;
  const first = Math.min(...steps.map((step) => step.at));
  const span = Math.max(...steps.map((step) => step.at + (step.took ?? 0) - first), 1e-6);
  const x = (at: number): number => LEFT + ((at - first) / span) * (WIDTH - LEFT - 12);
  const rows = new Map(steps.map((step, index) => [step.key, { step, y: index * ROW + ROW / 2 }]));
  return (
    <figure className="workflow">
      <svg viewBox={`0 0 ${WIDTH} ${steps.length * ROW + 4}`} role="img" aria-label={`Workflow of ${steps.length} steps, ${duration(span)}`}>
        {[...rows.values()].map(({ step, y }) => (
          <g key={step.key} className={`workflow-step is-${step.state.replace(" ", "-")}${step.critical ? " is-critical" : ""}`}>
            <title>{step.told}</title>
            {step.needs.map((need) => {
              const before = rows.get(need);
              return before === undefined ? null : (
                <line key={need} x1={x(before.step.at + (before.step.took ?? 0))} y1={before.y} x2={x(step.at)} y2={y} />
              );
            })}
            <text x={LEFT - 8} y={y + 4} textAnchor="end">
              {step.name.slice(0, 22)}
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
        {duration(span)} from left to right. The longest way is strong; rings were skipped or not run; red failed.
      </figcaption>
    </figure>
  );
}
