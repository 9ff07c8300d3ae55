import type { ReactElement } from "react";
import type { SuiteItems, SuiteRow } from "../../api/answers";
import { CommandHint, Empty, Show, Table } from "../../components";
import type { Column } from "../../components";
import { count } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, address } from "../../router";
import { suiteAddress } from "../../shared/paths";

export const title = "Suites";

const COLUMNS: readonly Column<SuiteRow>[] = [
  {
    key: "name",
    label: "Suite",
    value: (row) => row.name,
    render: (row) => (
      <span>
        <Link to={suiteAddress(row.suite_id)}>{row.name}</Link>
        <br />
        <code className="muted">{row.suite_id}</code>{" "}
        {!row.registered && (
          <span className="badge" title="It has results, and is neither in dyno.yaml nor shipped: it cannot be run from here.">
            not registered
          </span>
        )}
      </span>
    ),
  },
  { key: "description", label: "What it asks", render: (row) => row.description || <span className="muted">—</span> },
  { key: "category", label: "Category", value: (row) => row.category, render: (row) => row.category },
  { key: "benchmarks", label: "Benchmarks", align: "right", value: (row) => row.benchmarks, render: (row) => count(row.benchmarks) },
  { key: "cases", label: "Cases", align: "right", value: (row) => row.cases, render: (row) => count(row.cases) },
  {
    key: "open",
    label: "Open",
    render: (row) => (
      <span className="ways">
        <Link to={address("/matrix", { suite: row.suite_id })}>matrix</Link>
        {row.registered && <Link to={address("/start", { suite: row.suite_id })}>run</Link>}
      </span>
    ),
  },
];

export default function Suites(): ReactElement {
  const suites = useResource<SuiteItems>("/api/suites");
  return (
    <>
      <div className="page-head">
        <h1>Suites</h1>
        <CommandHint command="dyno list suites" />
      </div>
      <Show of={suites}>
        {({ items }) => (
          <Table
            caption="Suites"
            compact={["name", "cases"]}
            columns={COLUMNS}
            rows={items}
            rowKey={(row) => row.suite_id}
            empty={<Empty title="There is no suite yet. A first one, with an agent to run on it:" command="dyno init" />}
          />
        )}
      </Show>
    </>
  );
}
