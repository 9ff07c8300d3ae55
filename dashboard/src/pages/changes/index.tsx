import type { ReactElement } from "react";
import type { ChangeRow, Changes } from "../../api/answers";
import { CommandHint, Empty, Show } from "../../components";
import { useChanges } from "../../changes";
import { plural } from "../../format";
import { Link, address } from "../../router";
import { ChangeTable } from "./ChangeTable";
import { Today } from "./Today";
import { historyOf, idOf } from "./rows";
import "./page.css";

export const title = "Changes";

const NAMED = 3;

/** What is worse, since which version, each with the way to its evidence. */
function Worse({ rows }: { rows: readonly ChangeRow[] }): ReactElement {
  return (
    <p className="changes-answer verdict-worse">
      <span aria-hidden="true">▼</span> {rows.length} worse:{" "}
      {rows.slice(0, NAMED).map((row, index) => (
        <span key={idOf(row)}>
          {index > 0 && "; "}
          <Link to={row.evidence === "history" ? historyOf(row) : address("/", { open: idOf(row) })}>
            {row.agent} on {row.suite_name || row.suite_id}
          </Link>
          {row.since && ` since version ${row.since}`}
          {row.steady_broken.length > 0 && `, ${plural(row.steady_broken.length, "case")} broke`}
        </span>
      ))}
      {rows.length > NAMED && ` and ${rows.length - NAMED} more`}.
    </p>
  );
}

/** The sentence that answers whether anything is worse. */
function Answer({ changes }: { changes: Changes }): ReactElement {
  const { inconclusive = 0 } = changes.counts;
  const worse = changes.rows.filter((row) => row.verdict === "worse");
  if (worse.length > 0) return <Worse rows={worse} />;
  const tone = inconclusive > 0 ? "inconclusive" : "better";
  return (
    <p className={`changes-answer verdict-${tone}`}>
      <span aria-hidden="true">{inconclusive > 0 ? "~" : "✓"}</span> {changes.quiet || "Nothing is worse than its baseline."}
    </p>
  );
}

export default function ChangesPage(): ReactElement {
  const changes = useChanges();
  return (
    <>
      <div className="page-head">
        <h1>Changes</h1>
        <CommandHint command="dyno changes" />
      </div>
      <Show of={changes}>
        {(data) =>
          data.rows.length === 0 ? (
            <>
              <Today changes={data} />
              <Empty title="Nothing has been measured yet." command="dyno init && dyno run suites/first.yaml">
                <p>Put an agent on the bench; its next version is held against this one here.</p>
              </Empty>
            </>
          ) : (
            <>
              <Answer changes={data} />
              <Today changes={data} />
              <ChangeTable rows={data.rows} />
              <p className="muted">
                Changes are of the newest version against its baseline over the cases that both answered, with 95 % intervals.{" "}
                <kbd>j</kbd> and <kbd>k</kbd> walk the rows, <kbd>Enter</kbd> opens one.
              </p>
            </>
          )
        }
      </Show>
    </>
  );
}
