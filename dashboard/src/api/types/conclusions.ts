/** What analysis concludes (agentdyno.findings.duel.model, history, regression, economy, reliability, changes). */
import type { Interval } from "./boards";
import type { RunWarning } from "./runs";

export type Verdict = "better" | "worse" | "same" | "inconclusive";
export type Severity = "low" | "medium" | "high" | "critical";

export interface CaseKey {
  benchmark: string;
  case_id: string;
}

export interface ScoreEstimate {
  value: number | null;
  interval: Interval | null;
}

/** `change` is candidate / baseline - 1 where `relative`, else candidate - baseline. */
export interface PairedRow {
  metric: string;
  benchmark: string;
  quantity: string;
  unit: string;
  higher_is_better: boolean;
  relative: boolean;
  baseline: number | null;
  candidate: number | null;
  baseline_score: number | null;
  candidate_score: number | null;
  change: number | null;
  interval: Interval | null;
  p_value: number | null;
  adjusted_p: number | null;
  effect: number | null;
  detectable: number | null;
  more_cases: number | null;
  cases: number;
  clusters: number;
  wins: number;
  losses: number;
  verdict: Verdict | null;
  reason: string;
  method: string;
}

export interface HeadToHead {
  baseline: string;
  candidate: string;
  cases: number;
  clusters: number;
  baseline_mean: number | null;
  candidate_mean: number | null;
  difference: number | null;
  interval: Interval | null;
  p_value: number | null;
  method: string;
  detectable: number | null;
  fixed: CaseKey[];
  broken: CaseKey[];
  both_right: number;
  both_wrong: number;
  unpaired: number;
  same_run: boolean;
  verdict: Verdict;
}

export interface Duel {
  baseline: string;
  candidate: string;
  suite: string;
  rows: PairedRow[];
  benchmark_rows: PairedRow[];
  flips: HeadToHead;
  winner: string | null;
  why: string;
  dimension_winners: Record<string, string | null>;
  category_winners: Record<string, string | null>;
  recommendations: string[];
  paired: boolean;
  warnings: RunWarning[];
  /** By benchmark, the run that the answers of a side are of. */
  baseline_runs: Record<string, string>;
  candidate_runs: Record<string, string>;
}

export interface CaseScores {
  key: CaseKey;
  scores: Record<string, number | null>;
  disagree: boolean;
}

export interface AllAgainstAll {
  agents: string[];
  suite: string;
  duels: Duel[];
  wins: Record<string, number>;
  winner: string | null;
  why: string;
  cases: CaseScores[];
  warnings: RunWarning[];
}

/** The answer of POST /benchmarks/compare: `duel` of two agents, `tournament` of more. */
export interface CompareAnswer {
  type: string;
  duel?: Duel | null;
  tournament?: AllAgainstAll | null;
  /** Agents whose answers were simulated. */
  simulated?: string[];
}

export interface HistoryPoint {
  at: number;
  value: number;
  version: string;
  run_id: string;
  n: number;
  suite: string;
  machine_id: string;
  commit: string;
}

/** `index` is the first point of the new level. */
export interface HistoryChange {
  index: number;
  at: number;
  before: number;
  after: number;
  relative: number | null;
  p_value: number;
  confirmed: boolean;
  better: boolean | null;
  version_before: string;
  version_after: string;
  cause: string;
  comparable: boolean;
}

export interface History {
  subject: string;
  metric: string;
  unit: string;
  higher_is_better: boolean | null;
  points: HistoryPoint[];
  changes: HistoryChange[];
  suite: string;
  benchmark: string;
  baseline: number | null;
  note: string;
}

export interface Impact {
  cases: CaseKey[];
  overall: number | null;
  text: string;
}

export interface Regression {
  detector: "version" | "history" | "pattern";
  kind: string;
  metric: string;
  baseline: number;
  current: number;
  amount: number;
  relative: boolean;
  threshold: number;
  severity: Severity;
  explanation: string;
  benchmark: string;
  category: string;
  p_value: number | null;
  confirmed: boolean;
  improvement: boolean;
  since: number | null;
  version: string;
  impact: Impact;
  unit: string;
  undone_at: number | null;
}

export interface RegressionReport {
  agent: string;
  baseline: string;
  current: string;
  regressions: Regression[];
  improvements: Regression[];
  health: number | null;
  action: string;
  suite: string;
  warnings: RunWarning[];
}

export interface CostRow {
  agent: string;
  benchmark: string;
  tasks: number;
  successes: number;
  cost_usd: number | null;
  cost_per_task_usd: number | null;
  cost_per_success_usd: number | null;
  cost_interval: Interval | null;
  never_succeeded: boolean;
  accuracy: number | null;
  duration_s: number | null;
  performance_per_dollar: number | null;
  performance: string;
  total_tokens: number | null;
  on_accuracy_frontier: boolean | null;
  accuracy_frontier_probability: number | null;
  on_latency_frontier: boolean | null;
  latency_frontier_probability: number | null;
  simulated: boolean;
}

export interface ConfigurationRow {
  agent: string;
  configuration: Record<string, unknown>;
  efficiency: number | null;
  optimal: boolean;
  savings_usd: number | null;
  against: string;
  evidence: string;
}

export interface Opportunity {
  kind: string;
  text: string;
  evidence: string[];
  agent: string;
  savings_usd: number | null;
}

export interface CostReport {
  suite: string;
  volume: number;
  rows: CostRow[];
  benchmark_rows: CostRow[];
  configurations: ConfigurationRow[];
  opportunities: Opportunity[];
  warnings: RunWarning[];
}

export interface ErrorClass {
  status: string;
  kind: string;
  message: string;
  count: number;
  example: string;
  cases: string[];
}

export interface Perturbed {
  pairs: number;
  original: number;
  perturbed: number;
  agreement: number;
  change: number;
  interval: Interval | null;
  broken: string[];
}

export interface Reliability {
  agent: string;
  benchmark: string;
  cases: number;
  tries: number;
  pass_hat: [number, ScoreEstimate][];
  pass_at: [number, number][];
  consistency: ScoreEstimate;
  flaky: number;
  error_rate: number | null;
  statuses: Record<string, number>;
  errors: ErrorClass[];
  spread: Record<string, number>;
  perturbed: Perturbed | null;
  simulated: boolean;
}

/** `verdict` of a row of Changes. */
export type ChangeVerdict = Verdict | "no-baseline";

export interface ChangeRow {
  agent: string;
  name: string;
  version: string;
  suite_id: string;
  suite_name: string;
  baseline: string;
  verdict: ChangeVerdict;
  summary: string;
  finished_at: number;
  run_id: string;
  baseline_run_id: string;
  since: string;
  accuracy: PairedRow | null;
  latency: PairedRow | null;
  cost: PairedRow | null;
  /** Seconds, of the baseline and of the candidate. */
  latency_p95: [number | null, number | null];
  broken: CaseKey[];
  fixed: CaseKey[];
  more_cases: number | null;
  spark: History | null;
  errors: ErrorClass[];
  command: string;
  severity: Severity | null;
  error_rate: PairedRow | null;
  reliability: PairedRow | null;
  /** What the verdict rests on: "cases" that both versions answered, or the "history" of the agent. */
  evidence: "cases" | "history" | "";
  /** What the history shows, where the verdict rests on that. */
  finding: Regression | null;
}

export interface Alert {
  alert_id: string;
  agent: string;
  suite_id: string;
  regression: Regression;
  run_id: string;
  baseline_run_id: string;
  acknowledged_by: string;
  acknowledged_at: number | null;
  note: string;
}

export interface Changes {
  rows: ChangeRow[];
  counts: Record<string, number>;
  spent_today_usd: number | null;
  runs_today: number;
  /** Executions of today whose cost is not known. */
  unpriced_today: number;
  quiet: string;
}
