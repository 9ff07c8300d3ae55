/** Runs, samples and cases (agentdyno.model.result, sample, case). Durations are seconds, money US dollars. */
import type { Interval } from "./boards";
import type { Comparison, SuiteStanding } from "./standings";

export type RunStatus = "running" | "complete" | "partial" | "failed";
export type SampleStatus = "ok" | "failed" | "error" | "timeout" | "limit" | "cancelled";

export interface RunWarning {
  code: string;
  message: string;
  remedy: string;
  arm_id: string | null;
}

export interface MetricSummary {
  unit: string;
  direction: string;
  provenance: string;
  n: number;
  mean: number;
  median: number | null;
  p95: number | null;
  p99: number | null;
  ci: Interval | null;
  std: number | null;
  mad: number | null;
  cv: number | null;
  minimum: number | null;
  maximum: number | null;
  outliers: number;
  mean_without_outliers: number | null;
  machine_dependent: boolean;
}

export interface Artifact {
  name: string;
  path: string;
  size_bytes: number;
  media_type: string;
}

export interface Environment {
  machine_id: string;
  os: string;
  kernel: string;
  cpu_model: string;
  cpu_count: number;
  memory_bytes: number;
  python: string;
  implementation: string;
  agentdyno: string;
  packages: Record<string, string>;
  variables: Record<string, string>;
  details: Record<string, unknown>;
}

export interface Vcs {
  commit: string;
  branch: string | null;
  dirty: boolean;
}

export interface CaseFigures {
  cases: number;
  scored: number;
  mean: number | null;
  variance: number | null;
  passed: number;
  samples: number;
}

export interface Failure {
  kind: string;
  message: string;
  where: string;
  traceback: string | null;
  output_tail: string | null;
}

export interface Sample {
  arm_id: string;
  phase: string;
  iteration: number;
  status: SampleStatus;
  started_at_ms: number;
  readings: Record<string, number>;
  case_id: string;
  instrument: string;
  seed: number;
  process: number;
  inner_loops: number;
  attempts: number;
  scores: Record<string, number | null>;
  usage: Record<string, number>;
  output: unknown;
  details: Record<string, unknown>;
  failure: Failure | null;
}

export interface ArmResult {
  arm_id: string;
  name: string;
  experiment: string;
  params: Record<string, unknown>;
  benchmark: string | null;
  agent: string | null;
  side: string | null;
  observed: Record<string, unknown>;
  metrics: Record<string, MetricSummary>;
  scores: Record<string, number | null>;
  statuses: Record<string, number>;
  planned: number;
  samples_total: number;
  samples: Sample[];
  artifacts: Artifact[];
  case_figures: CaseFigures | null;
  totals: Record<string, number>;
  score_errors: Record<string, number>;
}

/** The header of a run, without samples. */
export interface RunResult {
  run_id: string;
  kind: string;
  name: string;
  status: RunStatus;
  started_at: number;
  finished_at: number | null;
  seed: number;
  spec: Record<string, unknown>;
  environment: Environment;
  vcs: Vcs | null;
  tags: string[];
  notes: string;
  warnings: RunWarning[];
  arms: ArmResult[];
  overhead_s: number | null;
  stopped_because: string | null;
  suite: { suite_id: string; name: string; version?: string; [field: string]: unknown } | null;
  pricing: Record<string, unknown>;
  targets: Record<string, Record<string, [number, number]>>;
  workspace: string;
  origin: Record<string, string>;
  schema_version: number;
}

export interface RunPage {
  run: RunResult;
  standing: SuiteStanding | null;
  comparison: Comparison | null;
}

export interface RunRow {
  run_id: string;
  kind: string;
  name: string;
  status: RunStatus;
  started_at: number;
  finished_at: number | null;
  arms: number;
  samples: number;
  errors: number;
  tags: string[];
}

/** `output` is text, its first 2,000 characters where `output_cut`; `failure` is a message, "" without one. */
export interface SampleRow {
  arm_id: string;
  arm: string;
  agent: string;
  benchmark: string;
  case_id: string;
  phase: string;
  iteration: number;
  instrument: string;
  status: SampleStatus;
  score: number | null;
  duration_s: number | null;
  cost_usd: number | null;
  total_tokens: number | null;
  output: string | null;
  output_cut: boolean;
  failure: string;
  simulated: boolean;
}

/** One step of a trajectory; `at_s` counts from the start of the case. */
export interface TrajectoryEvent {
  kind: string;
  at_s: number;
  name: string;
  content: unknown;
  duration_s: number | null;
  details: Record<string, unknown>;
}

export type Event = TrajectoryEvent;

export interface CaseText {
  id: string;
  input: unknown;
  target: unknown;
  metadata: Record<string, unknown>;
  group: string | null;
  turns: string[];
}

export interface Answer {
  arm_id: string;
  agent: string;
  benchmark: string;
  iteration: number;
  status: SampleStatus;
  score: number | null;
  scores: Record<string, number | null>;
  output: unknown;
  output_cut: boolean;
  failure: Failure | null;
  events: TrajectoryEvent[];
  duration_s: number | null;
  cost_usd: number | null;
  tokens: number | null;
  started_at_ms: number;
  readings: Record<string, number>;
  usage: Record<string, number>;
  scoring: unknown[];
  attempts: number;
  simulated: boolean;
  cached: boolean;
}

export interface CasePage {
  run_id: string;
  benchmark: string;
  case: CaseText;
  answers: Answer[];
}

/** `divergence` is the index of the first event that differs; null where the trajectories are alike. */
export interface Divergence {
  benchmark: string;
  case: CaseText;
  first: Answer;
  second: Answer;
  divergence: number | null;
}

/** One benchmark executed by one agent; the scores are 0..1. */
export interface Execution {
  uid: string;
  agent: string;
  agent_version: string;
  suite: string;
  benchmark: string;
  created_at: number;
  status: string;
  started_at: number | null;
  finished_at: number | null;
  accuracy: number | null;
  speed: number | null;
  efficiency: number | null;
  cost: number | null;
  reliability: number | null;
  overall: number | null;
  tokens_used: number | null;
  api_calls: number | null;
  duration_s: number | null;
  cost_usd: number | null;
  cases: number | null;
  run_id: string;
  arm_id: string;
  simulated: boolean;
}
