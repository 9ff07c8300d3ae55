/** Where agents stand (agentdyno.findings.board.model). Times are UTC milliseconds, scores 0..1; null is unknown. */

export type Dimension = "accuracy" | "speed" | "efficiency" | "cost" | "reliability";
export const DIMENSIONS: readonly Dimension[] = ["accuracy", "speed", "efficiency", "cost", "reliability"];
export type Interval = readonly [low: number, high: number];

export interface RankedScore {
  score: number | null;
  interval: Interval | null;
  rank: number | null;
  rank_interval: Interval | null;
}

export interface MatrixEntry {
  agent: string;
  name: string;
  version: string;
  scores: Record<string, RankedScore>;
  benchmarks_completed: number;
  missing: string[];
  failing: string[];
  last_success_at: number | null;
}

export interface Matrix {
  suite: string;
  benchmarks: number;
  weights: Record<string, number>;
  entries: MatrixEntry[];
}

export interface LeaderboardEntry {
  agent: string;
  name: string;
  version: string;
  category: string;
  scores: Record<string, RankedScore>;
  benchmarks_completed: number;
  executions: number;
  attempts: number;
  last_benchmark_at: number | null;
  best_ranking: number | null;
  cost_usd: number | null;
  trend: Record<string, number | null>;
  missing: string[];
}

export interface Leaderboard {
  category: string;
  metric: string;
  days: number;
  until: number;
  weights: Record<string, number>;
  entries: LeaderboardEntry[];
  total: number;
}

export interface StaleAgent {
  agent: string;
  name: string;
  version: string;
  last_success_at: number | null;
  last_attempt_at: number | null;
  days: number | null;
}

export interface Coverage {
  days: number;
  agents: number;
  fresh: number;
  stale: StaleAgent[];
}
