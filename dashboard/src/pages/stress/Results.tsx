import type { ReactElement } from "react";
import type { ScenarioReport, StressReport } from "../../api/answers";
import { Table } from "../../components";
import type { Column } from "../../components";
import { UNKNOWN, count, dateTime, number, percent } from "../../format";
import { Link, address } from "../../router";
import { runAddress } from "../../shared/paths";
import { ClientLimited, Scenario } from "./Scenario";
import { axisName, breakText, limitText, objectiveText, plainName, verdictText } from "./words";

function errorShare(report: ScenarioReport): number | null {
  const ended = Object.values(report.outcomes).reduce((sum, n) => sum + n, 0);
  return ended > 0 ? 1 - (report.outcomes["ok"] ?? 0) / ended : null;
}

function columns(link: (scenario: string) => string): Column<ScenarioReport>[] {
  return [
    {
      key: "scenario",
      label: "Scenario",
      value: (row) => row.scenario,
      render: (row) => <Link to={link(row.scenario)}>{plainName(row.scenario)}</Link>,
    },
    {
      key: "ended",
      label: "What became of it",
      value: (row) => row.breaking_point?.value,
      render: (row) => (
        <span>
          <span className={row.broke ? "verdict-worse" : undefined}>{verdictText(row)}</span>{" "}
          <ClientLimited report={row} />
        </span>
      ),
    },
    { key: "limit", label: "Limited by", value: (row) => row.limited_by, render: (row) => limitText(row.limited_by) },
    {
      key: "score",
      label: "Score",
      align: "right",
      first: "descending",
      title: "0 to 100",
      value: (row) => row.score,
      render: (row) => number(row.score),
    },
    {
      key: "requests",
      label: "Requests",
      align: "right",
      first: "descending",
      value: (row) => row.requests,
      render: (row) => count(row.requests),
    },
    {
      key: "errors",
      label: "Errors",
      align: "right",
      first: "descending",
      value: errorShare,
      render: (row) => percent(errorShare(row)),
    },
  ];
}

function Summary({ report }: { report: StressReport }): ReactElement {
  const limits = Object.entries(report.scaling_limits);
  return (
    <ul className="cards" aria-label="Summary">
      <li className="card">
        <span className="card-value">{report.resilience_score === null ? UNKNOWN : number(report.resilience_score)}</span>
        <span className="card-label">resilience, of 100</span>
      </li>
      {limits.map(([axis, point]) => (
        <li className="card" key={axis}>
          <span className="card-value">{breakText(point).split(" ")[0]}</span>
          <span className="card-label">
            {axisName(axis)} break it{point.objective && `: ${point.objective} is missed`}
            {point.interval && ` (between ${number(point.interval[0])} and ${number(point.interval[1])})`}
          </span>
        </li>
      ))}
      <li className="card">
        <span className="card-label">
          <Link to={runAddress(report.run_id)}>The run</Link>
          {report.finished_at !== null && ` of ${dateTime(report.finished_at)}`}
          {report.simulated && <span className="badge">simulated</span>}
          <br />
          {report.objectives.length > 0 && `Objectives: ${report.objectives.map(objectiveText).join(", ")}`}
        </span>
      </li>
    </ul>
  );
}

function Advice({ report }: { report: StressReport }): ReactElement | null {
  if (report.recommendations.length === 0) return null;
  return (
    <section>
      <h2>What to do</h2>
      <ul>
        {report.recommendations.map((item) => (
          <li key={`${item.scenario} ${item.text}`}>
            <strong>{item.text}</strong> <span className="badge">{item.priority}</span>
            <br />
            <span className="muted">
              {plainName(item.scenario)}: {item.evidence.replace(`${item.scenario}: `, "")}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Latency, rates and errors of one target under load, scenario by scenario, and the load that breaks it. */
export function StressTestResults({ report, scenario }: { report: StressReport; scenario: string }): ReactElement {
  const shown = report.scenarios.filter((item) => scenario === "" || item.scenario === scenario);
  const link = (name: string): string => address("/stress", { run: report.run_id, scenario: name });
  return (
    <>
      <Summary report={report} />
      <Table caption="Scenarios" columns={columns(link)} rows={report.scenarios} rowKey={(row) => row.scenario} />
      <Advice report={report} />
      {shown.map((item) => (
        <Scenario key={item.scenario} report={item} />
      ))}
    </>
  );
}
