/** Steps of a trajectory as a tree in time: what was called with what came back, and spans below their parents. */
import type { TrajectoryEvent } from "../../../api/answers";

export interface Step {
  event: TrajectoryEvent;
  /** Of the trajectory, from 1 on. */
  number: number;
  at: number;
  took: number | null;
  tokens: number | null;
  cost: number | null;
  /** What a call gave back; undefined where nothing is known of it. */
  result: unknown;
  failed: boolean;
  below: Step[];
}

function numberOf(fields: Record<string, unknown>, ...names: string[]): number | null {
  const found = names.map((name) => fields[name]).filter((value) => typeof value === "number" && Number.isFinite(value)) as number[];
  return found.length > 0 ? found.reduce((sum, value) => sum + value, 0) : null;
}

function usageOf(event: TrajectoryEvent): Record<string, unknown> {
  const details: Record<string, unknown> = event.details;
  const usage = details["usage"];
  return typeof usage === "object" && usage !== null ? { ...details, ...usage } : details;
}

function stepOf(event: TrajectoryEvent, number: number): Step {
  const details: Record<string, unknown> = event.details;
  const usage = usageOf(event);
  return {
    event,
    number,
    at: event.at_s,
    took: event.duration_s,
    tokens: numberOf(usage, "input_tokens", "output_tokens") ?? numberOf(usage, "total_tokens"),
    cost: numberOf(usage, "cost_usd"),
    result: details["result"],
    failed: details["status"] === "error" || details["error"] !== undefined,
    below: [],
  };
}

/** The steps without a parent, each with those below it. A result is part of the call before it that waits for one. */
export function stepsOf(events: readonly TrajectoryEvent[]): Step[] {
  const steps: Step[] = [];
  const waiting = new Map<string, Step[]>();
  events.forEach((event, index) => {
    const open = waiting.get(event.name);
    const call = event.kind === "tool_result" ? open?.shift() : undefined;
    if (call) {
      const result = stepOf(event, index + 1);
      call.result = event.content;
      call.took ??= result.took;
      call.failed ||= result.failed;
      call.tokens ??= result.tokens;
      call.cost ??= result.cost;
      return;
    }
    const step = stepOf(event, index + 1);
    steps.push(step);
    if (event.kind === "tool_call" && step.result === undefined) waiting.set(event.name, [...(open ?? []), step]);
  });
  return nested(steps);
}

function nested(steps: readonly Step[]): Step[] {
  const spans = new Map<string, Step>();
  for (const step of steps) {
    const span = step.event.details["span"];
    if (typeof span === "string") spans.set(span, step);
  }
  const top: Step[] = [];
  for (const step of steps) {
    const parent = step.event.details["parent"];
    const above = typeof parent === "string" ? spans.get(parent) : undefined;
    // A parent is an earlier step, so that no circle can arise.
    if (above && above.number < step.number) above.below.push(step);
    else top.push(step);
  }
  return top;
}

/** How many steps there are, those below others too. A call and what it gave back are one. */
export function countOf(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + 1 + countOf(step.below), 0);
}

/** The end of the last step, seconds. */
export function wholeTime(steps: readonly Step[], least = 0): number {
  return steps.reduce((most, step) => Math.max(most, step.at + (step.took ?? 0), wholeTime(step.below)), least);
}
