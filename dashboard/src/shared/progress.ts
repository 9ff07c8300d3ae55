/** What a job row says of its progress (agentdyno.model.progress), read carefully: it is empty before the run begins. */

export interface Progress {
  done: number;
  planned: number;
  errors: number;
  elapsed_s: number | null;
  remaining_s: number | null;
  doing: string;
  pass_rate: number | null;
  tokens: number | null;
  cost_usd: number | null;
}

function numberIn(fields: Record<string, unknown>, name: string): number | null {
  const value = fields[name];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function readProgress(fields: Record<string, unknown>): Progress | null {
  const done = numberIn(fields, "done");
  const planned = numberIn(fields, "planned");
  if (done === null || planned === null) return null;
  return {
    done,
    planned,
    errors: numberIn(fields, "errors") ?? 0,
    elapsed_s: numberIn(fields, "elapsed_s"),
    remaining_s: numberIn(fields, "remaining_s"),
    doing: typeof fields["doing"] === "string" ? fields["doing"] : "",
    pass_rate: numberIn(fields, "pass_rate"),
    tokens: numberIn(fields, "tokens"),
    cost_usd: numberIn(fields, "cost_usd"),
  };
}

/** 0..1, or null where nothing is known yet. */
export function share(progress: Progress | null): number | null {
  if (!progress || progress.planned <= 0) return null;
  return Math.min(1, Math.max(0, progress.done / progress.planned));
}
