import { useEffect, useRef, useState } from "react";
import type { ReactElement } from "react";
import type { JobPage, RunPage } from "../../../api/answers";
import { CommandHint, Empty, Show, StatusBadge, shellWord } from "../../../components";
import { useResource } from "../../../hooks/useResource";
import { Link, address, useQueryParam } from "../../../router";
import type { PageProps } from "../..";
import { ProgressPanel } from "../../../shared/ProgressView";
import { useJob } from "../../../shared/useJob";
import { api, casesAddress, jobAddress, shortId } from "../../../shared/paths";
import { Arms, Sides } from "./Arms";
import { Bands } from "./Bands";
import { Distribution } from "./Distribution";
import { FailedCases } from "./FailedCases";
import { Artifacts, Reports } from "./Files";
import { Standing } from "./Standing";
import { RunFacts, Surroundings, Warnings } from "./Surroundings";
import "./page.css";

export const title = (params: Record<string, string>): string => `Run ${shortId(params["run_id"] ?? "")}`;

/** The progress of a run that a job made; a run without a job is asked again until it ends. */
function Live({ runId, onEnd }: { runId: string; onEnd: () => void }): ReactElement | null {
  const jobs = useResource<JobPage>("/api/jobs?status=running&limit=100", { everyMs: 5000 });
  const found = jobs.data?.items.find((job) => job.run_id === runId);
  const known = useRef<string | null>(null);
  if (found) known.current = found.job_id;
  const { job } = useJob(known.current);
  const status = job?.status;
  useEffect(() => {
    if (status && status !== "running" && status !== "queued") onEnd();
  }, [status, onEnd]);
  if (!job && !jobs.data) return null;
  if (!job) {
    return (
      <Empty
        title="No job of this service runs it: it was started elsewhere and goes on there, or it was killed. To go on with a killed one:"
        command={`dyno resume ${shortId(runId)}`}
      />
    );
  }
  return (
    <>
      <ProgressPanel job={job} />
      <p>
        <Link to={jobAddress(job.job_id)}>The job of this run</Link>
      </p>
    </>
  );
}

function Body({ page, refresh }: { page: RunPage; refresh: () => void }): ReactElement {
  const { run, standing, comparison, bands } = page;
  const running = run.status === "running";
  // Scores are worked out when a run ends; before that there is nothing to stand by.
  const judged = standing !== null && standing.agents.some((agent) => agent.samples > 0);
  return (
    <>
      <div className="page-head">
        <h1>
          {run.name || shortId(run.run_id)} <StatusBadge status={run.status} />
        </h1>
        <CommandHint command={`dyno show ${shortId(run.run_id)}`} />
      </div>
      {running && <Live runId={run.run_id} onEnd={refresh} />}
      <RunFacts run={run} />
      {run.kind === "load" && (
        <p>
          <Link to={address("/stress", { run: run.run_id })}>Its scenarios: curves over time and breaking points</Link>
        </p>
      )}
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
      {!run.suite && run.arms.length > 0 && <Arms arms={run.arms} />}
      {bands.length > 0 && <Bands found={bands} />}
      {bands.length === 0 && run.arms.length > 0 && !running && (
        <p>
          <Link to={address(`/runs/${run.run_id}`, { bands: "yes" })}>What these figures mean: good, or a red flag</Link>
        </p>
      )}
      {run.arms.length > 0 && <Distribution key={run.status} runId={run.run_id} arms={run.arms} running={running} />}
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
