import { useCallback, useMemo } from "react";
import type { ReactElement } from "react";
import type { Items } from "../../api/types";
import { Chart, CommandHint, Empty, Select, Show, Table, shellWord } from "../../components";
import type { Column } from "../../components";
import { UNKNOWN, duration, number, percent } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link, setQuery, useQueryParam } from "../../router";
import type { Palette } from "../../theme";
import { CURVES, curveOption } from "./curves";
import type { Curve, StressPoint, StressResult } from "./curves";

export const title = "Stress";

function largest(points: readonly StressPoint[], field: "throughput_per_s" | "error_rate" | "p99_s"): number | null {
  const known = points.map((point) => point[field]).filter((value): value is number => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}

function breakText({ breaking_point: point, points }: StressResult): string {
  const most = points.length === 0 ? null : Math.max(...points.map(({ load }) => load));
  return point === null ? `not reached${most === null ? "" : ` up to ${number(most)}`}` : number(point);
}

const COLUMNS: readonly Column<StressResult>[] = [
  {
    key: "scenario",
    label: "Scenario",
    value: (row) => row.scenario,
    render: (row) =>
      row.run_id ? <Link to={`/runs/${encodeURIComponent(row.run_id)}`}>{row.scenario}</Link> : row.scenario,
  },
  { key: "break", label: "Breaking point", align: "right", value: (row) => row.breaking_point, render: breakText },
  {
    key: "throughput",
    label: "Most throughput",
    align: "right",
    first: "descending",
    value: (row) => largest(row.points, "throughput_per_s"),
    render: (row) => CURVES.throughput.format(largest(row.points, "throughput_per_s")),
  },
  {
    key: "unloaded",
    label: "p50 at the lowest load",
    align: "right",
    value: (row) => row.points[0]?.p50_s,
    render: (row) => duration(row.points[0]?.p50_s),
  },
  {
    key: "p99",
    label: "Worst p99",
    align: "right",
    first: "descending",
    value: (row) => largest(row.points, "p99_s"),
    render: (row) => duration(largest(row.points, "p99_s")),
  },
  {
    key: "errors",
    label: "Most errors",
    align: "right",
    first: "descending",
    value: (row) => largest(row.points, "error_rate"),
    render: (row) => percent(largest(row.points, "error_rate")),
  },
];

function CurveChart({ results, curve }: { results: readonly StressResult[]; curve: Curve }): ReactElement {
  const option = useCallback((colours: Palette) => curveOption(results, curve, colours), [results, curve]);
  const { title: name, lines, format } = CURVES[curve];
  const rows = results.flatMap((result) =>
    result.points.map((point) => [
      result.scenario,
      number(point.load),
      ...lines.map(({ field }) => format(point[field])),
    ]),
  );
  return (
    <Chart
      title={name}
      description={results.map((result) => `${result.scenario}: breaking point ${breakText(result)}.`).join(" ")}
      option={option}
      table={{ columns: ["Scenario", "Load", ...lines.map(({ field }) => field)], rows }}
      height={300}
    />
  );
}

/** Latency, throughput and errors of one target under load, a curve per scenario, with the load that breaks it. */
export function StressTestResults({ results }: { results: readonly StressResult[] }): ReactElement {
  return (
    <>
      <Table caption="Scenarios" columns={COLUMNS} rows={results} rowKey={(row) => row.scenario} />
      <CurveChart results={results} curve="latency" />
      <div className="columns">
        <CurveChart results={results} curve="throughput" />
        <CurveChart results={results} curve="errors" />
      </div>
    </>
  );
}

function Results({ items }: { items: readonly StressResult[] }): ReactElement {
  const targets = [...new Set(items.map((item) => item.target))];
  const [target] = useQueryParam("target", targets[0] ?? "");
  const [scenario, setScenario] = useQueryParam("scenario");
  const ofTarget = useMemo(() => items.filter((item) => item.target === target), [items, target]);
  const shown = useMemo(() => ofTarget.filter((item) => !scenario || item.scenario === scenario), [ofTarget, scenario]);
  return (
    <>
      <CommandHint
        command={`dyno load ${shellWord(target || "TARGET")}${scenario ? ` --scenario ${shellWord(scenario)}` : ""}`}
      />
      <div className="fields">
        <Select
          label="Target"
          value={target}
          options={targets}
          onChange={(value) => setQuery({ target: value, scenario: "" })}
        />
        <Select
          label="Scenario"
          value={scenario}
          options={[["", "all"], ...new Set(ofTarget.map((item) => item.scenario))]}
          onChange={setScenario}
        />
      </div>
      {shown.length === 0 ? (
        <p className="muted">There is no such stress test of {target || UNKNOWN}.</p>
      ) : (
        <StressTestResults results={shown} />
      )}
    </>
  );
}

export default function Page(): ReactElement {
  const stress = useResource<Items<StressResult>>("/api/stress");
  return (
    <>
      <h1>Stress tests</h1>
      <Show of={stress}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No stress test has been run yet.">
              <p>
                When one has, latency, throughput and errors under each load and the load that breaks a target are shown
                here.
              </p>
            </Empty>
          ) : (
            <Results items={items} />
          )
        }
      </Show>
    </>
  );
}
