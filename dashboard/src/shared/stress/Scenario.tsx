import { useCallback } from "react";
import type { ReactElement } from "react";
import type { ScenarioReport } from "../../api/answers";
import { Chart, Fold } from "../../components";
import { count, number, plural } from "../../format";
import { Facts, factsOf } from "../Facts";
import type { Fact } from "../Facts";
import { Warnings } from "../Warnings";
import type { Palette } from "../../palette";
import { curveOption, drawn } from "./curves";
import type { Axis, Shown } from "./curves";
import { figureName, figureText, limitSentence, objectiveValue, plainName, verdictText } from "./words";

function CurveChart({ report, curve, axis, objectives }: Shown): ReactElement {
  const option = useCallback(
    (colours: Palette) => curveOption({ report, curve, axis, objectives }, colours),
    [report, curve, axis, objectives],
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
function Curves({ report, axis, objectives }: Omit<Shown, "curve">): ReactElement | null {
  if ((axis === "time" ? report.over_time : report.curve).length < FEWEST[axis]) return null;
  return (
    <>
      <CurveChart report={report} curve="latency" axis={axis} objectives={objectives} />
      <div className="columns">
        <CurveChart report={report} curve="rate" axis={axis} objectives={objectives} />
        <CurveChart report={report} curve="errors" axis={axis} objectives={objectives} />
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

export function Objective({ name, value, met }: { name: string; value: number | null; met: boolean | null }): ReactElement {
  return (
    <span className={met === null ? "muted" : met ? "verdict-better" : "verdict-worse"}>
      {objectiveValue(name, value)} {met === null ? "not judged" : met ? "✓ met" : "✕ missed"}
    </span>
  );
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

/** Groups of figures in the order in which they are read; what a group has said, a later one does not say again. */
function groups(report: ScenarioReport): [title: string, facts: Fact[]][] {
  const judged = new Set(Object.keys(report.objectives).flatMap((name) => [name, `${name}_s`]));
  const figures = Object.entries({ ...report.headline, ...report.figures }).filter(
    ([name, value]) => value !== null && !judged.has(name),
  );
  const isTime = (name: string): boolean => name in report.headline && name.endsWith("_s") && !name.endsWith("_per_s");
  const isRate = (name: string): boolean => name in report.headline && !isTime(name);
  const told = (wanted: (name: string) => boolean): Fact[] =>
    figures.filter(([name]) => wanted(name)).map(([name, value]) => [figureName(name), figureText(name, value)]);
  return [
    [
      "Objectives",
      Object.entries(report.objectives).map(([name, [value, met]]) => [name, <Objective key={name} name={name} value={value} met={met} />]),
    ],
    [
      "Requests",
      [
        ["sent", `${count(report.requests)} of ${count(report.asked)} asked`],
        ["late", report.late > 0 && count(report.late)],
        ["not sent", report.unsent > 0 && count(report.unsent)],
        ["ended", outcomes(report)],
      ],
    ],
    ["Rates", told(isRate)],
    ["Times", told(isTime)],
    ["Of this scenario", [...told((name) => !(name in report.headline)), ["scaling", law(report)]]],
  ];
}

/** One scenario: what became of it, its curves over time and by level, then its own figures. */
export function Scenario({ report, objectives }: { report: ScenarioReport; objectives: Shown["objectives"] }): ReactElement {
  return (
    <section aria-label={plainName(report.scenario)}>
      <h2>
        {plainName(report.scenario)}{" "}
        <span className={report.broke ? "verdict-worse" : "muted"}>{verdictText(report)}</span>{" "}
        <ClientLimited report={report} />{" "}
        {report.closed_loop && <span className="badge">closed loop</span>}
      </h2>
      {report.description && <p className="muted">{report.description}</p>}
      {report.client_limited ? (
        <p className="verdict-inconclusive">
          The client could not send what was asked, so the figures beyond that point say nothing about the target
          {report.client_reason && `: ${report.client_reason}`}.
        </p>
      ) : (
        <p>
          {limitSentence(report.limited_by, report.evidence)}
        </p>
      )}
      <Curves report={report} axis="time" objectives={objectives} />
      <Curves report={report} axis="level" objectives={objectives} />
      <div className="fact-groups">
        {groups(report)
          .filter(([, facts]) => facts.some(([, value]) => value !== null && value !== false && value !== ""))
          .map(([title, facts]) => (
            <div key={title}>
              <h3>{title}</h3>
              <Facts facts={facts} />
            </div>
          ))}
      </div>
      <Warnings warnings={report.warnings.filter(({ code }) => code !== "client-limited")} />
      {Object.keys(report.parameters).length > 0 && (
        <Fold name={`${report.scenario}-parameters`} summary="Parameters">
          <Facts facts={factsOf(report.parameters)} />
        </Fold>
      )}
    </section>
  );
}
