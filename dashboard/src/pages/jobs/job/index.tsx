import { useEffect } from "react";
import type { ReactElement } from "react";
import type { Job } from "../../../api/answers";
import { CommandHint, ErrorBox, Loading, StatusBadge } from "../../../components";
import { age, count, dateTime, duration } from "../../../format";
import { Link, navigate, useQueryParam } from "../../../router";
import type { PageProps } from "../..";
import { Facts, factsOf } from "../../../shared/Facts";
import { agentAddress, runAddress, shortId, suiteAddress } from "../../../shared/paths";
import { useMayRun } from "../../../shared/useMayRun";
import { CancelButton } from "../../../shared/CancelButton";
import { ProgressPanel } from "../../../shared/ProgressView";
import { useJob } from "../../../shared/useJob";
import { asSentence } from "../../../shared/words";

export const title = (params: Record<string, string>): string => `Job ${shortId(params["job_id"] ?? "")}`;

function waitingText(job: Job): string | null {
  if (job.status === "queued" && job.failures > 0) return "It failed and waits to be tried again.";
  if (job.status === "queued" && job.lost > 0) return "Its worker was lost; another one goes on with it.";
  if (job.status === "queued") return asSentence(job.waits_because) || "It waits for a worker that has this agent and this suite.";
  if (job.cancel_requested && job.status === "running") return "Its worker was asked to stop.";
  return null;
}

function Body({ job, mayRun, onChange }: { job: Job; mayRun: boolean; onChange: (job: Job) => void }): ReactElement {
  const waiting = waitingText(job);
  const took = job.started_at === null || job.finished_at === null ? null : (job.finished_at - job.started_at) / 1000;
  return (
    <>
      <p role="status" aria-live="polite">
        <StatusBadge status={job.status} /> {waiting}
      </p>
      {job.status === "queued" && job.attempt === 0 && <CommandHint command="dyno worker" />}
      {job.error && (
        <p className="error-box" role="alert">
          {job.error}
        </p>
      )}
      <ProgressPanel job={job} />
      <div className="row">
        {job.run_id && <Link to={runAddress(job.run_id)}>Open its run</Link>}
        {mayRun && <CancelButton job={job} onCancelled={onChange} />}
      </div>
      <Facts
        facts={[
          ["Agent", <Link key="agent" to={agentAddress(job.agent)}>{job.agent}</Link>],
          ["Suite", <Link key="suite" to={suiteAddress(job.suite_id)}>{job.suite_id}</Link>],
          ["Asked", `${dateTime(job.created_at)}, ${age(job.created_at)}${job.created_by ? ` by ${job.created_by}` : ""}`],
          ["Started", job.started_at === null ? null : dateTime(job.started_at)],
          ["Ended", job.finished_at === null ? null : dateTime(job.finished_at)],
          ["Took", took === null ? null : duration(took)],
          ["Worker", job.worker],
          ["Attempts", job.attempt > 1 ? count(job.attempt) : null],
          ["Workers lost", job.lost > 0 ? count(job.lost) : null],
          ["Failures", job.failures > 0 ? `${count(job.failures)} of at most ${count(job.max_failures)}` : null],
          ["Priority", job.priority === 0 ? null : count(job.priority)],
          ["Job", <code key="id">{job.job_id}</code>],
        ]}
      />
      {Object.keys(job.options).length > 0 && (
        <>
          <h2>Options</h2>
          <Facts facts={factsOf(job.options)} />
        </>
      )}
      {Object.keys(job.configuration).length > 0 && (
        <>
          <h2>Configuration</h2>
          <Facts facts={factsOf(job.configuration)} />
        </>
      )}
    </>
  );
}

export default function JobPage({ params }: PageProps): ReactElement {
  const jobId = params["job_id"] ?? "";
  const { job, error, replace } = useJob(jobId);
  const mayRun = useMayRun() === true;
  const [then] = useQueryParam("then");
  const runId = job?.run_id ?? "";
  // A job names its run a moment before the run is stored: only progress, or an end, says that there is one to see.
  const begun = job !== undefined && (Object.keys(job.progress).length > 0 || job.finished_at !== null);
  useEffect(() => {
    // Who has just started a run wants to see it; the job's page is where it waits until then.
    if (then === "run" && runId !== "" && begun) navigate(runAddress(runId), { replace: true });
  }, [then, runId, begun]);
  return (
    <>
      <div className="page-head">
        <h1>{job ? `${job.agent} on ${job.suite_id}` : `Job ${shortId(jobId)}`}</h1>
        <CommandHint command={`dyno jobs follow ${shortId(jobId)}`} />
      </div>
      {error !== undefined && <ErrorBox error={error} />}
      {!job && error === undefined && <Loading />}
      {job && <Body job={job} mayRun={mayRun} onChange={replace} />}
    </>
  );
}
