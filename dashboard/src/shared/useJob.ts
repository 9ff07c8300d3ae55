import { useCallback, useEffect, useState } from "react";
import { get } from "../api/client";
import { useKeyGeneration } from "../api/key";
import { follow, type ServerEvent } from "../api/stream";
import type { Job } from "../api/answers";

export interface FollowedJob {
  job: Job | undefined;
  error: unknown;
  /** For what a change answered with, before the stream tells. */
  replace: (job: Job) => void;
}

const POLL_MS = 3000;

export function hasEnded(job: Job): boolean {
  return job.status === "succeeded" || job.status === "failed" || job.status === "cancelled";
}

/** A job as it goes on: by its stream, and by asking where something on the way holds streams back. */
export function useJob(jobId: string | null): FollowedJob {
  const [state, setState] = useState<{ id: string | null; job?: Job; error?: unknown }>({ id: jobId });
  const key = useKeyGeneration();
  const replace = useCallback((job: Job) => setState({ id: jobId, job }), [jobId]);

  useEffect(() => {
    if (jobId === null) return;
    const stop = new AbortController();
    const path = `/api/jobs/${encodeURIComponent(jobId)}`;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (job: Job): void => {
      if (!stop.signal.aborted) setState({ id: jobId, job });
    };
    const ask = async (): Promise<void> => {
      const job = await get<Job>(path, stop.signal);
      show(job);
      if (!hasEnded(job)) timer = setTimeout(() => void ask().catch(fail), POLL_MS);
    };
    const fail = (error: unknown): void => {
      if (!stop.signal.aborted) setState((old) => ({ ...old, id: jobId, error }));
    };
    const run = async (): Promise<void> => {
      const first = await get<Job>(path, stop.signal);
      show(first);
      if (hasEnded(first)) return;
      const onEvent = ({ event, data }: ServerEvent): void => {
        if (event === "job") show(JSON.parse(data) as Job);
      };
      await follow(`${path}/events`, onEvent, stop.signal).catch(() => undefined);
      if (!stop.signal.aborted) await ask();
    };
    run().catch(fail);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [jobId, key]);

  const current = state.id === jobId;
  return { job: current ? state.job : undefined, error: current ? state.error : undefined, replace };
}
