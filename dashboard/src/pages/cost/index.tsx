import { useEffect, useId, useState } from "react";
import type { FormEvent, ReactElement } from "react";
import type { CostReport, SuiteItems } from "../../api/answers";
import { CommandHint, Empty, Filters, Select, Show, Tabs, shellWord } from "../../components";
import { useResource } from "../../hooks/useResource";
import { address, setQuery, useQueryParam } from "../../router";
import { Warnings } from "../../shared/Warnings";
import { CostEfficiencyScatter } from "./Scatter";
import { Spending } from "./Spending";
import { AgentCosts, Configurations, Opportunities } from "./Tables";
import "./page.css";
import type { Bought, Scale } from "./frontier";

export const title = "Cost";

const VOLUME = "1000";

function VolumeField({ volume }: { volume: string }): ReactElement {
  const id = useId();
  const [text, setText] = useState(volume);
  useEffect(() => setText(volume), [volume]);
  const valid = /^[1-9]\d{0,8}$/.test(text);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (valid) setQuery({ volume: text === VOLUME ? "" : text });
  };
  return (
    <form className="field" onSubmit={submit}>
      <label htmlFor={id}>Savings for tasks</label>
      <input
        id={id}
        className="cost-volume"
        inputMode="numeric"
        value={text}
        aria-invalid={!valid}
        onChange={(event) => setText(event.target.value)}
        onBlur={submit}
      />
    </form>
  );
}

function Report({ report, bought, scale }: { report: CostReport; bought: Bought; scale: Scale }): ReactElement {
  const [unfolded, unfold] = useQueryParam("benchmarks");
  return (
    <>
      <Warnings warnings={report.warnings} />
      <CostEfficiencyScatter report={report} bought={bought} scale={scale} />
      <AgentCosts rows={report.rows} />
      {report.benchmark_rows.length > 0 && (
        <details open={unfolded === "open"} onToggle={(event) => unfold(event.currentTarget.open ? "open" : "")}>
          <summary>Per benchmark ({report.benchmark_rows.length} rows)</summary>
          <AgentCosts rows={report.benchmark_rows} perBenchmark />
        </details>
      )}
      <Configurations report={report} />
      <Opportunities report={report} />
    </>
  );
}

export default function Page(): ReactElement {
  const [suite, setSuite] = useQueryParam("suite");
  const [agents] = useQueryParam("agents");
  const [volume] = useQueryParam("volume", VOLUME);
  const [y, setY] = useQueryParam("y", "accuracy");
  const [axis, setAxis] = useQueryParam("axis", "log");
  const suites = useResource<SuiteItems>("/api/suites");
  const report = useResource<CostReport>(address("/api/cost", { suite_id: suite, agent_ids: agents, volume }));
  const names = agents.split(",").filter(Boolean).map(shellWord);
  const command = [
    "dyno cost",
    ...names,
    suite && `--suite ${shellWord(suite)}`,
    volume !== VOLUME && `--volume ${shellWord(volume)}`,
  ];
  const bought: Bought = y === "latency" ? "latency" : "accuracy";
  const scale: Scale = axis === "linear" ? "linear" : "log";
  return (
    <>
      <div className="page-head">
        <h1>Cost{report.data?.suite && ` in ${report.data.suite}`}</h1>
        <CommandHint command={command.filter(Boolean).join(" ")} />
      </div>
      <Filters label="Choose suite and axes">
        <Select
          label="Suite"
          value={suite}
          options={[
            ["", report.data?.suite ? `the last run: ${report.data.suite}` : "the last run"],
            ...(suites.data?.items ?? []).map((item) => [item.suite_id, item.name || item.suite_id] as const),
          ]}
          onChange={setSuite}
        />
        <VolumeField volume={volume} />
        <Tabs
          label="Cost against"
          tabs={[
            ["accuracy", "Accuracy"],
            ["latency", "Latency"],
          ]}
          value={bought}
          onChange={setY}
        />
        <Tabs
          label="Axis of the cost"
          tabs={[
            ["log", "Log axis"],
            ["linear", "Linear axis"],
          ]}
          value={scale}
          onChange={setAxis}
        />
        {agents && (
          <button type="button" onClick={() => setQuery({ agents: "" })}>
            Only {agents.split(",").length} agents: show all
          </button>
        )}
      </Filters>
      <Show of={report}>
        {(data) =>
          data.rows.length === 0 ? (
            <Empty
              title="What agents cost for what they achieve is set against each other here. To measure the first one:"
              command="dyno init && dyno run suites/first.yaml"
            />
          ) : (
            <Report report={data} bought={bought} scale={scale} />
          )
        }
      </Show>
      {report.data && report.data.rows.length > 0 && <Spending />}
    </>
  );
}
