import { useMemo } from "react";
import type { ReactElement } from "react";
import type { RunRow, RunRowPage } from "../../api/answers";
import { CommandHint, Empty, Filters, Pager, Select, Show, Table } from "../../components";
import { plural } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, address, setQuery, useQueryParam } from "../../router";
import { SearchField } from "../../shared/SearchField";
import { columnsOf } from "./columns";
import { oldestFirst } from "./ticked";
import "./page.css";

export const title = "Runs";

const KINDS = [
  ["", "all"],
  ["suite", "suites of agents"],
  ["experiment", "experiments"],
  ["commands", "timed commands"],
  ["load", "load runs"],
] as const;
const STATUSES = [["", "all"], "running", "complete", "partial", "failed"] as const;

interface TickedProps {
  ticked: readonly string[];
  rows: readonly RunRow[];
}

/** What can be done with the ticked runs; the oldest is the baseline. */
function Ticked({ ticked, rows }: TickedProps): ReactElement | null {
  if (ticked.length === 0) return null;
  const inTime = oldestFirst(ticked, rows.map((row) => row.run_id));
  return (
    <p className="panel row runs-compare" role="status">
      {plural(ticked.length, "run")} ticked.
      {ticked.length > 1 ? (
        <Link to={address("/compare", { runs: inTime.join(",") })}>Compare {ticked.length} runs</Link>
      ) : (
        <span className="muted">Tick another one to compare the two.</span>
      )}
      <button type="button" className="quiet" onClick={() => setQuery({ ticked: "" })}>
        Untick
      </button>
    </p>
  );
}

export default function Runs(): ReactElement {
  const [kind] = useQueryParam("kind");
  const [name] = useQueryParam("name");
  const [text] = useQueryParam("q");
  const [status] = useQueryParam("status");
  const [cursor] = useQueryParam("cursor");
  const [tickedText] = useQueryParam("ticked");
  const asked = { kind, name, q: text, status, cursor, limit: 50 };
  const listed = useResource<RunRowPage>(address("/api/runs", asked), { everyMs: 15_000 });
  // The list is there at once; verdicts may take a moment, the first time.
  const judged = useResource<RunRowPage>(address("/api/runs", { ...asked, verdicts: "true" }), { everyMs: 15_000 });
  const runs = judged.data ? judged : listed;
  const ticked = useMemo(() => tickedText.split(",").filter(Boolean), [tickedText]);
  const columns = useMemo(() => {
    const tick = (id: string): void =>
      setQuery({ ticked: (ticked.includes(id) ? ticked.filter((item) => item !== id) : [...ticked, id]).join(",") });
    return columnsOf(ticked, tick);
  }, [ticked]);
  // Another filter is another list, which begins at its first page.
  const filter = (values: Record<string, string>): void => setQuery({ ...values, cursor: "" });
  const filtered = kind !== "" || name !== "" || status !== "" || text !== "";
  return (
    <>
      <div className="page-head">
        <h1>Runs</h1>
        <CommandHint command="dyno list runs --limit 50" />
      </div>
      <Filters label="Filter the runs">
        <SearchField
          label="Search"
          value={text}
          placeholder="name, agent, suite, tag or commit"
          onChange={(value) => filter({ q: value })}
        />
        <Select label="Kind" value={kind} options={KINDS} onChange={(value) => filter({ kind: value })} />
        <Select label="Status" value={status} options={STATUSES} onChange={(value) => filter({ status: value })} />
      </Filters>
      <Show of={runs}>
        {(page) => (
          <>
            <Table
              caption="Runs, newest first"
              compact={["name", "status"]}
              columns={columns}
              rows={page.items}
              rowKey={(row) => row.run_id}
              empty={
                filtered || cursor ? (
                  <Empty title="No run fits the filter.">
                    <p>
                      <Link to="/runs">All runs</Link>
                    </p>
                  </Empty>
                ) : (
                  <Empty title="Nothing has been run yet. Every run is listed here, to be searched and compared. A first one, without a model and without a key:" command="dyno demo" />
                )
              }
            />
            <Ticked ticked={ticked} rows={page.items} />
            <Pager cursor={cursor} next={page.next} onMove={(to) => setQuery({ cursor: to }, {})} />
          </>
        )}
      </Show>
    </>
  );
}
