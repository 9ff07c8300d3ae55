import type { ReactElement } from "react";
import type { RunRow, RunRowPage } from "../../api/answers";
import { CommandHint, Empty, Pager, Select, Show, StatusBadge, Table } from "../../components";
import type { Column } from "../../components";
import { age, count, dateTime, duration } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, address, setQuery, useQueryParam } from "../../router";
import { SearchField } from "../../shared/SearchField";
import { runAddress, shortId } from "../../shared/paths";

export const title = "Runs";

const KINDS = [["", "all"], ["suite", "suites of agents"], ["experiment", "experiments"], ["load", "load runs"]] as const;
const STATUSES = [["", "all"], "running", "complete", "partial", "failed"] as const;

const WHOLE = ["", "full", "unknown"];

function RunStatus({ row }: { row: RunRow }): ReactElement {
  return (
    <span>
      <StatusBadge status={row.status} />
      {!WHOLE.includes(row.form) && (
        <span className="muted" title="Not a whole run of its suite: on no board unless asked for">
          {" "}
          {row.form}
        </span>
      )}
    </span>
  );
}

const COLUMNS: readonly Column<RunRow>[] = [
  {
    key: "name",
    label: "Run",
    value: (row) => row.name,
    render: (row) => (
      <span>
        <Link to={runAddress(row.run_id)}>{row.name || shortId(row.run_id)}</Link>{" "}
        <span className="muted">{shortId(row.run_id)}</span>
      </span>
    ),
  },
  { key: "kind", label: "Kind", value: (row) => row.kind, render: (row) => row.kind },
  { key: "status", label: "Status", value: (row) => row.status, render: (row) => <RunStatus row={row} /> },
  {
    key: "started",
    label: "Started",
    first: "descending",
    value: (row) => row.started_at,
    render: (row) => <span title={dateTime(row.started_at)}>{age(row.started_at)}</span>,
  },
  {
    key: "took",
    label: "Took",
    align: "right",
    value: (row) => (row.finished_at === null ? null : row.finished_at - row.started_at),
    render: (row) => duration(row.finished_at === null ? null : (row.finished_at - row.started_at) / 1000),
  },
  { key: "arms", label: "Arms", align: "right", value: (row) => row.arms, render: (row) => count(row.arms) },
  { key: "samples", label: "Samples", align: "right", value: (row) => row.samples, render: (row) => count(row.samples) },
  {
    key: "errors",
    label: "No answer",
    title: "Samples that ended with an error, a timeout or a limit",
    align: "right",
    first: "descending",
    value: (row) => row.errors,
    render: (row) => (row.errors > 0 ? <span className="verdict-worse">{count(row.errors)}</span> : "0"),
  },
  { key: "tags", label: "Tags", render: (row) => row.tags.join(", ") || <span className="muted">none</span> },
];

export default function Runs(): ReactElement {
  const [kind] = useQueryParam("kind");
  const [name] = useQueryParam("name");
  const [status] = useQueryParam("status");
  const [cursor] = useQueryParam("cursor");
  const runs = useResource<RunRowPage>(address("/api/runs", { kind, name, status, cursor, limit: 50 }), { everyMs: 15_000 });
  // Another filter is another list, which begins at its first page.
  const filter = (values: Record<string, string>): void => setQuery({ ...values, cursor: "" });
  const filtered = kind !== "" || name !== "" || status !== "";
  return (
    <>
      <div className="page-head">
        <h1>Runs</h1>
        <CommandHint command="dyno list runs --limit 50" />
      </div>
      <div className="fields" role="search" aria-label="Filter the runs">
        <Select label="Kind" value={kind} options={KINDS} onChange={(value) => filter({ kind: value })} />
        <Select label="Status" value={status} options={STATUSES} onChange={(value) => filter({ status: value })} />
        <SearchField label="Name" value={name} onChange={(value) => filter({ name: value })} />
      </div>
      <Show of={runs}>
        {(page) => (
            <>
              <Table
                caption="Runs, newest first"
                columns={COLUMNS}
                rows={page.items}
                rowKey={(row) => row.run_id}
                empty={
                  filtered || cursor ? (
                    <Empty title="No run fits the filter." />
                  ) : (
                    <Empty title="Nothing has been run yet. A first run, without a model and without a key:" command="dyno demo" />
                  )
                }
              />
              <Pager cursor={cursor} next={page.next} onMove={(to) => setQuery({ cursor: to }, {})} />
            </>
        )}
      </Show>
    </>
  );
}
