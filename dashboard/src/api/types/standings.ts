/** Where the agents of one run stand, and two results side by side (agentdyno.findings.standing.model, findings, gate). */
import type { Interval } from "./boards";
import type { HeadToHead, PairedRow, ScoreEstimate, Verdict } from "./conclusions";
import type { RunWarning } from "./runs";

export interface ArmStanding {
  arm_id: string;
  benchmark: string;
  agent: string;
  scores: Record<string, ScoreEstimate>;
  cases: number;
  scored: number;
  passed: number;
  samples: number;
  simulated: boolean;
}

export interface AgentStanding {
  agent: string;
  name: string;
  version: string;
  scores: Record<string, ScoreEstimate>;
  cases: number;
  scored: number;
  passed: number;
  samples: number;
  statuses: Record<string, number>;
  duration_s: number | null;
  duration_p95_s: number | null;
  ttft_s: number | null;
  total_tokens: number | null;
  cost_usd: number | null;
  known_cost_usd: number | null;
  cost_per_success_usd: number | null;
  judge_cost_usd: number | null;
  missing: string[];
  simulated: boolean;
}

export interface FailedCase {
  benchmark: string;
  case_id: string;
  agent: string;
  status: string;
  bad: number;
  tries: number;
  want: string;
  got: string;
  why: string;
}

export interface SuiteStanding {
  run_id: string;
  benchmarks: string[];
  agents: AgentStanding[];
  arms: ArmStanding[];
  failed: FailedCase[];
  failed_total: number;
  head_to_head: HeadToHead | null;
}

export interface Metric {
  name: string;
  unit: string;
  direction: string;
  provenance: string;
  machine_dependent: boolean;
}

export interface MetricComparison {
  metric: Metric;
  baseline_n: number;
  candidate_n: number;
  baseline: number;
  candidate: number;
  ratio: number | null;
  interval: Interval | null;
  p_value: number | null;
  verdict: Verdict | null;
  reason: string;
  threshold: number;
  detectable: number | null;
  more_samples: number | null;
  paired: boolean;
  method: string;
  unit: string;
}

export interface ArmComparison {
  name: string;
  baseline_arm_id: string;
  candidate_arm_id: string;
  params: Record<string, unknown>;
  differing: Record<string, [unknown, unknown]>;
  metrics: MetricComparison[];
}

export interface Comparison {
  baseline: string;
  candidate: string;
  paired: boolean;
  arms: ArmComparison[];
  only_in_baseline: string[];
  only_in_candidate: string[];
  noise_floor: number | null;
  warnings: RunWarning[];
}

export type Tier = "critical" | "supporting" | "advisory";
export type GateVerdict = "PASS" | "WARN" | "BLOCK" | "INCONCLUSIVE";

export interface GateRow {
  rule: { metric: string; tier: Tier; tolerance: number };
  row: PairedRow;
  exceeded: boolean | null;
  significant: boolean | null;
  p_worse: number | null;
  verdict: GateVerdict;
  reason: string;
}
