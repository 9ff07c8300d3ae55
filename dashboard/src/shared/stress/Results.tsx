import type { ReactElement } from "react";
import type { ScenarioReport, StressReport } from "../../api/answers";
import { Table } from "../../components";
import type { Column } from "../../components";
import { UNKNOWN, count, dateTime, number, percent, plural } from "../../format";
import { Link, address } from "../../router";
import { runAddress } from "../paths";
import { ClientLimited, Scenario } from "./Scenario";
import { axisName, levelText, limitText, objectiveText, plainName, verdictText } from "./words";

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

/** Whether every objective of every scenario was met; null where none could be judged. */
export function allMet(report: StressReport): boolean | null {
  const found = report.scenarios.flatMap((item) => Object.values(item.objectives).map(([, met]) => met));
  if (found.includes(false)) return false;
  return found.includes(true) ? true : null;
}

const MET = new Map<boolean | null, [text: string, className: string]>([
  [true, ["✓ met", "card-value verdict-better"]],
  [false, ["✕ missed", "card-value verdict-worse"]],
  [null, ["not judged", "card-value"]],
]);

/** First of all: were the objectives met, how much does it stand, what stopped it. */
function Summary({ report }: { report: StressReport }): ReactElement {
  const limits = Object.entries(report.scaling_limits);
  const judged = report.scenarios.filter((item) => item.score !== null).length;
  const stopped = [...new Set(report.scenarios.map((item) => item.limited_by).filter((limit) => limit !== "nothing"))];
  const [met, metClass] = MET.get(allMet(report)) ?? ["", ""];
  const asked = report.objectives.length > 0 ? report.objectives.map(objectiveText).join(", ") : "the usual objectives";
  const among = judged < report.scenarios.length ? ` in ${judged} of ${plural(report.scenarios.length, "scenario")}` : "";
  return (
    <ul className="cards" aria-label="Summary">
      <li className="card">
        <span className={metClass}>{met}</span>
        <span className="card-label">
          {asked}
          {among}
          {limits.length > 0 && ", below the limit beside"}
        </span>
      </li>
      {limits.map(([axis, point]) => (
        <li className="card" key={axis}>
          <span className="card-value">{levelText(point.value, axis)}</span>
          <span className="card-label">
            {axisName(axis)} break it{point.objective && `: ${point.objective} is missed`}
            {point.interval && ` (between ${levelText(point.interval[0], axis)} and ${levelText(point.interval[1], axis)})`}
          </span>
        </li>
      ))}
      {limits.length === 0 && (
        <li className="card">
          <span className="card-value">no limit found</span>
          <span className="card-label">up to what was asked</span>
        </li>
      )}
      <li className="card">
        <span className="card-value">{stopped.length === 0 ? "nothing" : stopped.map((limit) => limit.replaceAll("_", " ")).join(", ")}</span>
        <span className="card-label">limited it</span>
      </li>
      <li className="card">
        <span className="card-value">{report.resilience_score === null ? UNKNOWN : number(report.resilience_score)}</span>
        <span className="card-label">
          resilience, of 100, from {judged} of {plural(report.scenarios.length, "scenario")}
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

/** One target under load: the summary, then scenario by scenario its curves and its figures. `onRun` is on the page of the run. */
export function StressTestResults({ report, scenario, onRun = false }: { report: StressReport; scenario: string; onRun?: boolean }): ReactElement {
  const shown = report.scenarios.filter((item) => scenario === "" || item.scenario === scenario);
  const link = (name: string): string => onRun ? address(runAddress(report.run_id), { scenario: name }) : address("/stress", { run: report.run_id, scenario: name });
  return (
    <>
      <Summary report={report} />
      {(!onRun || report.simulated) && (
        <p className="muted">
          {!onRun && (
            <>
              <Link to={runAddress(report.run_id)}>The run</Link>
              {report.finished_at !== null && ` of ${dateTime(report.finished_at)}`}
            </>
          )}{" "}
          {report.simulated && <span className="badge">simulated</span>}
        </p>
      )}
      {report.scenarios.length > 1 && (
        <Table caption="Scenarios" columns={columns(link)} rows={report.scenarios} rowKey={(row) => row.scenario} compact={["scenario", "ended"]} />
      )}
      {shown.map((item) => (
        <Scenario key={item.scenario} report={item} objectives={report.objectives} />
      ))}
      <Advice report={report} />
    </>
  );
}
