import { useMemo } from "react";
import type { ReactElement } from "react";
import type { ConfigurationRow, CostReport, CostRow, Opportunity } from "../../api/answers";
import { Fold, Table } from "../../components";
import type { Column } from "../../components";
import { UNKNOWN, asText, count, duration, moneyColumn, moneySum, number, percent, plural, points } from "../../format";
import type { MoneyColumn } from "../../format";
import { Link } from "../../router";
import { AgentLabel } from "../../shared/AgentLabel";
import { agentAddress, nameOf } from "../../shared/paths";

function frontier(on: boolean | null, share: number | null): string {
  if (on === null) return UNKNOWN;
  return `${on ? "✓ yes" : "no"}${share === null ? "" : ` (${percent(share, 0)})`}`;
}

function PerSuccess({ row, unit }: { row: CostRow; unit: MoneyColumn }): ReactElement {
  const { cost_per_success_usd: cost, cost_interval: range } = row;
  if (row.never_succeeded) return <>never succeeded</>;
  return (
    <>
      {unit.text(cost)}
      {cost !== null && range && (
        <span className="interval">
          {" "}
          [{unit.text(range[0])}, {unit.text(range[1])}]
        </span>
      )}
    </>
  );
}

/** Of how many tasks tokens are known, where not of all of them. */
function Tokens({ row }: { row: CostRow }): ReactElement {
  if (row.total_tokens !== null || row.known_tokens === null) return <>{count(row.total_tokens)}</>;
  return (
    <span title={`Tokens of ${count(row.counted)} of ${count(row.tasks)} tasks are known`}>
      {count(row.known_tokens)} <span className="muted">of {count(row.counted)}/{count(row.tasks)} tasks</span>
    </span>
  );
}

/** All costs of a column are of so many tasks, which its heading says. */
function agentsOf(rows: readonly CostRow[]): readonly Column<CostRow>[] {
  const perTask = moneyColumn(rows.map((row) => row.cost_per_task_usd));
  const perSuccess = moneyColumn(rows.map((row) => row.cost_per_success_usd), "success");
  return [
    {
      key: "agent",
      label: "Agent",
      value: (row) => row.agent,
      render: (row) => (
        <span>
          <Link to={agentAddress(nameOf(row.agent))}>
            <AgentLabel label={row.agent} />
          </Link>
          {row.simulated && <span className="muted"> simulated</span>}
        </span>
      ),
    },
    {
      key: "task",
      label: `$ ${perTask.per}`,
      align: "right",
      value: (row) => row.cost_per_task_usd,
      render: (row) => perTask.text(row.cost_per_task_usd),
    },
    {
      key: "success",
      label: `$ ${perSuccess.per}`,
      align: "right",
      value: (row) => row.cost_per_success_usd,
      render: (row) => <PerSuccess row={row} unit={perSuccess} />,
    },
    {
      key: "accuracy",
      label: "Accuracy",
      align: "right",
      first: "descending",
      value: (row) => row.accuracy,
      render: (row) => points(row.accuracy),
    },
    {
      key: "latency",
      label: "Latency",
      align: "right",
      value: (row) => row.duration_s,
      render: (row) => duration(row.duration_s),
    },
    {
      key: "tokens",
      label: "Tokens",
      align: "right",
      value: (row) => row.known_tokens,
      render: (row) => <Tokens row={row} />,
    },
    {
      key: "value",
      label: "Performance per $",
      align: "right",
      first: "descending",
      value: (row) => row.performance_per_dollar,
      title: "accuracy × speed score, or accuracy alone, per dollar and task",
      render: (row) => <span title={row.performance}>{number(row.performance_per_dollar)}</span>,
    },
    {
      key: "frontier",
      label: "Accuracy frontier",
      value: (row) => row.accuracy_frontier_probability,
      first: "descending",
      render: (row) => frontier(row.on_accuracy_frontier, row.accuracy_frontier_probability),
    },
    {
      key: "fast",
      label: "Latency frontier",
      value: (row) => row.latency_frontier_probability,
      first: "descending",
      render: (row) => frontier(row.on_latency_frontier, row.latency_frontier_probability),
    },
  ];
}

const BENCHMARK: Column<CostRow> = { key: "benchmark", label: "Benchmark", value: (row) => row.benchmark, render: (row) => row.benchmark };

export function AgentCosts({
  rows,
  perBenchmark = false,
}: {
  rows: readonly CostRow[];
  perBenchmark?: boolean;
}): ReactElement {
  const columns = useMemo(() => agentsOf(rows), [rows]);
  return (
    <Table
      caption={perBenchmark ? "What each agent costs per benchmark" : "What each agent costs"}
      compact={["agent", "accuracy"]}
      columns={perBenchmark ? [BENCHMARK, ...columns] : columns}
      rows={rows}
      rowKey={(row) => `${row.benchmark}/${row.agent}`}
      sortParam={perBenchmark ? "benchmarks_sort" : "sort"}
    />
  );
}

function settings(configuration: Record<string, unknown>): string {
  return (
    Object.entries(configuration)
      .map(([name, value]) => `${name}=${asText(value)}`)
      .join(", ") || UNKNOWN
  );
}

export function Configurations({ report }: { report: CostReport }): ReactElement | null {
  if (report.configurations.length === 0) return null;
  const columns: Column<ConfigurationRow>[] = [
    { key: "agent", label: "Agent", value: (row) => row.agent, render: (row) => row.agent },
    { key: "configuration", label: "Configuration", render: (row) => settings(row.configuration) },
    {
      key: "efficiency",
      label: "Efficiency",
      align: "right",
      first: "descending",
      value: (row) => row.efficiency,
      render: (row) => `${number(row.efficiency, 2)}${row.optimal ? " ✓ optimal" : ""}`,
    },
    {
      key: "savings",
      label: `Savings for ${plural(report.volume, "task")}`,
      align: "right",
      first: "descending",
      value: (row) => row.savings_usd,
      render: (row) => (
        <>
          {moneySum(row.savings_usd)}
          {row.against && <div className="prose muted">against {row.against}</div>}
        </>
      ),
    },
    { key: "evidence", label: "Evidence", render: (row) => row.evidence || UNKNOWN },
  ];
  return (
    <>
      <h2>Configurations</h2>
      <Table
        caption="Configurations by what they give per dollar"
        columns={columns}
        rows={report.configurations}
        rowKey={(row, index) => `${row.agent} ${index}`}
        sortParam="configurations_sort"
      />
    </>
  );
}

function OpportunityItem({ item, volume }: { item: Opportunity; volume: number }): ReactElement {
  return (
    <li className="panel" data-row tabIndex={-1}>
      <p>
        <strong>{item.text}</strong>{" "}
        {item.savings_usd !== null && (
          <span className="badge verdict-better">
            saves {moneySum(item.savings_usd)} per {plural(volume, "task")}
          </span>
        )}
      </p>
      <ul className="muted">
        {item.evidence.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </li>
  );
}

const SHOWN = 5;

function OpportunityList({ items, volume }: { items: readonly Opportunity[]; volume: number }): ReactElement {
  return (
    <ul className="cost-opportunities">
      {items.map((item) => (
        <OpportunityItem key={`${item.kind} ${item.agent} ${item.text}`} item={item} volume={volume} />
      ))}
    </ul>
  );
}

/** What saves most first; the hints that every agent gets are behind them. */
export function Opportunities({ report }: { report: CostReport }): ReactElement {
  return (
    <>
      <h2>What could be saved</h2>
      {report.opportunities.length === 0 ? (
        <p className="muted">These results show nothing that could be saved.</p>
      ) : (
        <>
          <OpportunityList items={report.opportunities.slice(0, SHOWN)} volume={report.volume} />
          {report.opportunities.length > SHOWN && (
            <Fold name="opportunities" summary={`More that could be saved (${report.opportunities.length - SHOWN})`}>
              <OpportunityList items={report.opportunities.slice(SHOWN)} volume={report.volume} />
            </Fold>
          )}
        </>
      )}
    </>
  );
}
