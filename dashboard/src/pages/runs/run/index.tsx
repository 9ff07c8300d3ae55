import { useEffect, useState } from "react";
import type { ReactElement } from "react";
import type { RunPage, StressItems } from "../../../api/answers";
import { CommandHint, Empty, Show, shellWord } from "../../../components";
import { useResource } from "../../../hooks/useResource";
import { Link, address, useQueryParam } from "../../../router";
import type { PageProps } from "../..";
import { StressTestResults } from "../../../shared/stress/Results";
import { api, casesAddress, shortId } from "../../../shared/paths";
import { Arms, Sides } from "./Arms";
import { Bands } from "./Bands";
import { Distribution } from "./Distribution";
import { FailedCases } from "./FailedCases";
import { Artifacts, Reports } from "./Files";
import { Heading } from "./Heading";
import { Live } from "./Live";
import { Standing } from "./Standing";
import { RunFacts, Surroundings, Warnings } from "./Surroundings";
import "./page.css";

export const title = (params: Record<string, string>): string => `Run ${shortId(params["run_id"] ?? "")}`;

/** A load run is its curves: what its windows measured, also while it goes on. */
function LoadCurves({ runId, running }: { runId: string; running: boolean }): ReactElement {
  const [scenario] = useQueryParam("scenario");
  const stress = useResource<StressItems>(address("/api/stress", { run_id: runId, limit: 1 }), running ? { everyMs: 2000 } : {});
  return (
    <Show of={stress}>
      {({ items }) => {
        const report = items.find((item) => item.run_id === runId);
        if (!report || report.scenarios.length === 0) return <p className="muted">No window has ended yet.</p>;
        return (
          <>
            {running && <p className="muted">What was measured so far; the run goes on.</p>}
            <StressTestResults report={report} scenario={scenario} onRun />
          </>
        );
      }}
    </Show>
  );
}

function Body({ page, refresh }: { page: RunPage; refresh: () => void }): ReactElement {
  const { run, standing, comparison, bands } = page;
  const running = run.status === "running";
  const load = run.kind === "load";
  // Scores are worked out when a run ends; before that there is nothing to stand by.
  const judged = standing !== null && standing.agents.some((agent) => agent.samples > 0);
  return (
    <>
      <Heading run={run} />
      {running && <Live runId={run.run_id} load={load} onEnd={refresh} />}
      {load && run.arms.length > 0 && <LoadCurves runId={run.run_id} running={running} />}
      <RunFacts run={run} />
      <Warnings run={run} />
      {run.arms.length === 0 && !running && (
        <Empty title="Nothing was measured in this run. What is missing can be measured:" command={`dyno resume ${shortId(run.run_id)}`} />
      )}
      {run.status === "partial" && (
        <Empty title="The run ended early; what was measured is kept. To go on with it:" command={`dyno resume ${shortId(run.run_id)}`} />
      )}
      {standing && judged && <Standing standing={standing} suiteId={run.suite?.suite_id} />}
      {standing && <FailedCases standing={standing} />}
      {comparison && <Sides comparison={comparison} />}
      {!run.suite && !load && run.arms.length > 0 && <Arms arms={run.arms} />}
      {bands.length > 0 && <Bands found={bands} />}
      {bands.length === 0 && run.arms.length > 0 && !running && (
        <p>
          <Link to={address(`/runs/${run.run_id}`, { bands: "yes" })}>What these figures mean: good, or a red flag</Link>
        </p>
      )}
      {!load && run.arms.length > 0 && <Distribution key={run.status} runId={run.run_id} arms={run.arms} running={running} />}
      {!standing && run.arms.length > 0 && (
        <p>
          <Link to={casesAddress(run.run_id, { status: "all" })}>All samples</Link>
        </p>
      )}
      <Reports runId={run.run_id} />
      <Artifacts runId={run.run_id} />
      <Surroundings run={run} />
    </>
  );
}

export default function Run({ params }: PageProps): ReactElement {
  const runId = params["run_id"] ?? "";
  const [running, setRunning] = useState(false);
  const [bands] = useQueryParam("bands");
  const run = useResource<RunPage>(address(api("runs", runId), { bands: bands === "yes" ? "true" : "" }), running ? { everyMs: 5000 } : {});
  const status = run.data?.run.status;
  useEffect(() => setRunning(status === "running"), [status]);
  return (
    <>
      {!run.data && (
        <div className="page-head">
          <h1>Run {shortId(runId)}</h1>
          <CommandHint command={`dyno show ${shellWord(shortId(runId))}`} />
        </div>
      )}
      <Show of={run}>{(page) => <Body page={page} refresh={run.refresh} />}</Show>
    </>
  );
}
