import type { ReactElement } from "react";
import type { Bottleneck, ExecutionPhase, OptimizationOpportunity, PerformanceProfile, ProfileComparison } from "../../api/answers";
import { Fold, Table } from "../../components";
import type { Column } from "../../components";
import { bytes, count, duration, number, percent, plural, quantity } from "../../format";
import { Facts } from "../../shared/Facts";
import { phaseWords } from "./spans";

const ms = (value: number): string => duration(value / 1000);

const PHASE_COLUMNS: readonly Column<ExecutionPhase>[] = [
  {
    key: "phase",
    label: "Phase",
    render: (phase) => (
      <>
        <span className={`span-mark phase-${phase.phase_name}`} /> {phaseWords(phase.phase_name)}
      </>
    ),
  },
  { key: "self", label: "Self time", align: "right", value: (phase) => phase.duration_ms, render: (phase) => ms(phase.duration_ms) },
  { key: "share", label: "Share of the wall time", align: "right", render: (phase) => percent(phase.percentage_of_total === null ? null : phase.percentage_of_total / 100) },
  { key: "critical", label: "Critical path", align: "right", value: (phase) => phase.critical_ms, render: (phase) => ms(phase.critical_ms) },
  { key: "spans", label: "Spans", align: "right", value: (phase) => phase.spans, render: (phase) => count(phase.spans) },
];

const BOTTLENECK_COLUMNS: readonly Column<Bottleneck>[] = [
  { key: "where", label: "Where", render: (item) => item.location },
  { key: "takes", label: "Takes", align: "right", value: (item) => item.impact_ms, render: (item) => ms(item.impact_ms) },
  { key: "share", label: "Share", align: "right", title: "Of the mean wall time of an execution", value: (item) => item.share, render: (item) => percent(item.share) },
  { key: "cause", label: "Cause", render: (item) => item.cause },
  { key: "evidence", label: "Evidence", render: (item) => item.evidence.join("; ") },
  { key: "what", label: "Suggestion", render: (item) => item.optimization_suggestion },
];

const OPPORTUNITY_COLUMNS: readonly Column<OptimizationOpportunity>[] = [
  {
    key: "saves",
    label: "Saves at most",
    align: "right",
    value: (item) => item.estimated_impact,
    render: (item) => `${item.unit === "s" ? duration(item.saving) : `${count(Math.round(item.saving))} ${item.unit}`}, ${percent(item.estimated_impact)} ${item.basis}`,
  },
  { key: "how", label: "How", render: (item) => item.potential_improvement },
  { key: "effort", label: "Effort", render: (item) => item.implementation_effort },
  { key: "evidence", label: "Evidence", render: (item) => item.evidence.join("; ") },
];

/** Processors, memory, storage and tokens: known of executions without spans, too. */
export function Used({ profile }: { profile: PerformanceProfile }): ReactElement {
  const { resource_utilization: used, token_analysis: tokens } = profile.profile_data;
  const known = (value: number | null, text: (value: number) => string): string | null => (value === null ? null : text(value));
  const share = (value: number): string => number(value);
  return (
    <>
      <h2>Use of resources and tokens</h2>
      <Facts
        facts={[
          ["cpu_efficiency", known(used.cpu_efficiency, share)],
          ["memory_efficiency", known(used.memory_efficiency, share)],
          ["io_efficiency", known(used.io_efficiency, share)],
          ["parallelization_score", known(used.parallelization_score, share)],
          ["CPU time per execution", known(used.cpu_s, duration)],
          ["Highest peak of memory", known(used.peak_rss_bytes, bytes)],
          ["Input tokens", known(tokens.input_tokens, count)],
          ["Output tokens", known(tokens.output_tokens, count)],
          ["From the cache", known(tokens.cached_tokens, count)],
          ["Reasoning tokens", known(tokens.reasoning_tokens, count)],
          ["Repeated prefix", known(tokens.repeated_prefix_tokens, count)],
          ["wasted_tokens", known(tokens.wasted_tokens, count)],
          ["token_efficiency", known(tokens.token_efficiency, share)],
        ]}
      />
      <Fold name="names" summary="What these names mean">
        <Facts facts={Object.entries(profile.definitions)} />
      </Fold>
    </>
  );
}

/** Everything but the spans of single executions. */
export function ProfileTables({ profile }: { profile: PerformanceProfile }): ReactElement {
  const { execution_phases: phases, bottlenecks } = profile.profile_data;
  const mean = profile.executions > 0 ? profile.wall_s / profile.executions : null;
  return (
    <>
      <p>
        {duration(mean)} wall time in the mean of {plural(profile.executions, "execution")}; shares are of that.
        {profile.without_spans > 0 && ` ${plural(profile.without_spans, "more execution")} told nothing of what happened inside.`}
        {profile.beyond_measured > 0 && ` In ${plural(profile.beyond_measured, "execution")} spans end after the end that the bench measured: the agent's own claim.`}
        {profile.traced && " The spans come from a pass with tracing on: times include what tracing takes."}
        {profile.simulated && <span className="badge">simulated</span>}
      </p>
      <Table caption="Phases" showCaption columns={PHASE_COLUMNS} rows={phases.filter((phase) => phase.duration_ms > 0 || phase.spans > 0)} rowKey={(phase) => phase.phase_name} sortParam="phases" />
      <Table caption="Bottlenecks" showCaption columns={BOTTLENECK_COLUMNS} rows={bottlenecks} rowKey={(item) => item.location} sortParam="bottlenecks" />
      <Table
        caption="What could be saved"
        showCaption
        columns={OPPORTUNITY_COLUMNS}
        rows={profile.optimization_opportunities}
        rowKey={(item) => item.rule}
        sortParam="savings"
        empty={<p>No rule found anything to save.</p>}
      />
      <Used profile={profile} />
    </>
  );
}

type Change = ProfileComparison["changes"][number];

/** Two profiles beside each other; differences are shown and not judged. */
export function SideBySide({ pair }: { pair: ProfileComparison }): ReactElement {
  const shown = (value: number | null, unit: string): string => quantity(value, unit === "ratio" ? "" : unit);
  const columns: readonly Column<Change>[] = [
    { key: "what", label: "What", render: (item) => phaseWords(item.name).replaceAll("_", " ") },
    { key: "baseline", label: pair.baseline.agent_id, align: "right", render: (item) => shown(item.baseline, item.unit) },
    { key: "candidate", label: pair.candidate.agent_id, align: "right", render: (item) => shown(item.candidate, item.unit) },
    { key: "ratio", label: "Ratio", align: "right", value: (item) => item.ratio, render: (item) => (item.ratio === null ? "" : `${number(item.ratio)}×`) },
  ];
  return (
    <>
      <Table caption="Side by side" showCaption columns={columns} rows={pair.changes} rowKey={(item) => item.name} sortParam="sides" />
      <p className="muted">Means per execution on {plural(pair.cases, "case")} that both have spans of. Differences are shown and not judged.</p>
    </>
  );
}
