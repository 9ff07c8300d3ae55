import { useMemo } from "react";
import type { ReactElement } from "react";
import type { AgentItems, CaseGrid, GridRow, SuiteItems } from "../../api/answers";
import { CommandHint, Empty, Filters, Select, Show, Table, shellWord } from "../../components";
import type { Column } from "../../components";
import { count, percent, plural, points } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, address, useQueryParam } from "../../router";
import { AgentLabel } from "../../shared/AgentLabel";
import { SearchField } from "../../shared/SearchField";
import { caseAddress } from "../../shared/paths";
import { filtered, groupsOf, level, share } from "./rows";
import "./page.css";

export const title = "Cases by version";

const SHOW = [
  ["", "all cases"],
  ["flips", "those that flip"],
  ["failing", "not passed by the last"],
  ["passing", "passed by the last"],
  ["failed", "with a wrong answer"],
  ["error", "with an error"],
  ["timeout", "with a timeout"],
] as const;

function columnsOf(grid: CaseGrid): Column<GridRow>[] {
  return [
    {
      key: "case",
      label: "Case",
      value: (row) => `${row.benchmark}/${row.case_id}`,
      render: (row) => (
        <span>
          <strong>{row.case_id}</strong> <span className="muted">{row.benchmark}</span>
          {row.group && <span className="badge">{row.group}</span>}
          <span className="muted grid-input">{row.input}</span>
        </span>
      ),
    },
    { key: "flips", label: "Flips", align: "right", first: "descending", value: (row) => row.flips, render: (row) => count(row.flips) },
    ...grid.columns.map(
      (agent, at): Column<GridRow> => ({
        key: agent,
        label: agent,
        heading: <AgentLabel label={agent} />,
        value: (row) => share(row.cells[at] ?? null),
        render: (row) => {
          const cell = row.cells[at] ?? null;
          if (cell === null) return <span className="muted">not tried</span>;
          return (
            <Link
              className={`grid-cell grid-${level(cell)}`}
              to={caseAddress(cell.run_id, row.benchmark, row.case_id, agent)}
              title={`${agent}: ${cell.passed} of ${cell.tries} passed, score ${points(cell.score)}`}
            >
              {percent(share(cell), 0)}
            </Link>
          );
        },
      }),
    ),
  ];
}

function CaseChoices({ grid }: { grid: CaseGrid }): ReactElement {
  const [text, setText] = useQueryParam("text");
  const [show, setShow] = useQueryParam("show");
  const [group, setGroup] = useQueryParam("group");
  const groups = groupsOf(grid.rows);
  return (
    <>
      <Select label="Show" value={show} options={SHOW} onChange={setShow} />
      {groups.length > 0 && <Select label="Group" value={group} options={[["", "all"], ...groups]} onChange={setGroup} />}
      <SearchField label="Text" value={text} placeholder="case, benchmark or input" onChange={setText} />
    </>
  );
}

function Grid({ grid }: { grid: CaseGrid }): ReactElement {
  const [text] = useQueryParam("text");
  const [show] = useQueryParam("show");
  const [group] = useQueryParam("group");
  const columns = useMemo(() => columnsOf(grid), [grid]);
  const rows = useMemo(() => filtered(grid.rows, { text, show, group }), [grid, text, show, group]);
  return (
    <>
      <p className="muted" role="status">
        {plural(rows.length, "case")} of {count(grid.rows.length)} in {grid.suite_name}. A cell is the share of tries that passed.
      </p>
      <Table
        caption="Cases and who passes them"
        columns={columns}
        rows={rows}
        rowKey={(row) => `${row.benchmark} ${row.case_id}`}
        defaultSort="-flips"
        compact={["case", grid.columns.at(-1) ?? "flips"]}
        empty={<Empty title="No case fits the filter." />}
      />
    </>
  );
}

export default function GridPage(): ReactElement {
  const [chosen, setSuite] = useQueryParam("suite");
  const [agent, setAgent] = useQueryParam("agent");
  const suites = useResource<SuiteItems>("/api/suites");
  const agents = useResource<AgentItems>("/api/agents");
  const known = new Map((suites.data?.items ?? []).map((item) => [item.suite_id, item.name || item.suite_id]));
  const grid = useResource<CaseGrid>(address("/api/case-grid", { suite_id: chosen, agent_id: agent }));
  const suite = chosen || (grid.data?.suite_id ?? "");
  const names = (agents.data?.items ?? []).map((item) => item.name);
  return (
    <>
      <div className="page-head">
        <h1>{agent ? `Cases by versions of ${agent}` : "Cases by agent"}</h1>
        {suite && <CommandHint command={`dyno compare ${agent ? `${shellWord(agent)}@OLD ${shellWord(agent)}@NEW` : "AGENT AGENT"} --suite ${shellWord(suite)}`} />}
      </div>
      <Filters label="Filter the cases">
        <Select label="Suite" value={chosen} options={[["", "the last run"], ...known]} onChange={setSuite} />
        <Select label="Versions of" value={agent} options={[["", "all agents"], ...names]} onChange={setAgent} />
        {grid.data && grid.data.rows.length > 0 && <CaseChoices grid={grid.data} />}
      </Filters>
      <Show of={grid}>
        {(data) =>
          data.rows.length > 0 ? (
            <Grid grid={data} />
          ) : (
            <Empty
              title="Which cases each version of an agent passes is shown here. To measure the first one:"
              command="dyno init && dyno run suites/first.yaml"
            />
          )
        }
      </Show>
    </>
  );
}
