import type { ReactElement } from "react";
import type { Changes } from "../../api/types";
import { CommandHint, Empty, Show } from "../../components";
import { useChanges } from "../../changes";
import { ChangeTable } from "./ChangeTable";
import { Today } from "./Today";
import "./page.css";

export const title = "Changes";

/** The sentence that answers whether anything is worse. */
function Answer({ changes }: { changes: Changes }): ReactElement {
  const { worse = 0, inconclusive = 0 } = changes.counts;
  const first = changes.rows.find((row) => row.verdict === "worse");
  if (worse > 0 && first) {
    return (
      <p className="changes-answer verdict-worse">
        <span aria-hidden="true">▼</span> {worse} worse. {first.agent} on {first.suite_name || first.suite_id}: {first.summary}
      </p>
    );
  }
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
