import type { ReactElement } from "react";
import type { ArmComparison, Comparison, MetricComparison, RunComparisons } from "../../api/answers";
import { Empty, Fold, Show, Table, VerdictBadge } from "../../components";
import type { Column } from "../../components";
import { UNKNOWN, number, percent, quantity } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Warnings } from "../../shared/Warnings";
import { HeadToHeadComparison } from "./HeadToHead";
import { relativeText } from "./effects";

interface ComparedMetric {
  arm: ArmComparison;
  row: MetricComparison;
}

const change = ({ ratio }: MetricComparison): number | null => (ratio === null ? null : ratio - 1);

const COLUMNS: readonly Column<ComparedMetric>[] = [
  { key: "arm", label: "Arm", value: ({ arm }) => arm.name, render: ({ arm }) => arm.name },
  { key: "metric", label: "Metric", value: ({ row }) => row.metric.name, render: ({ row }) => row.metric.name },
  { key: "baseline", label: "Baseline", align: "right", render: ({ row }) => quantity(row.baseline, row.metric.unit) },
  { key: "candidate", label: "Candidate", align: "right", render: ({ row }) => quantity(row.candidate, row.metric.unit) },
  {
    key: "change",
    label: "Change, 95 % interval",
    align: "right",
    value: ({ row }) => change(row),
    render: ({ row }) => (
      <span className={`delta verdict-${row.verdict ?? "none"}`}>
        {row.ratio === null ? UNKNOWN : relativeText(row.ratio - 1)}
        {row.interval && (
          <span className="interval">
            {" "}
            [{relativeText(row.interval[0] - 1)}, {relativeText(row.interval[1] - 1)}]
          </span>
        )}
      </span>
    ),
  },
  {
    key: "verdict",
    label: "Candidate is",
    value: ({ row }) => row.verdict,
    render: ({ row }) => <VerdictBadge verdict={row.verdict} />,
  },
  {
    key: "p",
    label: "p",
    align: "right",
    value: ({ row }) => row.p_value,
    render: ({ row }) => (row.p_value === null ? UNKNOWN : row.p_value < 0.001 ? "< 0.001" : number(row.p_value, 2)),
  },
  { key: "reason", label: "Remarks", render: ({ row }) => <span className="muted">{row.reason}</span> },
];

function Metrics({ caption, rows, sortParam }: { caption: string; rows: readonly ComparedMetric[]; sortParam: string }): ReactElement {
  return (
    <Table
      caption={caption}
      columns={COLUMNS}
      rows={rows}
      rowKey={({ arm, row }) => `${arm.candidate_arm_id} ${row.metric.name}`}
      sortParam={sortParam}
      empty={<p className="muted">No metric is judged.</p>}
    />
  );
}

function Arms({ comparison, index }: { comparison: Comparison; index: number }): ReactElement {
  const rows = comparison.arms.flatMap((arm) => arm.metrics.map((row) => ({ arm, row })));
  const judged = rows.filter(({ row }) => row.verdict !== null);
  const shown = rows.filter(({ row }) => row.verdict === null);
  const alone = [...comparison.only_in_baseline, ...comparison.only_in_candidate];
  return (
    <>
      <p className="muted">
        {comparison.paired ? "Both ran interleaved in one run." : "From separate runs, not interleaved."}
        {comparison.noise_floor !== null && ` This machine's own noise is ${percent(comparison.noise_floor)}.`}
        {alone.length > 0 && ` Only in one of the two: ${alone.join(", ")}.`}
      </p>
      <Warnings warnings={comparison.warnings} />
      <Metrics caption={`${comparison.baseline} against ${comparison.candidate}`} rows={judged} sortParam={`arms_sort${index}`} />
      {shown.length > 0 && (
        <Fold name={`shown-${index}`} summary={`Shown and not judged (${shown.length} rows)`}>
          <Metrics caption="Not judged" rows={shown} sortParam={`shown_sort${index}`} />
        </Fold>
      )}
    </>
  );
}

/** Runs that were ticked, each against the first: agents case by case, experiments metric by metric. */
export function RunPairs({ runs }: { runs: readonly string[] }): ReactElement {
  const query = runs.map((run) => `run=${encodeURIComponent(run)}`).join("&");
  const found = useResource<RunComparisons>(`/api/comparisons?${query}`);
  return (
    <Show of={found}>
      {({ duels, comparisons }) =>
        duels.length + comparisons.length === 0 ? (
          <Empty title="These runs have nothing in common to compare." />
        ) : (
          <>
            {duels.map((duel, index) => (
              <section key={index} className="compare-pair" aria-label={`${duel.baseline} against ${duel.candidate}`}>
                <h2>
                  {duel.baseline} → {duel.candidate}
                </h2>
                <HeadToHeadComparison duel={duel} suite="" />
              </section>
            ))}
            {comparisons.map((comparison, index) => (
              <section key={index} className="compare-pair" aria-label={`Pair ${index + 1}`}>
                <h2>
                  {comparison.baseline.slice(0, 13)} → {comparison.candidate.slice(0, 13)}
                </h2>
                <Arms comparison={comparison} index={index} />
              </section>
            ))}
          </>
        )
      }
    </Show>
  );
}
