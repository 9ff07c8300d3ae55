import type { ReactElement } from "react";
import type { AuditPage } from "../../api/answers";
import { Pager, Show, Table } from "../../components";
import { dateTime } from "../../format";
import { useResource } from "../../hooks/useResource";
import { address, setQuery, useQueryParam } from "../../router";

/** Who ran and changed what, the newest first. */
export function Audit(): ReactElement {
  const [cursor] = useQueryParam("cursor");
  const audit = useResource<AuditPage>(address("/api/audit", { cursor }));
  return (
    <section>
      <h2>Who did what</h2>
      <Show of={audit}>
        {(data) => (
          <>
            <Table
              caption="Who did what"
              rows={data.items}
              rowKey={(entry, index) => `${entry.number ?? index}`}
              sortParam="audit"
              empty={<p className="muted">Nothing has been started or changed yet.</p>}
              columns={[
                { key: "at", label: "When", value: (entry) => entry.at, render: (entry) => dateTime(entry.at) },
                { key: "who", label: "Who", value: (entry) => entry.who, render: (entry) => entry.who },
                { key: "action", label: "What", value: (entry) => entry.action, render: (entry) => entry.action },
                { key: "subject", label: "On", render: (entry) => <code>{entry.subject}</code> },
              ]}
            />
            <Pager cursor={cursor} next={data.next} onMove={(next) => setQuery({ cursor: next }, { replace: false })} />
          </>
        )}
      </Show>
    </section>
  );
}
