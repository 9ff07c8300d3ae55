/** Jobs, keys, problems and lists of the service (agentdyno.model.job). Times are UTC milliseconds. */
import type { MatrixEntry } from "./boards";
import type { Execution } from "./runs";

/** RFC 9457, with what to do (`remedy`) and the nearest names (`near`). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance?: string;
  remedy?: string;
  near?: string[];
  errors?: { field: string; message: string }[];
  /** From the Retry-After header, seconds. */
  retry_after_s?: number | undefined;
}

/** One page of a list; `next` is the cursor of the page after it. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

export interface Items<T> {
  items: T[];
}

export type Scope = "read" | "run" | "admin";

export interface Session {
  who: string;
  scope: Scope;
  keyless: boolean;
  version: string;
  store: string;
  generation: number;
  workspace: string;
}

export type JobStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled";

export interface Job {
  job_id: string;
  agent: string;
  agent_digest: string;
  suite_id: string;
  suite_digest: string;
  created_at: number;
  status: JobStatus;
  configuration: Record<string, unknown>;
  options: Record<string, unknown>;
  priority: number;
  workspace: string;
  created_by: string;
  idempotency_key: string;
  attempt: number;
  lost: number;
  failures: number;
  max_failures: number;
  worker: string;
  lease_until: number | null;
  started_at: number | null;
  finished_at: number | null;
  cancel_requested: boolean;
  run_id: string;
  progress: Record<string, unknown>;
  error: string;
  /** Of a queued job that no worker offers: what the workers lack. */
  waits_because: string;
}

export interface ApiKey {
  key_id: string;
  name: string;
  scope: Scope;
  prefix: string;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

export interface AuditEntry {
  at: number;
  who: string;
  action: string;
  subject: string;
  details: Record<string, unknown>;
  number: number | null;
}

/** `paid` is null where only the store knows the agent; `settings` are those a run may change, with their JSON types. */
export interface AgentRow {
  name: string;
  versions: string[];
  uid: string;
  registered: boolean;
  description: string;
  paid: boolean | null;
  last_success_at: number | null;
  last_attempt_at: number | null;
  settings: Record<string, string>;
  /** Those that can be run here, the highest first. */
  registered_versions: string[];
}

export interface AgentVersion {
  version: string;
  uid: string;
  uses: string;
  created_at: number;
  last_success_at: number | null;
  last_attempt_at: number | null;
  registered: boolean;
}

export interface SuiteRun {
  suite_id: string;
  name: string;
  digest: string;
  version: string;
  last_at: number;
  benchmarks: number;
  simulated: boolean;
}

export interface AgentPage {
  agent: AgentRow;
  versions: AgentVersion[];
  suites: SuiteRun[];
  scores: MatrixEntry[];
  results: Execution[];
}

export interface SuiteRow {
  suite_id: string;
  name: string;
  digest: string;
  version: string;
  category: string;
  benchmarks: number;
  cases: number;
  registered: boolean;
  description: string;
  uid: string;
}

export interface BenchmarkRow {
  benchmark_id: string;
  name: string;
  category: string;
  cases: number;
  complexity: string;
  test_type: string;
  description: string;
}

export interface SuitePage {
  suite: SuiteRow;
  benchmarks: BenchmarkRow[];
  versions: { digest: string; uid: string; version: string; created_at: number }[];
}

/** One value per case, in `unit`. */
export interface Spread {
  agent: string;
  values: number[];
  unit: string;
  simulated: boolean;
}

export interface BaselineRow {
  agent: string;
  suite_id: string;
  version: string;
  run_id: string;
  set_at: number;
  note: string;
  workspace: string;
}
