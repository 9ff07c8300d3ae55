import type { ReactElement } from "react";
import type { Coverage, StaleAgent } from "../../api/answers";
import { CommandHint, Empty, Filters, Select, Show, Table, shellWord } from "../../components";
import type { Column } from "../../components";
import { dateTime, number, percent, plural } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, address, useQueryParam } from "../../router";
import { SuccessFigures } from "./Success";

export const title = "Coverage";

const DAYS = [["1", "1 day"], ["7", "7 days"], ["30", "30 days"], ["90", "90 days"], ["365", "1 year"]] as const;

const COLUMNS: Column<StaleAgent>[] = [
  {
    key: "agent",
    label: "Agent",
    value: (agent) => agent.agent,
    render: (agent) => (
      <div>
        <Link to={`/agents/${encodeURIComponent(agent.name)}`}>{agent.name}</Link> <span className="muted">{agent.version}</span>
      </div>
    ),
  },
  {
    key: "days",
    label: "Days since the last success",
    align: "right",
    first: "descending",
    value: (agent) => agent.days ?? Number.POSITIVE_INFINITY,
    render: (agent) => (agent.days === null ? "never succeeded" : number(agent.days)),
  },
  { key: "success", label: "Last success", value: (agent) => agent.last_success_at, render: (agent) => dateTime(agent.last_success_at) },
  { key: "attempt", label: "Last attempt", value: (agent) => agent.last_attempt_at, render: (agent) => dateTime(agent.last_attempt_at) },
  { key: "start", label: "Do", render: (agent) => <Link to={address("/start", { agent: agent.name })}>Start a run</Link> },
];

function Figures({ coverage }: { coverage: Coverage }): ReactElement {
  const { agents, fresh, days } = coverage;
  return (
    <ul className="cards" aria-label="Coverage">
      <li className="card">
        <span className="card-value">{percent(fresh / agents, 0)}</span>
        <span className="card-label">
          {fresh} of {plural(agents, "agent")} benchmarked within {plural(days, "day")}, goal 100 %
        </span>
        <br />
        <meter min={0} max={agents} value={fresh} aria-label="Share of agents that were benchmarked" />
      </li>
      <li className="card">
        <span className={`card-value verdict-${coverage.stale.length > 0 ? "worse" : "better"}`}>{coverage.stale.length}</span>
        <span className="card-label">overdue</span>
      </li>
    </ul>
  );
}

export default function CoveragePage(): ReactElement {
  const [days, setDays] = useQueryParam("days", "30");
  const coverage = useResource<Coverage>(address("/api/coverage", { days }));
  return (
    <>
      <div className="page-head">
        <h1>Coverage</h1>
        <CommandHint command={`dyno board --stale --days ${shellWord(days)}`} />
      </div>
      <p className="muted">Agents, each in its newest version, that have not succeeded in a benchmark for a while.</p>
      <Filters label="Choose the time">
        <Select label="Within" value={days} options={DAYS} onChange={setDays} />
      </Filters>
      <Show of={coverage}>
        {(data) =>
          data.agents === 0 ? (
            <Empty
              title="Agents that have not been benchmarked for a while are named here. To measure the first one:"
              command="dyno init && dyno run suites/first.yaml"
            />
          ) : (
            <>
              <Figures coverage={data} />
              <Table
                caption="Agents that are overdue"
                compact={["agent", "days"]}
                columns={COLUMNS}
                rows={data.stale}
                rowKey={(agent) => agent.agent}
                empty={<p className="verdict-better">✓ Every agent was benchmarked in this time.</p>}
              />
            </>
          )
        }
      </Show>
      {coverage.data && coverage.data.agents > 0 && (
        <>
          <h2>How benchmarking itself does</h2>
          <SuccessFigures days={days} />
        </>
      )}
    </>
  );
}
