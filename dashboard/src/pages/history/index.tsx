import { useCallback } from "react";
import type { ReactElement } from "react";
import type { History, HistoryPoint, HistorySubjects } from "../../api/answers";
import { Chart, CommandHint, Empty, Show, shellWord } from "../../components";
import type { ChartClick } from "../../components";
import { UNKNOWN, dateTime, plural } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, address, navigate, useRoute } from "../../router";
import type { Palette } from "../../palette";
import { casesText } from "../../shared/cases";
import { Against } from "./Against";
import { ChangesTable } from "./Changes";
import { Choices } from "./Choices";
import type { Chosen } from "./Choices";
import { changeText, direction, intervalText, shown, standing, timelineOption } from "./timeline";

export const title = "History";

function commandFor(chosen: Chosen): string {
  const options = (["metric", "suite", "benchmark", "days"] as const)
    .filter((name) => chosen[name])
    .map((name) => ` --${name} ${shellWord(chosen[name])}`);
  const partial = chosen.partial === "yes" ? " --include-partial" : "";
  return `dyno history ${chosen.subject ? shellWord(chosen.subject) : "AGENT"}${options.join("")}${partial}`;
}

function describe(history: History): string {
  const newest = history.points[history.points.length - 1];
  const last = history.changes[history.changes.length - 1];
  const parts = [
    `${plural(history.points.length, "run")}, the newest at ${shown(newest?.value ?? null, history)}.`,
    `${plural(history.changes.filter((change) => direction(change) === "worse").length, "regression")} and ` +
      `${plural(history.changes.filter((change) => direction(change) === "better").length, "improvement")}.`,
  ];
  if (last) parts.push(`The last change is a ${changeText(last, history)}.`);
  return parts.join(" ");
}

/** Points per run and version with the levels between changes. A point leads to its run. */
export function BenchmarkTimelineChart({ history }: { history: History }): ReactElement {
  const option = useCallback((colours: Palette) => timelineOption(history, colours), [history]);
  const open = (click: ChartClick): void => {
    const point = (click.data as { point?: HistoryPoint } | null)?.point;
    if (point?.run_id) navigate(`/runs/${point.run_id}`);
  };
  const rows = history.points.toReversed().map((point) => [
    point.run_id ? (
      <Link key="run" to={`/runs/${point.run_id}`}>
        {dateTime(point.at)}
      </Link>
    ) : (
      dateTime(point.at)
    ),
    `${shown(point.value, history)}${intervalText(point, history)}`,
    casesText(point) || UNKNOWN,
    point.form || "whole",
    point.version || UNKNOWN,
    point.commit ? point.commit.slice(0, 12) : UNKNOWN,
    String(point.n),
  ]);
  return (
    <Chart
      title={`${history.metric} of ${history.subject}${history.benchmark ? ` in ${history.benchmark}` : ""}`}
      description={describe(history)}
      option={option}
      table={{ columns: ["Run", history.metric, "Of cases", "Form", "Version", "Commit", "Executions"], rows }}
      height={420}
      onClick={open}
    >
      <p className="muted">
        {history.higher_is_better === null ? "" : history.higher_is_better ? "Higher is better. " : "Lower is better. "}
        ▲ improvement, ▼ regression, dashed: provisional. Drag the bar below, or Shift and the wheel, to zoom; a point
        leads to its run.
      </p>
    </Chart>
  );
}

function Subjects({ subjects }: { subjects: HistorySubjects }): ReactElement {
  if (subjects.agents.length + subjects.experiments.length === 0) {
    return (
      <Empty
        title="How a metric went from run to run, and since which version it is worse, is drawn here. To measure for the first time:"
        command="dyno init && dyno run suites/first.yaml"
      />
    );
  }
  return (
    <section className="panel">
      <h2>Whose history?</h2>
      <ul>
        {subjects.agents.map((name) => (
          <li key={name} data-row tabIndex={-1}>
            <Link to={address("/history", { subject: name })}>{name}</Link>
          </li>
        ))}
        {subjects.experiments.map(({ experiment, arms }) => (
          <li key={experiment} data-row tabIndex={-1}>
            {arms.length > 1 && `${experiment}: `}
            <ArmLinks arms={arms} />
          </li>
        ))}
      </ul>
    </section>
  );
}

type Arms = HistorySubjects["experiments"][number]["arms"];

function ArmLinks({ arms }: { arms: Arms }): ReactElement {
  return (
    <>
      {arms.map((arm, index) => (
        <span key={arm.name}>
          {index > 0 && ", "}
          <Link to={address("/history", { subject: arm.name })}>{arm.label}</Link>
        </span>
      ))}
    </>
  );
}

/** An experiment has a history for each of its arms. */
function WhichArm({ experiment, arms }: { experiment: string; arms: Arms }): ReactElement {
  return (
    <Empty title={`${experiment} has ${plural(arms.length, "arm")}, each with a history of its own.`}>
      <p>
        <ArmLinks arms={arms} />
      </p>
    </Empty>
  );
}

export default function Page(): ReactElement {
  const { query } = useRoute();
  const read = (name: string): string => query.get(name) ?? "";
  const chosen: Chosen = {
    subject: read("subject"),
    metric: read("metric"),
    suite: read("suite") || read("suite_id"),
    benchmark: read("benchmark"),
    days: read("days"),
    partial: read("partial"),
  };
  const { subject, metric, suite, benchmark, days } = chosen;
  const include_partial = chosen.partial === "yes" ? "true" : "";
  const subjects = useResource<HistorySubjects>("/api/history-subjects");
  const experiment = subjects.data?.experiments.find((item) => item.experiment === subject);
  // A name may be an experiment's and that of one of its arms: then the arm is meant.
  const several = experiment && experiment.arms.length > 1 ? experiment : undefined;
  const asked = subject && subjects.data && !several ? address("/api/history", { subject, metric, suite_id: suite, benchmark, days, include_partial }) : null;
  const history = useResource<History>(asked);
  return (
    <>
      <div className="page-head">
        <h1>History{subject && ` of ${subject}`}</h1>
        <CommandHint command={commandFor(chosen)} />
      </div>
      <Choices chosen={chosen} shownMetric={history.data?.metric ?? ""} subjects={subjects.data} />
      {!subject && <Show of={subjects}>{(data) => <Subjects subjects={data} />}</Show>}
      {several && <WhichArm {...several} />}
      {subject && !several && (
        <Show of={history}>
          {(data) =>
            data.points.length === 0 ? (
              <Empty
                title={data.note || `There is no result of ${subject} for this yet.`}
                command={`dyno run SUITE --agent ${shellWord(subject)}`}
              />
            ) : (
              <>
                <BenchmarkTimelineChart history={data} />
                <p>{standing(data)}</p>
                <Against subject={subject} suite={suite} />
                {data.note && <p className="muted">{data.note}</p>}
                <h2>Changes of level</h2>
                <ChangesTable history={data} suite={suite} />
                <p>
                  <Link to={address("/alerts", { agent: subject, suite })}>Alerts of {subject}</Link>
                </p>
              </>
            )
          }
        </Show>
      )}
    </>
  );
}
