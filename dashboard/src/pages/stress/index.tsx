import type { ReactElement } from "react";
import type { StressItems, StressReport } from "../../api/answers";
import { CommandHint, Empty, Filters, Select, Show, shellWord } from "../../components";
import { dateTime } from "../../format";
import { useResource } from "../../hooks/useResource";
import { address, setQuery, useQueryParam } from "../../router";
import { SearchField } from "../../shared/SearchField";
import { shortId } from "../../shared/paths";
import { StressTestResults } from "../../shared/stress/Results";
import { plainName } from "../../shared/stress/words";

export const title = "Stress";

function label({ agent_id: target, finished_at: at, run_id: run }: StressReport): string {
  return `${target}, ${at === null ? shortId(run) : dateTime(at)}`;
}

/** The report of the run in the address, else the newest. */
function chosen(items: readonly StressReport[], run: string): StressReport | undefined {
  return run ? items.find((item) => item.run_id === run) : items[0];
}

function Choices({ items, report }: { items: readonly StressReport[]; report: StressReport | undefined }): ReactElement {
  const [run] = useQueryParam("run");
  const [scenario, setScenario] = useQueryParam("scenario");
  const scenarios = (report?.scenarios ?? []).map((item) => [item.scenario, plainName(item.scenario)] as const);
  return (
    <>
      <Select
        label="Load run"
        value={report?.run_id ?? run}
        options={items.map((item) => [item.run_id, label(item)])}
        onChange={(value) => setQuery({ run: value, scenario: "" })}
      />
      <Select label="Scenario" value={scenario} options={[["", "all"], ...scenarios]} onChange={setScenario} />
    </>
  );
}

export default function Page(): ReactElement {
  const [agent] = useQueryParam("agent");
  const [run] = useQueryParam("run");
  const [scenario] = useQueryParam("scenario");
  const stress = useResource<StressItems>(address("/api/stress", { agent_id: agent, run_id: run }));
  const items = stress.data?.items ?? [];
  const report = chosen(items, run);
  const load = `dyno load ${agent ? shellWord(agent) : "AGENT"} --profile quick`;
  return (
    <>
      <div className="page-head">
        <h1>Stress tests</h1>
        {report && <CommandHint command={`dyno show ${shellWord(shortId(report.run_id))}`} />}
      </div>
      {(items.length > 0 || agent) && (
        <Filters label="Choose a load run">
          <SearchField
            label="Target"
            value={agent}
            placeholder="any"
            onChange={(value) => setQuery({ agent: value.trim(), run: "", scenario: "" })}
          />
          <Choices items={items} report={report} />
        </Filters>
      )}
      <Show of={stress}>
        {() => {
          if (report) return <StressTestResults report={report} scenario={scenario} />;
          if (items.length > 0) {
            return <Empty title={`The load run ${shortId(run)} is not in this store.`} command={`dyno show ${shellWord(shortId(run))}`} />;
          }
          return (
            <Empty title={agent ? `${agent} has not been under load here.` : "No stress test has been run yet. To put an agent under load:"} command={load}>
              <p>Latency, rates and errors of each scenario and the load that breaks the target are then shown here.</p>
            </Empty>
          );
        }}
      </Show>
    </>
  );
}
