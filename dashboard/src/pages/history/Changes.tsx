import { useMemo } from "react";
import type { ReactElement } from "react";
import type { History, HistoryChange } from "../../api/answers";
import { Sign, Table } from "../../components";
import type { Column } from "../../components";
import { UNKNOWN, dateTime, number, percent, signed } from "../../format";
import { Link, address } from "../../router";
import { nameOf } from "../../shared/paths";
import { DIRECTION_WORDS, direction, shown } from "./timeline";

function Kind({ change }: { change: HistoryChange }): ReactElement {
  const kind = direction(change);
  if (kind === "other") return <span className="muted">{DIRECTION_WORDS.other}</span>;
  return (
    <span className={`badge verdict-${kind}`}>
      <Sign verdict={kind} /> {DIRECTION_WORDS[kind]}
    </span>
  );
}

function versions(change: HistoryChange, history: History, suite: string): ReactElement {
  const { version_before: before, version_after: after } = change;
  if (!before || !after || before === after) return <>{after || before || UNKNOWN}</>;
  const name = nameOf(history.subject);
  return (
    <Link to={address("/compare", { agents: `${name}@${before},${name}@${after}`, suite })}>
      {before} → {after}
    </Link>
  );
}

function sure({ confirmed, p_value: p }: HistoryChange): string {
  return `${confirmed ? "confirmed" : "provisional: few points"}, p ${p < 0.001 ? "< 0.001" : `= ${number(p, 2)}`}`;
}

/** Where the level changed, the newest first. */
export function ChangesTable({ history, suite }: { history: History; suite: string }): ReactElement {
  const columns = useMemo(
    (): Column<HistoryChange>[] => [
      { key: "kind", label: "Change", render: (change) => <Kind change={change} />, value: direction },
      {
        key: "at",
        label: "Since",
        value: (change) => change.at,
        first: "descending",
        render: (change) => {
          const run = history.points[change.index]?.run_id;
          return run ? <Link to={`/runs/${run}`}>{dateTime(change.at)}</Link> : dateTime(change.at);
        },
      },
      {
        key: "level",
        label: "Median before → after",
        render: (change) => `${shown(change.before, history)} → ${shown(change.after, history)}`,
      },
      {
        key: "relative",
        label: "By",
        align: "right",
        value: (change) => change.relative,
        render: (change) => signed(percent(change.relative)),
      },
      { key: "version", label: "Version", render: (change) => versions(change, history, suite) },
      { key: "cause", label: "What else changed", render: (change) => change.cause || UNKNOWN },
      {
        key: "sure",
        label: "How sure",
        value: (change) => change.p_value,
        render: sure,
      },
    ],
    [history, suite],
  );
  return (
    <Table
      caption="Changes of level"
      columns={columns}
      rows={history.changes}
      rowKey={(change) => String(change.index)}
      defaultSort="-at"
      empty={<p className="muted">No change of level in these {history.points.length} points.</p>}
    />
  );
}
