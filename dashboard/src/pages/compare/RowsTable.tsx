import type { ReactElement } from "react";
import type { PairedRow } from "../../api/answers";
import { RowDelta, Table, VerdictBadge } from "../../components";
import type { Column } from "../../components";
import { UNKNOWN, number, percent, plural, signed } from "../../format";
import { isScore, measured, sideValue } from "../../shared/units";

function sure(row: PairedRow): string {
  const p = row.adjusted_p ?? row.p_value;
  return p === null ? UNKNOWN : p < 0.001 ? "< 0.001" : number(p, 2);
}

function remark(row: PairedRow): string {
  const parts = [row.reason];
  if (row.more_cases !== null) parts.push(`${plural(row.more_cases, "more case")} would decide it`);
  if (row.detectable !== null) {
    parts.push(
      `detectable: ${row.relative ? percent(row.detectable) : `${value(row.detectable, row)}${isScore(row.unit) ? " pt" : ""}`}`,
    );
  }
  return parts.filter(Boolean).join("; ");
}

function value(amount: number | null, row: PairedRow): string {
  return measured(amount, row.unit);
}

/** Who won which cases is counted where cases are set against each other one by one, and left out elsewhere. */
function casesText(row: PairedRow): string {
  if (row.cases === 0) return "";
  const counted = row.effect !== null || row.wins + row.losses > 0;
  return counted ? `${row.cases} (${row.wins} won, ${row.losses} lost)` : String(row.cases);
}

/** Where the baseline is zero a change has no percentage: it is in the unit of the row. */
function Change({ row }: { row: PairedRow }): ReactElement {
  if (row.relative || row.change === null || isScore(row.unit)) return <RowDelta row={row} />;
  return (
    <span className={`delta verdict-${row.verdict ?? "none"}`} title={row.reason}>
      {signed(value(row.change, row))}
      {row.interval && (
        <span className="interval">
          {" "}
          [{value(row.interval[0], row)}, {value(row.interval[1], row)}]
        </span>
      )}
    </span>
  );
}

const COLUMNS: readonly Column<PairedRow>[] = [
  {
    key: "metric",
    label: "Metric",
    value: (row) => row.metric,
    render: (row) => (
      <span>
        {row.metric}
        {row.quantity && row.quantity !== row.metric && <span className="muted"> {row.quantity}</span>}
      </span>
    ),
  },
  { key: "baseline", label: "Baseline", align: "right", render: (row) => sideValue(row.baseline, row) },
  { key: "candidate", label: "Candidate", align: "right", render: (row) => sideValue(row.candidate, row) },
  {
    key: "change",
    label: "Change, 95 % interval",
    align: "right",
    value: (row) => row.change,
    render: (row) => <Change row={row} />,
  },
  {
    key: "verdict",
    label: "Candidate is",
    value: (row) => row.verdict,
    render: (row) => <VerdictBadge verdict={row.verdict} />,
  },
  {
    key: "p",
    label: "p",
    align: "right",
    title: "after Holm's correction",
    value: (row) => row.adjusted_p,
    render: (row) => <span className="score-cell">{sure(row)}</span>,
  },
  {
    key: "cases",
    label: "Cases",
    align: "right",
    title: "compared; won and lost by the candidate",
    value: (row) => row.cases,
    render: casesText,
  },
  { key: "remark", label: "Remarks", render: remark },
];

const WITH_BENCHMARK: readonly Column<PairedRow>[] = [
  { key: "benchmark", label: "Benchmark", value: (row) => row.benchmark, render: (row) => row.benchmark },
  ...COLUMNS,
];

interface RowsProps {
  caption: string;
  rows: readonly PairedRow[];
  sortParam: string;
  perBenchmark?: boolean;
}

export function RowsTable({ caption, rows, sortParam, perBenchmark = false }: RowsProps): ReactElement {
  return (
    <Table
      caption={caption}
      compact={["metric", "change"]}
      columns={perBenchmark ? WITH_BENCHMARK : COLUMNS}
      rows={rows}
      rowKey={(row) => `${row.benchmark}/${row.metric}/${row.quantity}`}
      sortParam={sortParam}
    />
  );
}
