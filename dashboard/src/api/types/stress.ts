/** What a load run says (agentdyno.findings.stress.model). Durations are seconds, rates per second, shares 0..1; null is unknown. */
import type { Interval } from "./boards";
import type { RunWarning } from "./runs";

/** Where the objectives are first missed, on `axis`; the truth is in `interval`, `value` is the best guess. */
export interface BreakingPoint {
  axis: string;
  value: number;
  held: number | null;
  broke: number | null;
  interval: Interval | null;
  unit: string;
  objective: string;
}

/** One step: the level asked, and what came of it. */
export interface CurvePoint {
  step: string;
  level: number;
  asked_per_s: number;
  delivered_per_s: number;
  throughput_per_s: number;
  goodput_per_s: number | null;
  error_rate: number;
  latency_p50_s: number | null;
  latency_p95_s: number | null;
  latency_p99_s: number | null;
  ttft_p50_s: number | null;
  ttft_p95_s: number | null;
  met: boolean | null;
  client_limited: boolean;
}

/** One window of a scenario; `at_s` counts from its start. */
export interface TimePoint {
  at_s: number;
  duration_s: number;
  step: string;
  stage: string;
  asked_per_s: number;
  throughput_per_s: number;
  error_rate: number | null;
  latency_p50_s: number | null;
  latency_p99_s: number | null;
  ttft_p50_s: number | null;
  in_flight: number;
  lag_p99_s: number | null;
  target_rss_bytes: number | null;
}

/** `contention` and `coherency` are those of the universal scalability law. */
export interface FittedLaw {
  law: string;
  single: number;
  contention: number;
  contention_interval: Interval | null;
  coherency: number;
  coherency_interval: Interval | null;
  peak: number | null;
  r_squared: number | null;
  points: [number, number][];
}

export interface ScenarioReport {
  scenario: string;
  target: string;
  description: string;
  parameters: Record<string, unknown>;
  broke: boolean;
  breaking_point: BreakingPoint | null;
  limited_by: string;
  evidence: string;
  score: number | null;
  requests: number;
  asked: number;
  unsent: number;
  late: number;
  outcomes: Record<string, number>;
  /** By name: what was measured, and whether the objective was met. */
  objectives: Record<string, [number | null, boolean | null]>;
  headline: Record<string, number | null>;
  figures: Record<string, number | null>;
  curve: CurvePoint[];
  over_time: TimePoint[];
  /** Label, from, to: seconds from the start. */
  phases: [string, number, number][];
  law: FittedLaw | null;
  client_limited: boolean;
  client_reason: string;
  closed_loop: boolean;
  provenance: string;
  warnings: RunWarning[];
}

export interface StressAdvice {
  text: string;
  evidence: string;
  scenario: string;
  priority: string;
}

/** All scenarios of one target in one run. */
export interface StressReport {
  agent_id: string;
  run_id: string;
  finished_at: number | null;
  scenarios: ScenarioReport[];
  /** 0..100. */
  resilience_score: number | null;
  scaling_limits: Record<string, BreakingPoint>;
  recommendations: StressAdvice[];
  objectives: { metric: string; limit: number; quantile: number | null }[];
  self_check: { lag_p50_s: number; lag_p99_s: number; rate_per_s: number; requests: number } | null;
  simulated: boolean;
}
