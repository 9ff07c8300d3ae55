/** Addresses of runs and cases, of the dashboard and of the API. */
import { address } from "../address";
import type { QueryValue } from "../address";

const part = encodeURIComponent;

export function runAddress(runId: string): string {
  return `/runs/${part(runId)}`;
}

export function casesAddress(runId: string, query: Record<string, QueryValue> = {}): string {
  return address(`${runAddress(runId)}/cases`, query);
}

export function caseAddress(runId: string, benchmark: string | null, caseId: string, agent?: string | null): string {
  return address(`${runAddress(runId)}/cases/${part(caseId)}`, { benchmark, agent });
}

export function profileAddress(subject: string, query: Record<string, QueryValue> = {}): string {
  return address("/profile", { subject, ...query });
}

export function agentAddress(agent: string): string {
  return `/agents/${part(agent)}`;
}

export function suiteAddress(suiteId: string): string {
  return `/suites/${part(suiteId)}`;
}

export function jobAddress(jobId: string): string {
  return `/jobs/${part(jobId)}`;
}

/** A path below the API; its parts are encoded one by one. */
export function api(...parts: string[]): string {
  return `/api/${parts.map(part).join("/")}`;
}

/** `rules` of `rules@2`; a name may hold an @ itself. */
export function nameOf(agent: string): string {
  const at = agent.lastIndexOf("@");
  return at > 0 ? agent.slice(0, at) : agent;
}

/** As much of an id as people read; `dyno` takes any unique beginning. */
export function shortId(id: string): string {
  return id.slice(0, 13);
}
