"""Batches: parts of one job's run that other workers do. They are rows of ``jobs``, so that leases, fencing and lost
workers are those of jobs; whoever asks for jobs does not see them.

Every function runs inside a transaction of its caller. Times are UTC milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import delete, select

from agentdyno.model.job import BATCH, Job
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.service.jobs import add_job, job_columns, job_in
from agentdyno.store.service.schema import jobs

FIRST = 1_000_000_000
"""The priority of batches: a run that has begun is finished before another begins."""


def add_batch(session: DatabaseSession, job: Job, batch_id: str, trials: Sequence[object], now_ms: int) -> None:
    """Queues some trials of the run that ``job``, as its holder has it, is."""
    batch = Job(
        job_id=batch_id,
        agent=job.agent,
        agent_digest=job.agent_digest,
        suite_id=job.suite_id,
        suite_digest=job.suite_digest,
        created_at=now_ms,
        configuration=job.configuration,
        options={"trials": list(trials), "options": dict(job.options)},
        priority=FIRST,
        workspace=job.workspace,
        created_by=batch_owner(job),
    )
    add_job(session, batch)


def list_batches(session: DatabaseSession, job: Job) -> list[Job]:
    """Those of this attempt at the job, with what came of them in ``progress``."""
    wanted = select(*job_columns).where(jobs.c.created_by == batch_owner(job))
    return [job_in(row._mapping) for row in session.execute(wanted)]


def drop_batches(session: DatabaseSession, job: Job, batch_ids: Sequence[str] | None = None) -> None:
    """Takes batches back, whoever does them; without ids all of the job, those of earlier attempts too."""
    if batch_ids is not None:
        session.execute(delete(jobs).where(jobs.c.job_id.in_(list(batch_ids))))
        return
    begins = f"{BATCH}{job.job_id}:"
    session.execute(delete(jobs).where(jobs.c.created_by >= begins, jobs.c.created_by < begins + "\U0010ffff"))


def batch_owner(job: Job) -> str:
    """Who made a batch: an attempt at a job."""
    return f"{BATCH}{job.job_id}:{job.attempt}"
