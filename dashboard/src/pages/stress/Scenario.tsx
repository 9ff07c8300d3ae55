import { useCallback } from "react";
import type { ReactElement } from "react";
import type { ScenarioReport } from "../../api/answers";
import { Chart } from "../../components";
import { count, number, plural } from "../../format";
import { Facts, factsOf } from "../../shared/Facts";
import type { Fact } from "../../shared/Facts";
import { Warnings } from "../../shared/Warnings";
import type { Palette } from "../../palette";
import { curveOption, drawn } from "./curves";
import type { Axis, Curve } from "./curves";
import { figureName, figureText, limitText, objectiveValue, plainName, verdictText } from "./words";

function CurveChart({ report, curve, axis }: { report: ScenarioReport; curve: Curve; axis: Axis }): ReactElement {
  const option = useCallback(
    (colours: Palette) => curveOption(report, curve, axis, colours),
    [report, curve, axis],
  );
  const { title, x, lines, format } = drawn(report, curve, axis);
  const most = lines.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    return `${name} at most ${known.length === 0 ? "unknown" : format(Math.max(...known))}`;
  });
  return (
    <Chart
      title={`${title}: ${plainName(report.scenario)}`}
      description={`${plural(x.length, axis === "time" ? "window" : "level")}; ${most.join(", ")}. ${verdictText(report)}.`}
      option={option}
      table={{
        columns: [axis === "time" ? "Second" : "Level", ...lines.map((line) => line.name)],
        rows: x.map((at, place) => [number(at), ...lines.map((line) => format(line.values[place] ?? null))]),
      }}
      height={curve === "latency" ? 280 : 220}
    />
  );
}

/** Points that make a curve. */
const FEWEST: Record<Axis, number> = { time: 2, level: 3 };

/** Left out where too little was measured on that axis. */
function Curves({ report, axis }: { report: ScenarioReport; axis: Axis }): ReactElement | null {
  if ((axis === "time" ? report.over_time : report.curve).length < FEWEST[axis]) return null;
  return (
    <>
      <CurveChart report={report} curve="latency" axis={axis} />
      <div className="columns">
        <CurveChart report={report} curve="rate" axis={axis} />
        <CurveChart report={report} curve="errors" axis={axis} />
      </div>
    </>
  );
}

function outcomes(report: ScenarioReport): string {
  return Object.entries(report.outcomes)
    .filter(([, n]) => n > 0)
    .map(([outcome, n]) => `${count(n)} ${outcome.replaceAll("_", " ")}`)
    .join(", ");
}

function objectives(report: ScenarioReport): Fact[] {
  return Object.entries(report.objectives).map(([name, [value, met]]) => [
    name,
    <span key={name} className={met === null ? "muted" : met ? "verdict-better" : "verdict-worse"}>
      {objectiveValue(name, value)}{" "}
      {met === null ? "not judged" : met ? "✓ met" : "✕ missed"}
    </span>,
  ]);
}

function law({ law: fit }: ScenarioReport): string | null {
  if (!fit) return null;
  const range = fit.contention_interval ? ` [${fit.contention_interval.map((end) => number(end)).join(", ")}]` : "";
  const peak = fit.peak === null ? "no peak" : `most throughput at ${number(fit.peak)} at once`;
  return `${fit.law}: contention ${number(fit.contention)}${range}, coherency ${number(fit.coherency)}, ${peak}`;
}

/** Whether what was measured is a property of the target. */
export function ClientLimited({ report }: { report: ScenarioReport }): ReactElement | null {
  if (!report.client_limited) return null;
  return (
    <span className="badge verdict-inconclusive" title={report.client_reason}>
      <span aria-hidden="true">!</span> client-limited
    </span>
  );
}

/** One scenario: what became of it, its curves over time and by level, and its own figures. */
export function Scenario({ report }: { report: ScenarioReport }): ReactElement {
  const { headline, figures } = report;
  const figureFacts = (values: Record<string, number | null>): Fact[] =>
    Object.entries(values)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [figureName(name), figureText(name, value)]);
  return (
    <section aria-label={plainName(report.scenario)}>
      <h2>
        {plainName(report.scenario)}{" "}
        <span className={report.broke ? "verdict-worse" : "muted"}>{verdictText(report)}</span>{" "}
        <ClientLimited report={report} />{" "}
        {report.closed_loop && <span className="badge">closed loop</span>}
      </h2>
      {report.description && <p>{report.description}</p>}
      {report.client_limited && (
        <p className="verdict-inconclusive">
          The client could not send what was asked, so the figures beyond that point say nothing about the target
          {report.client_reason && `: ${report.client_reason}`}.
        </p>
      )}
      <Facts
        facts={[
          !report.client_limited && [
            "Limited by",
            `${limitText(report.limited_by)}${report.evidence ? `: ${report.evidence}` : ""}`,
          ],
          ["Requests", `${count(report.requests)} of ${count(report.asked)} asked, ${count(report.late)} late, ${count(report.unsent)} not sent`],
          ["Ended", outcomes(report)],
          ...objectives(report),
          ...figureFacts(headline),
          ...figureFacts(figures),
          ["Scaling", law(report)],
        ]}
      />
      <Warnings warnings={report.warnings.filter(({ code }) => code !== "client-limited")} />
      <Curves report={report} axis="time" />
      <Curves report={report} axis="level" />
      {Object.keys(report.parameters).length > 0 && (
        <details>
          <summary>Parameters</summary>
          <Facts facts={factsOf(report.parameters)} />
        </details>
      )}
    </section>
  );
}
