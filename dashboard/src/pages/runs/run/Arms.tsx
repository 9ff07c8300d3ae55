import type { ReactElement } from "react";
import type { ArmComparison, ArmResult, Comparison, MetricComparison, MetricSummary } from "../../../api/answers";
import { Select, StatusBadge, Table, VerdictBadge } from "../../../components";
import type { Column } from "../../../components";
import { count, number, percent, quantity } from "../../../format";
import { useQueryParam } from "../../../router";

/** Names of metrics with the ones that people ask for first. */
export function metricNames(arms: readonly ArmResult[]): string[] {
  const first = ["duration_s", "cpu_s", "peak_rss_bytes", "throughput_per_s"];
  const found = new Set(arms.flatMap((arm) => Object.keys(arm.metrics)));
  return [...first.filter((name) => found.has(name)), ...[...found].filter((name) => !first.includes(name)).sort()];
}

/** A reading in its unit; whole numbers keep all their digits. */
function reading(value: number | null | undefined, unit: string): string {
  if (unit === "" && Number.isInteger(value)) return count(value);
  return quantity(value, unit === "ratio" ? "" : unit);
}

function pText(p: number | null): string {
  return p !== null && p < 0.0001 ? "< 0.0001" : number(p, 2);
}

interface Row {
  arm: ArmResult;
  figures: MetricSummary | undefined;
}

const figure = (row: Row, name: "median" | "p95" | "p99" | "mean" | "minimum" | "maximum"): string =>
  reading(row.figures?.[name], row.figures?.unit ?? "");

const COLUMNS: readonly Column<Row>[] = [
  { key: "arm", label: "Arm", value: (row) => row.arm.name, render: (row) => row.arm.name },
  {
    key: "ended",
    label: "Samples",
    render: (row) => (
      <span>
        {count(row.arm.samples_total)}
        {row.arm.planned > 0 && ` of ${count(row.arm.planned)}`}{" "}
        {Object.entries(row.arm.statuses)
          .filter(([status, n]) => status !== "ok" && n > 0)
          .map(([status, n]) => (
            <span key={status}>
              <StatusBadge status={status} /> {count(n)}{" "}
            </span>
          ))}
      </span>
    ),
  },
  {
    key: "median",
    label: "Median [95 % interval]",
    align: "right",
    value: (row) => row.figures?.median,
    render: (row) => (
      <span className="score-cell">
        {figure(row, "median")}
        {row.figures?.ci && (
          <span className="interval">
            {" "}
            [{reading(row.figures.ci[0], row.figures.unit)}, {reading(row.figures.ci[1], row.figures.unit)}]
          </span>
        )}
      </span>
    ),
  },
  { key: "mean", label: "Mean", align: "right", value: (row) => row.figures?.mean, render: (row) => figure(row, "mean") },
  { key: "p95", label: "p95", align: "right", value: (row) => row.figures?.p95, render: (row) => figure(row, "p95") },
  { key: "p99", label: "p99", align: "right", value: (row) => row.figures?.p99, render: (row) => figure(row, "p99") },
  { key: "cv", label: "CV", align: "right", value: (row) => row.figures?.cv, render: (row) => percent(row.figures?.cv) },
  { key: "outliers", label: "Outliers", align: "right", value: (row) => row.figures?.outliers, render: (row) => count(row.figures?.outliers) },
  { key: "n", label: "n", align: "right", value: (row) => row.figures?.n, render: (row) => count(row.figures?.n) },
];

/** The configurations of an experiment with their figures of one metric. */
export function Arms({ arms }: { arms: readonly ArmResult[] }): ReactElement {
  const names = metricNames(arms);
  const [metric, setMetric] = useQueryParam("metric", names[0] ?? "");
  const rows = arms.map((arm) => ({ arm, figures: arm.metrics[metric] }));
  const provenance = rows.find((row) => row.figures)?.figures?.provenance;
  return (
    <section aria-labelledby="arms">
      <h2 id="arms">Arms</h2>
      {names.length > 0 && (
        <div className="fields">
          <Select label="Metric" value={metric} options={names} onChange={setMetric} />
          {provenance && provenance !== "measured" && <span className="badge">{provenance}</span>}
        </div>
      )}
      <Table caption={`Arms by ${metric}`} columns={COLUMNS} rows={rows} rowKey={(row) => row.arm.arm_id} />
    </section>
  );
}

const COMPARED: readonly Column<{ arm: ArmComparison; row: MetricComparison }>[] = [
  { key: "arm", label: "Arm", render: ({ arm }) => arm.name },
  { key: "metric", label: "Metric", value: ({ row }) => row.metric.name, render: ({ row }) => row.metric.name },
  { key: "baseline", label: "Baseline", align: "right", render: ({ row }) => reading(row.baseline, row.metric.unit) },
  { key: "candidate", label: "Candidate", align: "right", render: ({ row }) => reading(row.candidate, row.metric.unit) },
  {
    key: "ratio",
    label: "Ratio [95 % interval]",
    align: "right",
    value: ({ row }) => row.ratio,
    render: ({ row }) => (
      <span className="score-cell">
        {row.ratio === null ? number(null) : `${number(row.ratio)}×`}
        {row.interval && (
          <span className="interval">
            {" "}
            [{number(row.interval[0])}, {number(row.interval[1])}]
          </span>
        )}
      </span>
    ),
  },
  { key: "p", label: "p", align: "right", value: ({ row }) => row.p_value, render: ({ row }) => <span className="score-cell">{pText(row.p_value)}</span> },
  {
    key: "verdict",
    label: "Verdict",
    value: ({ row }) => row.verdict,
    render: ({ row }) => (
      <span>
        {row.verdict && <VerdictBadge verdict={row.verdict} />} <span className="muted">{row.reason}</span>
      </span>
    ),
  },
];

/** Baseline against candidate, where one run measured both. */
export function Sides({ comparison }: { comparison: Comparison }): ReactElement {
  const rows = comparison.arms.flatMap((arm) => arm.metrics.map((row) => ({ arm, row })));
  return (
    <section aria-labelledby="sides">
      <h2 id="sides">
        {comparison.baseline} → {comparison.candidate}
      </h2>
      <p className="muted">
        {comparison.paired ? "Both sides ran interleaved in one run." : "The sides ran apart: unpaired."}
        {comparison.noise_floor !== null && ` This machine's own noise is ${percent(comparison.noise_floor)}.`}
      </p>
      <Table
        caption="Baseline against candidate"
        columns={COMPARED}
        rows={rows}
        rowKey={({ arm, row }) => `${arm.candidate_arm_id} ${row.metric.name}`}
        sortParam="compared"
      />
    </section>
  );
}
