import type { ReactElement, ReactNode } from "react";
import type { RunRow, RunSubject } from "../../api/answers";
import { StatusBadge, VerdictBadge } from "../../components";
import type { Column } from "../../components";
import { UNKNOWN, age, dateTime, duration, moneySum, percent, points, quantity } from "../../format";
import { Link } from "../../router";
import { AgentLabel } from "../../shared/AgentLabel";
import { FormMark } from "../../shared/FormMark";
import { runAddress, shortId } from "../../shared/paths";

const SHOWN = 3;

/** One line per subject of a run, so that all cells of a row tell about the same one at the same height. */
function Lines({ row, of }: { row: RunRow; of: (subject: RunSubject) => ReactNode }): ReactElement {
  const more = row.subjects.length - SHOWN;
  return (
    <ul className="runs-lines">
      {row.subjects.slice(0, SHOWN).map((subject, index) => (
        <li key={index}>{of(subject)}</li>
      ))}
      {more > 0 && <li className="muted">{of === label ? `and ${more} more` : "\u00a0"}</li>}
    </ul>
  );
}

function label(subject: RunSubject): ReactElement {
  const { label: name, params, side } = subject;
  return (
    <span className="runs-subject" title={[name, params, side].filter(Boolean).join(" ")}>
      <AgentLabel label={name} cut />
      {params && <span className="muted"> {params}</span>}
      {side && <span className="muted runs-side"> {side}</span>}
    </span>
  );
}

/** The overall score of an agent, or the median of what an experiment or a load measures. */
function result(row: RunRow, { score, metric, unit, median }: RunSubject): ReactElement {
  // Beside scores of other agents a time would be read as one.
  if (row.kind === "suite" && score === null) return <span className="muted">{UNKNOWN}</span>;
  if (score !== null) return <span title="Overall score, points of a hundred">{points(score)}</span>;
  if (median === null) return <span className="muted">{UNKNOWN}</span>;
  return <span title={`Median of ${metric}`}>{quantity(median, unit)}</span>;
}

function verdict({ verdict: found, against, label: name }: RunSubject): ReactElement {
  if (found !== null) return <span title={`Against ${against}`}><VerdictBadge verdict={found} /></span>;
  return against !== "" && against === name ? <span className="badge">baseline</span> : <span className="muted">{UNKNOWN}</span>;
}

/** What the whole run cost; unknown where one of its agents' is. */
function costOf(row: RunRow): number | null {
  const known = row.subjects.map((subject) => subject.cost_usd);
  return known.length > 0 && known.every((cost) => cost !== null) ? known.reduce((sum, cost) => sum + cost, 0) : null;
}

const tookMs = (row: RunRow): number | null => (row.finished_at === null ? null : row.finished_at - row.started_at - row.paused_ms);

/** The first subjects on one line, for a screen where they have no column. */
function whoRan({ subjects }: RunRow): string {
  const [first] = subjects;
  if (!first) return "";
  return subjects.length > 1 ? `${first.label} and ${subjects.length - 1} more` : first.label;
}

export function columnsOf(ticked: readonly string[], onTick: (runId: string) => void): readonly Column<RunRow>[] {
  return [
    {
      key: "tick",
      label: "",
      render: (row) => (
        <input
          type="checkbox"
          aria-label={`Compare ${row.name} ${shortId(row.run_id)}`}
          checked={ticked.includes(row.run_id)}
          onChange={() => onTick(row.run_id)}
        />
      ),
    },
    {
      key: "name",
      label: "Run",
      value: (row) => row.name,
      render: (row) => (
        <span className="runs-name">
          <Link to={runAddress(row.run_id)} data-open title={row.name}>
            {row.name || shortId(row.run_id)}
          </Link>
          <span className="runs-who">{whoRan(row)}</span>
          <span className="runs-below muted">
            <span title={dateTime(row.started_at)}>{age(row.started_at)}</span> · <span className="runs-whole">{shortId(row.run_id)}</span>
            {row.commit && ` · ${row.commit.slice(0, 8)}`}
            {row.tags.length > 0 && ` · ${row.tags.join(", ")}`}
          </span>
        </span>
      ),
    },
    {
      key: "subject",
      label: "Agent or experiment",
      value: (row) => row.subjects[0]?.label ?? "",
      render: (row) => <Lines row={row} of={label} />,
    },
    { key: "kind", label: "Kind", value: (row) => row.kind, render: (row) => row.kind },
    {
      key: "score",
      label: "Score",
      title: "The overall score of an agent, else the median of what is measured",
      align: "right",
      first: "descending",
      value: (row) => row.subjects[0]?.score ?? (row.kind === "suite" ? null : (row.subjects[0]?.median ?? null)),
      render: (row) => <Lines row={row} of={(subject) => result(row, subject)} />,
    },
    {
      key: "passed",
      label: "Passed",
      align: "right",
      first: "descending",
      value: (row) => row.subjects[0]?.pass_rate ?? null,
      render: (row) => <Lines row={row} of={(subject) => percent(subject.pass_rate, 0)} />,
    },
    {
      key: "verdict",
      label: "Against baseline",
      title: "Of whole runs that came to their end",
      value: (row) => row.subjects.find((subject) => subject.verdict !== null)?.verdict ?? null,
      render: (row) => <Lines row={row} of={verdict} />,
    },
    {
      key: "cost",
      label: "Cost",
      align: "right",
      first: "descending",
      value: costOf,
      render: (row) => <span className="runs-whole">{moneySum(costOf(row))}</span>,
    },
    {
      key: "took",
      label: "Took",
      align: "right",
      value: tookMs,
      render: (row) => <span className="runs-whole">{duration(tookMs(row) === null ? null : (tookMs(row) ?? 0) / 1000)}</span>,
    },
    {
      key: "status",
      label: "Status",
      value: (row) => row.status,
      render: (row) => (
        <span className="runs-status">
          <StatusBadge status={row.status} /> <FormMark form={row.form} />
          {row.errors > 0 && (
            <span className="runs-below verdict-worse" title="Samples that ended with an error, a timeout or a limit">
              {row.errors} of {row.samples} without an answer
            </span>
          )}
        </span>
      ),
    },
  ];
}
