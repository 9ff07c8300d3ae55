/**
 * What the API answers with, under the names that the pages use. The shapes are generated into `types.ts`.
 *
 * Times are UTC milliseconds, durations seconds, money US dollars, scores 0..1; null is unknown.
 */
import type * as Api from "./types";

export type {
  Accepted, AgentItems, AgentStanding, Alert, AlertItems, AllAgainstAll, Answer, ApiKey, ArmComparison, ArmResult, ArmStanding, Artifact, BandFinding,
  ArtifactItems, AuditPage, BaselineItems, BoardScope, Bottleneck, BreakingPoint, CaseGrid, CaseKey, CaseScores, ChangeRow, Changes, Comparison,
  ConfigurationRow, CostReport, CostRow, Coverage, Duel, Execution, ExecutionPhase, FailedCase, Failure, FoundThing, FoundThings, GridCell, GridRow,
  AnswerMark, MarkItems, HeadToHead, History, HistoryChange, HistoryPoint, HistorySubjects, Job, JobPage, KeyItems, Matrix, MatrixEntry, MetricComparison, MetricNames,
  MetricSummary, Opportunity, OptimizationOpportunity, PairedRow, PerformanceProfile, ProfileComparison, ProfileReport, ProfiledSpan, RankedScore,
  Regression, RunBody, RunComparisons, RunCourse, RunEstimate, RunPlace, RunResult, RunRow, RunRowPage, RunSubject, RunVerdict, RunWarning,
  SamplePage, SampleRow, ScenarioReport, ScoreEstimate, ScorerTrouble, Session, Severity, SpanTree, SpendItem, SpendItems, StaleAgent, StressItems, StressReport,
  SuccessReport, SuiteItems, SuiteRun, SuiteStanding, TimePoint, Verdict,
} from "./types";

export type {
  AgentSummary as AgentRow,
  AgentView as AgentPage,
  BenchmarkView as BenchmarkRow,
  CaseView as CasePage,
  Compared as CompareAnswer,
  DivergenceView as Divergence,
  Event as TrajectoryEvent,
  LeaderboardAnswer as Leaderboard,
  LeaderboardItem as LeaderboardEntry,
  NewKey as CreatedKey,
  RunView as RunPage,
  Status as SampleStatus,
  SuiteSummary as SuiteRow,
  SuiteView as SuitePage,
  VersionView as AgentVersion,
} from "./types";

export type Interval = readonly [low: number, high: number];
export type ChangeVerdict = Api.ChangeRow["verdict"];

/** One page of any list; `next` is the cursor of the page after it. */
export type Page<T> = Pick<Api.JobPage, "next"> & { items: T[] };

/** A refusal of the server, or of the client itself where no server answers. `retry_after_s` is of the header. */
export type Problem = Pick<Api.Problem, "type" | "title" | "status" | "detail"> &
  Partial<Api.Problem> & { retry_after_s?: number | undefined };
