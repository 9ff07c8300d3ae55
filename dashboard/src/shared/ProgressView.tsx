import type { ReactElement } from "react";
import type { Job } from "../api/answers";
import { count, duration, moneySum, percent } from "../format";
import { Facts } from "./Facts";
import { readProgress, share } from "./progress";
import "./shared.css";

/** The bar of a job with what it has done; nothing where it has not begun. */
export function ProgressBar({ job }: { job: Job }): ReactElement {
  const progress = readProgress(job.progress);
  const part = share(progress);
  if (progress === null || part === null) {
    return <span className="muted">{job.status === "queued" ? "waits for a worker" : "—"}</span>;
  }
  return (
    <span className="progress-cell">
      <progress className="progress-bar" max={1} value={part} aria-label={`Progress of ${job.agent} on ${job.suite_id}`} />
      <span className="muted">
        {count(progress.done)} of {count(progress.planned)}
      </span>
    </span>
  );
}

/** Everything a running job tells, for its own page and for its run's. */
export function ProgressPanel({ job }: { job: Job }): ReactElement | null {
  const progress = readProgress(job.progress);
  const part = share(progress);
  if (progress === null || part === null) {
    return job.status === "running" ? <p role="status">Running. Its worker tells in a moment how far it is.</p> : null;
  }
  return (
    <section className="panel" aria-label="Progress">
      <progress className="progress-bar" max={1} value={part} aria-label="Samples done" />
      <p role="status">
        {count(progress.done)} of {count(progress.planned)} samples, {percent(part, 0)}
        {job.status === "running" && progress.remaining_s !== null && `, about ${duration(progress.remaining_s)} to go`}
      </p>
      <Facts
        facts={[
          ["Now", job.status === "running" && progress.doing],
          ["Elapsed", progress.elapsed_s !== null && duration(progress.elapsed_s)],
          [job.status === "running" ? "Passed so far" : "Passed", progress.pass_rate !== null && percent(progress.pass_rate, 0)],
          ["Without an answer", count(progress.errors)],
          ["Tokens", progress.tokens !== null && progress.tokens > 0 && count(progress.tokens)],
          [job.status === "running" ? "Known cost so far" : "Known cost", progress.cost_usd !== null && progress.cost_usd > 0 && moneySum(progress.cost_usd)],
        ]}
      />
    </section>
  );
}
