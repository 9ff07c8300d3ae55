import { useEffect, useId, useState } from "react";
import type { FormEvent, ReactElement } from "react";
import type { AgentItems, MetricNames, SuiteItems, SuitePage } from "../../api/answers";
import { Select } from "../../components";
import { useResource } from "../../hooks/useResource";
import { address, setQuery } from "../../router";
import { DIMENSIONS } from "../../shared/dimensions";

/** The name of an agent or of an experiment. Any name may be typed; agents are offered. */
function Subject({ value, names }: { value: string; names: string[] }): ReactElement {
  const id = useId();
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    // What was chosen for one subject need not exist for another.
    setQuery({ subject: text.trim(), metric: "", benchmark: "" }, { replace: false });
  };
  return (
    <form className="field" onSubmit={submit}>
      <label htmlFor={id}>Agent or experiment</label>
      <input id={id} list={`${id}-names`} value={text} onChange={(event) => setText(event.target.value)} />
      <datalist id={`${id}-names`}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <button type="submit" disabled={!text.trim() || text.trim() === value}>
        Show
      </button>
    </form>
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

const RUNS = [["", "whole runs"], ["yes", "quick and limited, too"]] as const;

/** What the page shows, chosen in the address. ``shownMetric`` is what the server took where none was chosen. */
export function Choices({ chosen, shownMetric }: { chosen: Chosen; shownMetric: string }): ReactElement {
  const agents = useResource<AgentItems>("/api/agents");
  const suites = useResource<SuiteItems>("/api/suites");
  const known = useResource<MetricNames>(chosen.subject ? address("/api/metrics-known", { subject: chosen.subject }) : null);
  const suite = useResource<SuitePage>(chosen.suite ? `/api/suites/${encodeURIComponent(chosen.suite)}` : null);
  const names = known.data?.items ?? [];
  const metrics = names.length > 0 ? names : ["overall", ...DIMENSIONS, "pass_rate", "duration_s"];
  const benchmarks = suite.data?.benchmarks ?? [];
  return (
    <div className="fields">
      <Subject value={chosen.subject} names={(agents.data?.items ?? []).map((agent) => agent.name)} />
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
    </div>
  );
}
