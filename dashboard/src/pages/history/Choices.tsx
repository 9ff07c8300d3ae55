import { useId } from "react";
import type { ReactElement } from "react";
import type { HistorySubjects, MetricNames, SuiteItems, SuitePage } from "../../api/answers";
import { Filters, Select } from "../../components";
import { useResource } from "../../hooks/useResource";
import { address, setQuery } from "../../router";
import { DIMENSIONS } from "../../shared/dimensions";

/** Every agent and every arm of an experiment that has a history. */
function Subject({ value, subjects }: { value: string; subjects: HistorySubjects | undefined }): ReactElement {
  const id = useId();
  const experiments = subjects?.experiments ?? [];
  const known = [...(subjects?.agents ?? []), ...experiments.flatMap(({ arms }) => arms.map((arm) => arm.name))];
  // What was chosen for one subject need not exist for another.
  const pick = (subject: string): void => setQuery({ subject, metric: "", benchmark: "" }, { replace: false });
  return (
    <span className="field">
      <label htmlFor={id}>Agent or experiment</label>
      <select id={id} value={value} onChange={(event) => pick(event.target.value)}>
        {!known.includes(value) && <option value={value}>{value || "choose…"}</option>}
        <optgroup label="Agents">
          {(subjects?.agents ?? []).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </optgroup>
        {experiments.map(({ experiment, arms }) => (
          <optgroup key={experiment} label={`Experiment ${experiment}`}>
            {arms.map((arm) => (
              <option key={arm.name} value={arm.name}>
                {arm.label}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </span>
  );
}

export interface Chosen {
  subject: string;
  metric: string;
  suite: string;
  benchmark: string;
  days: string;
  /** "yes": also runs that were quick, limited or cut short. */
  partial: string;
}

interface ChoicesProps {
  chosen: Chosen;
  /** What the server took where no metric was chosen. */
  shownMetric: string;
  subjects: HistorySubjects | undefined;
}

const RUNS = [["", "whole runs"], ["yes", "quick and limited, too"]] as const;

/** What the page shows, chosen in the address. */
export function Choices({ chosen, shownMetric, subjects }: ChoicesProps): ReactElement {
  const suites = useResource<SuiteItems>("/api/suites");
  const known = useResource<MetricNames>(chosen.subject ? address("/api/metrics-known", { subject: chosen.subject }) : null);
  const suite = useResource<SuitePage>(chosen.suite ? `/api/suites/${encodeURIComponent(chosen.suite)}` : null);
  const names = known.data?.items ?? [];
  const metrics = names.length > 0 ? names : ["overall", ...DIMENSIONS, "pass_rate", "duration_s"];
  const benchmarks = suite.data?.benchmarks ?? [];
  return (
    <Filters label="Choose what is shown" open={!chosen.subject}>
      <Subject value={chosen.subject} subjects={subjects} />
      {chosen.subject && (
        <>
          <Select
            label="Metric"
            value={chosen.metric || shownMetric}
            options={metrics}
            onChange={(metric) => setQuery({ metric })}
          />
          <Select
            label="Suite"
            value={chosen.suite}
            options={[
              ["", "any"],
              ...(suites.data?.items ?? []).map((item) => [item.suite_id, item.name || item.suite_id] as const),
            ]}
            onChange={(value) => setQuery({ suite: value, benchmark: "" })}
          />
          {(benchmarks.length > 0 || chosen.benchmark) && (
            <Select
              label="Benchmark"
              value={chosen.benchmark}
              options={[
                ["", "all"],
                ...benchmarks.map((item) => [item.benchmark_id, item.name || item.benchmark_id] as const),
              ]}
              onChange={(benchmark) => setQuery({ benchmark })}
            />
          )}
          <Select
            label="Days"
            value={chosen.days}
            options={[["", "all"], "7", "30", "90", "365"]}
            onChange={(days) => setQuery({ days })}
          />
          <Select label="Runs" value={chosen.partial} options={RUNS} onChange={(partial) => setQuery({ partial })} />
        </>
      )}
    </Filters>
  );
}
