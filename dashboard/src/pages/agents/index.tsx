import type { ReactElement } from "react";
import type { AgentItems, AgentRow } from "../../api/answers";
import { CommandHint, Empty, Filters, Show, Table } from "../../components";
import type { Column } from "../../components";
import { age, count, dateTime } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, address, useQueryParam } from "../../router";
import { SearchField } from "../../shared/SearchField";
import { agentAddress } from "../../shared/paths";

export const title = "Agents";

function When({ ms }: { ms: number | null }): ReactElement {
  return ms === null ? <span className="muted">never</span> : <span title={dateTime(ms)}>{age(ms)}</span>;
}

const COLUMNS: readonly Column<AgentRow>[] = [
  {
    key: "name",
    label: "Agent",
    value: (row) => row.name,
    render: (row) => (
      <span>
        <Link to={agentAddress(row.name)} title={row.identity.replace(/^name:/, "")}>{row.name}</Link>{" "}
        {!row.registered && (
          <span className="badge" title="It has results, and is neither in dyno.yaml nor installed: it cannot be run from here.">
            not registered
          </span>
        )}
        {row.paid === true && <span className="badge">costs money</span>}
      </span>
    ),
  },
  { key: "description", label: "What it is", render: (row) => row.description || <span className="muted">—</span> },
  {
    key: "versions",
    label: "Versions",
    value: (row) => row.versions.length,
    align: "right",
    first: "descending",
    render: (row) => <span title={row.versions.join(", ")}>{count(row.versions.length)}</span>,
  },
  { key: "success", label: "Last success", first: "descending", value: (row) => row.last_success_at, render: (row) => <When ms={row.last_success_at} /> },
  { key: "attempt", label: "Last attempt", first: "descending", value: (row) => row.last_attempt_at, render: (row) => <When ms={row.last_attempt_at} /> },
  {
    key: "links",
    label: "Open",
    render: (row) => (
      <span className="ways">
        <Link to={address("/history", { subject: row.name })}>history</Link>
        {row.registered && <Link to={address("/start", { agent: row.name })}>run</Link>}
      </span>
    ),
  },
];

export default function Agents(): ReactElement {
  const agents = useResource<AgentItems>("/api/agents");
  const [text, setText] = useQueryParam("text");
  const holds = (row: AgentRow): boolean => `${row.name} ${row.description}`.toLowerCase().includes(text.toLowerCase());
  return (
    <>
      <div className="page-head">
        <h1>Agents</h1>
        <CommandHint command="dyno list agents" />
      </div>
      <Filters label="Filter the agents">
        <SearchField label="Name" value={text} onChange={setText} />
      </Filters>
      <Show of={agents}>
        {({ items }) => (
          <Table
            caption="Agents"
            compact={["name", "success"]}
            columns={COLUMNS}
            rows={items.filter(holds)}
            rowKey={(row) => row.name}
            empty={
              items.length > 0 ? (
                <Empty title="No agent fits the filter." />
              ) : (
                <Empty title="There is no agent yet. A first one, with a suite to run it on:" command="dyno init" />
              )
            }
          />
        )}
      </Show>
    </>
  );
}
