import { useCallback, useEffect, useMemo } from "react";
import type { ReactElement } from "react";
import type { RunCourse } from "../../../api/answers";
import { Chart, Empty } from "../../../components";
import type { ChartOption } from "../../../components";
import { count, duration, money, percent } from "../../../format";
import { useResource } from "../../../hooks/useResource";
import type { Palette } from "../../../palette";
import { Link } from "../../../router";
import { CancelButton } from "../../../shared/CancelButton";
import { ProgressPanel } from "../../../shared/ProgressView";
import { api, jobAddress, shortId } from "../../../shared/paths";
import { useJob } from "../../../shared/useJob";
import { useMayRun } from "../../../shared/useMayRun";
import { courseLines } from "./course";
import type { CourseChart } from "./course";

const LIVE_MS = 2000;

function optionFor(chart: CourseChart, colours: Palette): ChartOption {
  return {
    legend: chart.lines.length > 1 ? { top: 0 } : { show: false },
    tooltip: { trigger: "axis" },
    grid: { left: 12, right: 16, top: 30, bottom: 28, containLabel: true },
    xAxis: { type: "value", name: "executions", nameLocation: "middle", nameGap: 26, splitLine: { show: false } },
    yAxis: { type: "value", min: 0, ...(chart.most === null ? {} : { max: chart.most }), axisLabel: { formatter: chart.format } },
    series: chart.lines.map((line, index) => ({
      name: line.name,
      type: "line",
      showSymbol: false,
      itemStyle: { color: colours.series[index] },
      lineStyle: { width: 2, type: index > 0 ? "dashed" : "solid" },
      data: chart.done.map((done, place) => [done, line.values[place] ?? null]),
      tooltip: { valueFormatter: (value: unknown) => chart.format(typeof value === "number" ? value : null) },
    })),
  };
}

function CourseLine({ chart }: { chart: CourseChart }): ReactElement {
  const option = useCallback((colours: Palette) => optionFor(chart, colours), [chart]);
  const last = chart.lines.map((line) => `${line.name} ${chart.format(line.values.at(-1) ?? null)}`).join(", ");
  return (
    <Chart
      title={chart.title}
      description={`After ${count(chart.done.at(-1) ?? 0)} executions: ${last}.`}
      option={option}
      height={200}
      table={{
        columns: ["Executions", ...chart.lines.map((line) => line.name)],
        rows: chart.done.map((done, place) => [count(done), ...chart.lines.map((line) => chart.format(line.values[place] ?? null))]),
      }}
    />
  );
}

/** Pass rate, latency and cost so far, one point after the other. */
function Course({ course }: { course: RunCourse }): ReactElement | null {
  const charts = useMemo(() => courseLines(course.points), [course.points]);
  if (course.points.length < 2) return null;
  return (
    <div className="columns">
      {charts.map((chart) => (
        <CourseLine key={chart.title} chart={chart} />
      ))}
    </div>
  );
}

function Told({ course }: { course: RunCourse }): ReactElement {
  const last = course.points.at(-1);
  return (
    <p role="status">
      {count(last?.done ?? 0)} of {count(course.planned)} executions
      {last && `, ${percent(last.passed / last.done, 0)} passed, ${duration(last.median_s)} each`}
      {last?.cost_usd != null && `, ${money(last.cost_usd)} so far`}. A process on this machine executes it.
    </p>
  );
}

/** A run that goes on: its charts as they grow, its job and how to cancel it. Asked again until it ends. */
export function Live({ runId, load, onEnd }: { runId: string; load: boolean; onEnd: () => void }): ReactElement | null {
  const { data: course } = useResource<RunCourse>(api("runs", runId, "progress"), { everyMs: LIVE_MS });
  const mayRun = useMayRun() === true;
  const { job, replace } = useJob(course?.job_id || null);
  const ended = course !== undefined && course.status !== "running";
  useEffect(() => {
    if (ended) onEnd();
  }, [ended, onEnd]);
  if (!course || ended) return null;
  return (
    <section aria-label="How it goes on">
      {job && (
        <>
          <ProgressPanel job={job} />
          <p className="row">
            <Link to={jobAddress(job.job_id)}>The job of this run</Link>
            {mayRun && <CancelButton job={job} onCancelled={replace} />}
          </p>
        </>
      )}
      {!job && course.executed && !load && <Told course={course} />}
      {!load && <Course course={course} />}
      {!course.executed && (
        <Empty
          title="Nobody executes it on this machine: it goes on elsewhere, or its process has ended. To go on with it here:"
          command={`dyno resume ${shortId(runId)}`}
        />
      )}
    </section>
  );
}
