import { useState } from "react";
import type { ReactElement } from "react";
import { post } from "../api/client";
import type { Job } from "../api/answers";
import { ErrorBox } from "../components";
import { api } from "./paths";
import { hasEnded } from "./useJob";

interface CancelButtonProps {
  job: Job;
  onCancelled: (job: Job) => void;
}

/** Asks once more before it cancels: what a running job has spent does not come back. */
export function CancelButton({ job, onCancelled }: CancelButtonProps): ReactElement | null {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  if (hasEnded(job)) return null;
  if (job.cancel_requested) return <span className="muted">is being cancelled</span>;
  const cancel = (): void => {
    setBusy(true);
    setError(undefined);
    post<Job>(`${api("jobs", job.job_id)}/cancel`)
      .then(onCancelled, setError)
      .finally(() => {
        setBusy(false);
        setAsking(false);
      });
  };
  const what = `the job of ${job.agent} on ${job.suite_id}`;
  return (
    <>
      {asking ? (
        <span className="row">
          <button type="button" disabled={busy} onClick={cancel} aria-label={`Yes, cancel ${what}`}>
            Yes, cancel
          </button>
          <button type="button" className="quiet" disabled={busy} onClick={() => setAsking(false)} aria-label={`Keep it: ${what}`}>
            Keep it
          </button>
        </span>
      ) : (
        <button type="button" onClick={() => setAsking(true)} aria-label={`Cancel ${what}`}>
          Cancel
        </button>
      )}
      <ErrorBox error={error} />
    </>
  );
}
