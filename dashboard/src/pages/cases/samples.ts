/** Lists of samples: their addresses, and the cases among them. */
import { address } from "../../address";
import type { SampleRow, SampleStatus } from "../../api/answers";
import { api } from "../../shared/paths";

export interface SampleFilter {
  /** A status, "all", or "failures": whatever was not passed. */
  status: string;
  agent: string;
  benchmark: string;
  /** The id or the name of an arm. */
  arm?: string;
}

const BAD: readonly SampleStatus[] = ["failed", "error", "timeout", "limit"];
const PER_PAGE = 500;

/** Samples in this order are case by case. */
export function placeOf(sample: SampleRow): string {
  return [sample.benchmark, sample.case_id, sample.agent, String(sample.iteration).padStart(6, "0")].join("\u0000");
}

/** The list on the server that a filter stands for. */
export function samplesPath(runId: string, { status, agent, benchmark, arm }: SampleFilter): string {
  const statuses = status === "failures" ? BAD : status === "all" || status === "" ? [] : [status];
  const path = address(api("runs", runId, "samples"), { agent, benchmark, arm, limit: PER_PAGE });
  return [path, ...statuses.map((item) => `status=${encodeURIComponent(item)}`)].join("&");
}

export interface FailedAt {
  benchmark: string | null;
  caseId: string;
}

/** The cases among samples, each once. */
export function casesOf(samples: readonly SampleRow[]): FailedAt[] {
  const found = new Map<string, FailedAt>();
  for (const { benchmark, case_id: caseId } of samples) {
    found.set(`${benchmark}\u0000${caseId}`, { benchmark, caseId });
  }
  return [...found.values()];
}
