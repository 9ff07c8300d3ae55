import type { ReactElement } from "react";
import type { ChangeRow } from "../../api/answers";
import { RowDelta, Sparkline, Table, VerdictBadge } from "../../components";
import type { Column } from "../../components";
import { UNKNOWN, age, dateTime, duration, moneyPair, plural, points } from "../../format";
import { Link, useQueryParam } from "../../router";
import { AgentLabel } from "../../shared/AgentLabel";
import { Flips } from "./Flips";
import { historyOf, idOf, namesOf } from "./rows";

const ORDER = ["worse", "inconclusive", "better", "same", "no-baseline"];

/** One line of words: what broke by name, else what would settle it or where it was seen. */
function Words({ row }: { row: ChangeRow }): ReactElement | null {
  const { steady_broken: broke, broken } = row;
  if (broke.length > 0) {
    return (
      <>
        {plural(broke.length, "case")} broke: {namesOf(broke)}
      </>
    );
  }
  if (broken.length > 0) {
    return (
      <>
        {plural(broken.length, "case")} pass less often: {namesOf(broken)}
      </>
    );
  }
  if (row.evidence === "history") return <Link to={historyOf(row)}>seen in its history</Link>;
  if (row.finding) return <Link to={historyOf(row)}>its history is worse: {row.finding.metric}</Link>;
  if (row.verdict === "inconclusive" && row.more_cases !== null) return <>about {row.more_cases} more cases would settle it</>;
  if (row.verdict === "no-baseline") return null;
  return row.baseline ? <>against {row.baseline}</> : null;
}

function Verdict({ row }: { row: ChangeRow }): ReactElement {
  return (
    <div className="changes-verdict" title={row.summary}>
      <VerdictBadge verdict={row.verdict} /> {row.severity && <VerdictBadge verdict={row.severity} />}
      {row.since && <span className="muted"> since {row.since}</span>}
      <p className="details-only">
        <Words row={row} />
      </p>
    </div>
  );
}

function History({ row }: { row: ChangeRow }): ReactElement {
  if (!row.spark || row.spark.points.length < 2) return <Sparkline history={row.spark} />;
  const { metric } = row.spark;
  return (
    <Link to={historyOf(row, metric)} className="changes-spark">
      <Sparkline history={row.spark} />
      <span className="muted">{metric}</span>
    </Link>
  );
}

function FlipCount({ row, open, onToggle }: { row: ChangeRow; open: boolean; onToggle: () => void }): ReactElement {
  const { broken, fixed, errors } = row;
  if (broken.length + fixed.length + errors.length === 0) return <span className="muted">none</span>;
  const both = broken.length > 0 && fixed.length > 0;
  return (
    <button type="button" data-open aria-expanded={open} onClick={onToggle}>
      {both && <span>{broken.length} broken, </span>}
      <span>
        {fixed.length > 0 ? `${fixed.length} fixed` : broken.length > 0 ? `${broken.length} broken` : "errors"}{" "}
        <span aria-hidden="true">{open ? "▴" : "▾"}</span>
      </span>
      <span className="visually-hidden"> of {row.agent}</span>
    </button>
  );
}

function from(before: string, after: string): ReactElement | null {
  if (before === UNKNOWN && after === UNKNOWN) return null;
  return (
    <span className="changes-from">
      {before} → {after}
    </span>
  );
}

export function ChangeTable({ rows }: { rows: readonly ChangeRow[] }): ReactElement {
  const [open, setOpen] = useQueryParam("open");
  const toggle = (row: ChangeRow) => (): void => setOpen(open === idOf(row) ? "" : idOf(row));
  const columns: Column<ChangeRow>[] = [
    {
      key: "agent",
      label: "Agent and suite",
      value: (row) => idOf(row),
      render: (row) => (
        <div className="changes-agent">
          <Link to={`/agents/${encodeURIComponent(row.name)}`}>
            <AgentLabel label={row.agent} />
          </Link>
          <br />
          <Link to={`/suites/${encodeURIComponent(row.suite_id)}`} className="muted">
            {row.suite_name || row.suite_id}
          </Link>
        </div>
      ),
    },
    { key: "verdict", label: "Against its baseline", value: (row) => ORDER.indexOf(row.verdict), render: (row) => <Verdict row={row} /> },
    {
      key: "accuracy",
      label: "Accuracy",
      align: "right",
      value: (row) => row.accuracy?.change,
      render: (row) => (
        <span className="changes-figure">
          <RowDelta row={row.accuracy} />
          {row.accuracy && from(points(row.accuracy.baseline), points(row.accuracy.candidate))}
        </span>
      ),
    },
    {
      key: "p95",
      label: "Time",
      title: "The change is of the time per case, the two figures are 95th percentiles",
      align: "right",
      value: (row) => row.latency?.change,
      render: (row) => (
        <span className="changes-figure">
          {row.latency?.change === null ? (
            <span className="muted" title={row.latency.reason || "Times of separate runs are judged against the spread between runs, which is not known here"}>
              not judged
            </span>
          ) : (
            <RowDelta row={row.latency} />
          )}
          {row.latency_p95[1] !== null && (
            <span className="changes-from">
              p95 {duration(row.latency_p95[0])} → {duration(row.latency_p95[1])}
            </span>
          )}
        </span>
      ),
    },
    {
      key: "cost",
      label: "$ per case",
      title: "What a case costs, whether it is answered rightly or not",
      align: "right",
      value: (row) => row.cost?.change,
      render: (row) => (
        <span className="changes-figure">
          <RowDelta row={row.cost} />
          {row.cost && from(...moneyPair(row.cost.baseline, row.cost.candidate))}
        </span>
      ),
    },
    { key: "history", label: "Last 30 runs", render: (row) => <History row={row} /> },
    {
      key: "flips",
      label: "Flipped",
      first: "descending",
      value: (row) => row.broken.length,
      render: (row) => <FlipCount row={row} open={open === idOf(row)} onToggle={toggle(row)} />,
    },
    {
      key: "age",
      label: "Age",
      first: "descending",
      value: (row) => row.finished_at,
      render: (row) => (
        <Link to={`/runs/${row.run_id}`} title={dateTime(row.finished_at)} className="changes-age">
          {age(row.finished_at)}
        </Link>
      ),
    },
  ];
  return (
    <Table
      caption="Every agent in every suite against its baseline, the worst first"
      columns={columns}
      rows={rows}
      rowKey={idOf}
      compact={["agent", "verdict"]}
      rowClass={(row) => `changes-row changes-${row.verdict}`}
      expanded={(row) => (open === idOf(row) ? <Flips row={row} /> : null)}
    />
  );
}
