import type { ReactElement } from "react";
import type { Items, StressReport } from "../../api/types";
import { CommandHint, Empty, Select, Show, shellWord } from "../../components";
import { dateTime } from "../../format";
import { useResource } from "../../hooks/useResource";
import { setQuery, useQueryParam } from "../../router";
import { shortId } from "../../shared/paths";
import { StressTestResults } from "./Results";
import { plainName } from "./words";

export const title = "Stress";

function Reports({ items }: { items: readonly StressReport[] }): ReactElement {
  const [run] = useQueryParam("run");
  const [scenario, setScenario] = useQueryParam("scenario");
  const report = items.find((item) => item.run_id === run) ?? (run ? undefined : items[0]);
  return (
    <>
      <div className="fields">
        <Select
          label="Load run"
          value={report?.run_id ?? run}
          options={items.map((item) => [
            item.run_id,
            `${item.agent_id}, ${item.finished_at === null ? shortId(item.run_id) : dateTime(item.finished_at)}`,
          ])}
          onChange={(value) => setQuery({ run: value, scenario: "" })}
        />
        <Select
          label="Scenario"
          value={scenario}
          options={[["", "all"], ...(report?.scenarios ?? []).map((item) => [item.scenario, plainName(item.scenario)] as const)]}
          onChange={setScenario}
        />
      </div>
      {report ? (
        <StressTestResults report={report} scenario={scenario} />
      ) : (
        <Empty title={`There is no load run ${shortId(run)} here.`} command="dyno list runs" />
      )}
    </>
  );
}

export default function Page(): ReactElement {
  const stress = useResource<Items<StressReport>>("/api/stress");
  const [run] = useQueryParam("run");
  const shown = run || stress.data?.items[0]?.run_id;
  return (
    <>
      <div className="page-head">
        <h1>Stress tests</h1>
        {shown && <CommandHint command={`dyno show ${shellWord(shortId(shown))}`} />}
      </div>
      <Show of={stress}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No stress test has been run yet. To put an agent under load:" command="dyno load AGENT --profile quick">
              <p>Latency, rates and errors of each scenario and the load that breaks the target are then shown here.</p>
            </Empty>
          ) : (
            <Reports items={items} />
          )
        }
      </Show>
    </>
  );
}
