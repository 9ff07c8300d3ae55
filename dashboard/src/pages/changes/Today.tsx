import type { ReactElement } from "react";
import type { Changes, Job, JobPage } from "../../api/answers";
import { Sign } from "../../components";
import { count, moneySum, plural } from "../../format";
import { useResource } from "../../hooks/useResource";
import { Link } from "../../router";

const VERDICTS = ["worse", "inconclusive", "better", "same", "no-baseline"] as const;

function done(job: Job): number | null {
  const { done: made, planned } = job.progress;
  return typeof made === "number" && typeof planned === "number" && planned > 0 ? made / planned : null;
}

function RunningJob({ job }: { job: Job }): ReactElement {
  const share = done(job);
  const label = `${job.agent} on ${job.suite_id}`;
  return (
    <li>
      <Link to={`/jobs/${job.job_id}`}>{label}</Link>{" "}
      {share === null ? <span className="muted">begins</span> : <progress max={1} value={share} aria-label={`Progress of ${label}`} />}
    </li>
  );
}

/** What runs now and what today has cost so far. */
export function Today({ changes }: { changes: Changes }): ReactElement {
  const running = useResource<JobPage>("/api/jobs?status=running&limit=5", { everyMs: 5_000 });
  const queued = useResource<JobPage>("/api/jobs?status=queued&limit=100", { everyMs: 15_000 });
  const jobs = running.data?.items ?? [];
  const waiting = queued.data?.items.length ?? 0;
  const waitingText = queued.data?.next ? `more than ${waiting}` : count(waiting);
  return (
    <ul className="cards changes-tiles" aria-label="Today">
      <li className={jobs.length > 0 ? "card changes-jobs" : "card"}>
        {jobs.length > 0 ? (
          <span className="card-label">Running now</span>
        ) : (
          <>
            <span className="card-value">0</span>
            <span className="card-label">
              <Link to="/jobs">jobs</Link> running
            </span>
          </>
        )}
        {jobs.length > 0 && (
          <ul>
            {jobs.map((job) => (
              <RunningJob key={job.job_id} job={job} />
            ))}
          </ul>
        )}
        {waiting > 0 && (
          <span className="card-label">
            {" "}
            <Link to="/jobs?status=queued">{waitingText} waiting</Link>
          </span>
        )}
      </li>
      <li className="card">
        <span className="card-value">{moneySum(changes.spent_today_usd)}</span>
        <span className="card-label">
          spent today
          {changes.unpriced_today > 0 && `, ${plural(changes.unpriced_today, "execution")} of unknown cost`}
        </span>
      </li>
      <li className="card">
        <span className="card-value">{count(changes.runs_today)}</span>
        <span className="card-label">
          <Link to="/runs">{changes.runs_today === 1 ? "run" : "runs"}</Link> today
        </span>
      </li>
      {changes.rows.length > 0 && <Verdicts changes={changes} />}
    </ul>
  );
}

function Verdicts({ changes }: { changes: Changes }): ReactElement {
  return (
    <li className="card">
      <span className="card-value">{count(changes.rows.length)}</span>
      <span className="card-label">
        {changes.rows.length === 1 ? "agent in a suite" : "agents in suites"}
        {VERDICTS.filter((verdict) => (changes.counts[verdict] ?? 0) > 0).map((verdict) => (
          <span key={verdict} className={`changes-count verdict-${verdict}`}>
            <Sign verdict={verdict} /> {count(changes.counts[verdict])} {verdict.replace("-", " ")}
          </span>
        ))}
      </span>
    </li>
  );
}
