"""Why a job waits: whether any worker that is there has its agent and its suite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agentdyno.model.job import Job, JobStatus, WorkerSeen
from agentdyno.store import Store

SEEN_MS = 30_000
"""A worker that has told nothing for longer, and holds no job, counts as gone."""
GRACE_MS = 10_000
"""How long a job waits before anything is said: workers read dyno.yaml again only now and then."""


def explained(store: Store, jobs: Iterable[Job], now_ms: int) -> list[Job]:
    """The jobs, with ``waits_because`` where no worker offers them. Asks the store only where one waits."""
    rows = list(jobs)
    if not any(_waits(job, now_ms) for job in rows):
        return rows
    workers = store.service.seen_workers(since_ms=now_ms - SEEN_MS, now_ms=now_ms)
    return [replace(job, waits_because=reason(job, workers)) if _waits(job, now_ms) else job for job in rows]


def reason(job: Job, workers: Sequence[WorkerSeen]) -> str:
    """Why none of ``workers`` takes the job; empty where one does when it has time."""
    if any(job.agent_digest in worker.agents and job.suite_digest in worker.suites for worker in workers):
        return ""
    if not workers:
        return "no worker offers it: none is running (`dyno worker` starts one)"
    missing = []
    if not any(job.agent_digest in worker.agents for worker in workers):
        missing.append(f"agent {job.agent}")
    if not any(job.suite_digest in worker.suites for worker in workers):
        missing.append(f"suite {job.suite_id}")
    lacks = " or ".join(missing) or f"agent {job.agent} together with suite {job.suite_id}"
    busy = sum(worker.busy for worker in workers)
    later = f" ({busy} busy, {'it looks' if busy == 1 else 'they look'} again afterwards)" if busy else ""
    return f"no worker offers it: none of {len(workers)}{later} has {lacks} with the content that was asked for"


def _waits(job: Job, now_ms: int) -> bool:
    return job.status is JobStatus.QUEUED and now_ms - job.created_at > GRACE_MS
