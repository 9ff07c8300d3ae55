"""Jobs: queued, leased to one worker at a time, ended once; and the workers that have told what they offer.

``attempt`` counts leases and fences: what a holder of an older one writes is refused. Every function runs inside a
transaction of its caller. Times are UTC milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, and_, delete, func, or_, select, tuple_, update
from sqlalchemy.exc import IntegrityError

from agentdyno.errors import Conflict, LeaseLost, StoreError, Unknown, nearest
from agentdyno.model.job import BATCH, Job, JobStatus, WorkerSeen
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.codec import plain_or_null
from agentdyno.store.service.schema import jobs, workers

MAX_LOST = 10
"""How many lost leases a job survives."""
FORGET_MS = 86_400_000
"""How long a worker that was killed is remembered."""

Offers = Collection[tuple[str, str]]
Cursor = tuple[int, str]

_NAMES = tuple(field.name for field in fields(Job) if field.name in jobs.c)
job_columns = tuple(jobs.c[name] for name in _NAMES)
_JSON = ("configuration", "options", "progress")
_NEWEST_FIRST = (jobs.c.created_at.desc(), jobs.c.job_id.desc())
_CANDIDATES = 5
_no_batch = jobs.c.created_by.not_like(f"{BATCH}%")
"""Parts of a run that others do are no jobs of their own."""
_RECENT = 200


@dataclass(frozen=True, slots=True)
class QueueWaiting:
    """What a look at the queue found: pairs of digests with a job to take, and whether a lost job is to be ended."""

    pairs: tuple[tuple[str, str], ...] = ()
    doomed: bool = False
    batches: bool = False

    def __bool__(self) -> bool:
        return bool(self.pairs) or self.doomed


def add_job(session: DatabaseSession, job: Job) -> Job:
    """Queues a job; the job as it is kept.

    Where ``created_by`` used the same non-empty ``idempotency_key`` before, nothing is written, and that job is
    the answer.
    """
    row = _row(job)
    known = ("created_by", "idempotency_key")
    try:
        session.execute(session.backend.insert_unless_present(jobs, known), row)
    except IntegrityError:
        raise Conflict(f"there is a job {job.job_id} already", where=session.backend.where) from None
    if not job.idempotency_key:
        return job_in(row)
    wanted = select(*job_columns).where(*(jobs.c[name] == row[name] for name in known))
    return job_in(session.execute(wanted).one()._mapping)


def job_asked(session: DatabaseSession, created_by: str, idempotency_key: str) -> Job | None:
    """The job for which ``created_by`` used this non-empty key."""
    if not idempotency_key:
        return None
    mine = (jobs.c.created_by == created_by, jobs.c.idempotency_key == idempotency_key)
    row = session.execute(select(*job_columns).where(*mine)).one_or_none()
    return None if row is None else job_in(row._mapping)


def queue_depth(session: DatabaseSession) -> int:
    """How many jobs are queued."""
    wanted = select(func.count()).select_from(jobs).where(jobs.c.status == JobStatus.QUEUED.value, _no_batch)
    return int(session.execute(wanted).scalar_one())


def job_counts(session: DatabaseSession) -> dict[JobStatus, int]:
    """How many jobs there are of each status, none included."""
    found = session.execute(select(jobs.c.status, func.count()).where(_no_batch).group_by(jobs.c.status))
    counts = {JobStatus(status): int(count) for status, count in found}
    return {status: counts.get(status, 0) for status in JobStatus}


def waiting(session: DatabaseSession, offers: Offers, now_ms: int, *, batches: bool = False) -> QueueWaiting:
    """A look without a lock, so that idle workers disturb nobody who writes. ``batches`` of others' runs, too."""
    takeable = _takeable(now_ms) if batches else and_(_takeable(now_ms), _no_batch)
    wanted = select(jobs.c.agent_digest, jobs.c.suite_digest).where(takeable).distinct()
    found = {(agent, suite) for agent, suite in session.execute(wanted)}
    doomed = session.execute(select(jobs.c.id).where(_doomed(now_ms)).limit(1)).scalar() is not None
    return QueueWaiting(tuple(sorted(found & set(offers))), doomed, batches)


def lease_job(session: DatabaseSession, worker: str, found: QueueWaiting, now_ms: int, lease_ms: int) -> Job | None:
    """Takes the job of highest priority, the oldest of these, among ``found`` pairs; ends lost jobs on the way."""
    if found.doomed:
        _end_doomed(session, now_ms)
    if not found.pairs:
        return None
    offered = tuple_(jobs.c.agent_digest, jobs.c.suite_digest).in_(found.pairs)
    wanted = select(*job_columns).where(_takeable(now_ms), ~_doomed(now_ms), offered)
    if not found.batches:
        wanted = wanted.where(_no_batch)
    order = (jobs.c.priority.desc(), jobs.c.created_at, jobs.c.id)
    row = session.execute(wanted.order_by(*order).limit(1).with_for_update(skip_locked=True)).one_or_none()
    if row is None:
        return None
    job = job_in(row._mapping)
    return _change(
        session,
        job,
        status=JobStatus.RUNNING,
        attempt=job.attempt + 1,
        lost=job.lost + (job.status is JobStatus.RUNNING),
        worker=worker,
        lease_until=now_ms + lease_ms,
        started_at=now_ms if job.started_at is None else job.started_at,
    )


def heartbeat_job(
    session: DatabaseSession,
    job_id: str,
    attempt: int,
    *,
    now_ms: int,
    lease_ms: int,
    progress: Mapping[str, object] | None = None,
    run_id: str | None = None,
) -> bool:
    """Holds the job for ``lease_ms`` more, and writes what is given; whether it is to be cancelled.

    ``LeaseLost`` where ``attempt`` is not the current one or the job has ended. A lease that ran out while
    nobody else took the job is taken up again.
    """
    changes: dict[str, object] = {"lease_until": now_ms + lease_ms}
    if progress is not None:
        changes["progress"] = progress
    if run_id is not None:
        changes["run_id"] = run_id
    job = _locked(session, job_id)
    _require_lease(session, job, attempt)
    _change(session, job, **changes)
    return job.cancel_requested


def release_job(session: DatabaseSession, job_id: str, attempt: int, *, now_ms: int) -> Job:
    """Puts a job back into the queue for a worker that stops in good order; the job after it.

    Uses up nothing: no failure, and no lost lease. A job that was to be cancelled is cancelled instead.
    ``LeaseLost`` as for a heartbeat; the call can be repeated.
    """
    job = _locked(session, job_id)
    if job.attempt == attempt and job.status is JobStatus.QUEUED:
        return job  # the answer to the first call was lost on the way
    _require_lease(session, job, attempt)
    if job.cancel_requested:
        return _change(session, job, status=JobStatus.CANCELLED, lease_until=None, finished_at=now_ms)
    return _change(session, job, status=JobStatus.QUEUED, lease_until=None)


def finish_job(
    session: DatabaseSession,
    job_id: str,
    attempt: int,
    status: JobStatus,
    *,
    now_ms: int,
    error: str = "",
    final: bool = False,
) -> Job:
    """Ends an attempt as succeeded, failed or cancelled; the job after it.

    A failed attempt counts as a failure, and puts the job back into the queue until it has ``max_failures`` of
    them, or at once fails the job where it is ``final``; a job that was to be cancelled is cancelled instead.
    ``LeaseLost`` as for a heartbeat; but who ended the job in the same way already is answered with the job, so
    that a call whose answer was lost can be repeated.
    """
    if not status.ended:
        raise ValueError(f"an attempt cannot end as {status.value}")
    job = _locked(session, job_id)
    if job.attempt == attempt and job.status is status:
        return job  # the answer to the first call was lost on the way
    _require_lease(session, job, attempt)
    failures = job.failures + (status is JobStatus.FAILED)
    ended = {"failures": failures, "worker": job.worker, "lease_until": None, "error": error}
    if status is JobStatus.FAILED and job.cancel_requested:
        status = JobStatus.CANCELLED
    if status is JobStatus.FAILED and failures < job.max_failures and not final:
        return _change(session, job, status=JobStatus.QUEUED, **ended)
    return _change(session, job, status=status, finished_at=now_ms, **ended)


def cancel_job(session: DatabaseSession, job_id: str, now_ms: int) -> Job:
    """Cancels a job that nobody holds, asks its holder to where one does, and leaves one that has ended.

    The job is named by its id or a unique beginning of it.
    """
    job = _locked(session, find_job(session, job_id).job_id)
    if job.status.ended:
        return job
    held = job.status is JobStatus.RUNNING and not _lapsed(job, now_ms)
    if held:
        return _change(session, job, cancel_requested=True)
    return _change(
        session, job, status=JobStatus.CANCELLED, cancel_requested=True, lease_until=None, finished_at=now_ms
    )


def find_job(session: DatabaseSession, reference: str) -> Job:
    """A job by its id or a unique beginning of it."""
    exact = session.execute(select(*job_columns).where(jobs.c.job_id == reference)).one_or_none()
    if exact is not None:
        return job_in(exact._mapping)
    if not reference:
        raise _unknown(session, reference)
    begins = (_no_batch, jobs.c.job_id >= reference, jobs.c.job_id < reference + "\U0010ffff")
    wanted = select(*job_columns).where(*begins).order_by(*_NEWEST_FIRST)
    found = session.execute(wanted.limit(_CANDIDATES + 1)).all()
    if not found:
        raise _unknown(session, reference)
    if len(found) > 1:
        listed = ", ".join(row.job_id for row in found[:_CANDIDATES])
        more = ", and more" if len(found) > _CANDIDATES else ""
        raise Unknown(f"{reference!r} begins the id of more than one job", remedy=f"Say more of: {listed}{more}.")
    return job_in(found[0]._mapping)


def list_jobs(
    session: DatabaseSession, *, status: JobStatus | None = None, limit: int = 50, before: Cursor | None = None
) -> list[Job]:
    """Newest first. ``before`` is ``(created_at, job_id)`` of the last job of the page before."""
    wanted = select(*job_columns).where(_no_batch).order_by(*_NEWEST_FIRST).limit(limit)
    if status is not None:
        wanted = wanted.where(jobs.c.status == status.value)
    if before is not None:
        at, job_id = before
        older = or_(jobs.c.created_at < at, and_(jobs.c.created_at == at, jobs.c.job_id < job_id))
        wanted = wanted.where(jobs.c.created_at <= at, older)
    return [job_in(row._mapping) for row in session.execute(wanted)]


def note_worker(
    session: DatabaseSession, name: str, agents: Collection[str], suites: Collection[str], now_ms: int
) -> None:
    """A worker is there and offers these digests, in place of what it told before."""
    session.execute(delete(workers).where(workers.c.seen_at < now_ms - FORGET_MS))
    row = {"name": name, "seen_at": now_ms, "agents": sorted(agents), "suites": sorted(suites)}
    session.execute(session.backend.insert_or_replace(workers, ("name",), "1 = 1"), row)


def forget_worker(session: DatabaseSession, name: str) -> None:
    """A worker has gone."""
    session.execute(delete(workers).where(workers.c.name == name))


def seen_workers(session: DatabaseSession, *, since_ms: int, now_ms: int) -> list[WorkerSeen]:
    """The workers that were heard of since ``since_ms`` or hold a job, by name."""
    holding = (jobs.c.status == JobStatus.RUNNING.value, jobs.c.lease_until > now_ms)
    busy = set(session.execute(select(jobs.c.worker).where(*holding).distinct()).scalars())
    columns = workers.c
    wanted = select(columns.name, columns.seen_at, columns.agents, columns.suites).order_by(columns.name)
    return [
        WorkerSeen(name, seen_at, frozenset(agents or ()), frozenset(suites or ()), name in busy)
        for name, seen_at, agents, suites in session.execute(wanted)
        if seen_at >= since_ms or name in busy
    ]


def _takeable(now_ms: int) -> ColumnElement[bool]:
    return or_(jobs.c.status == JobStatus.QUEUED.value, _lapsed_rows(now_ms))


def _lapsed_rows(now_ms: int) -> ColumnElement[bool]:
    return and_(jobs.c.status == JobStatus.RUNNING.value, jobs.c.lease_until <= now_ms)


def _lapsed(job: Job, now_ms: int) -> bool:
    return job.lease_until is None or job.lease_until <= now_ms


def _doomed(now_ms: int) -> ColumnElement[bool]:
    """Lost by their worker, and to be cancelled, or lost too often."""
    return and_(_lapsed_rows(now_ms), or_(jobs.c.cancel_requested, jobs.c.lost >= MAX_LOST))


def _end_doomed(session: DatabaseSession, now_ms: int) -> None:
    for row in session.execute(select(*job_columns).where(_doomed(now_ms)).with_for_update(skip_locked=True)).all():
        job = job_in(row._mapping)
        end: dict[str, object] = {"status": JobStatus.CANCELLED}
        if not job.cancel_requested:
            end = {"status": JobStatus.FAILED, "error": f"its worker was lost more than {MAX_LOST} times"}
        _change(session, job, lost=job.lost + 1, lease_until=None, finished_at=now_ms, **end)


def _locked(session: DatabaseSession, job_id: str) -> Job:
    """The job, kept from changing until the transaction ends."""
    row = session.execute(select(*job_columns).where(jobs.c.job_id == job_id).with_for_update()).one_or_none()
    if row is None:
        raise _unknown(session, job_id)
    return job_in(row._mapping)


def _require_lease(session: DatabaseSession, job: Job, attempt: int) -> None:
    if job.attempt == attempt and job.status is JobStatus.RUNNING:
        return
    if job.status.ended:
        why = f"it is {job.status.value}"
    elif job.status is JobStatus.QUEUED:
        why = "it waits for its next attempt"
    else:
        why = f"{job.worker} has it, at attempt {job.attempt}"
    raise LeaseLost(f"attempt {attempt} of job {job.job_id} is over: {why}", where=session.backend.where)


def _change(session: DatabaseSession, job: Job, **changes: Any) -> Job:  # values of the fields that are named
    row = _row(replace(job, **changes))
    session.execute(update(jobs).where(jobs.c.job_id == job.job_id), {name: row[name] for name in changes})
    return job_in(row)


def _row(job: Job) -> dict[str, object]:
    row = {name: getattr(job, name) for name in _NAMES}
    for name in _JSON:
        row[name] = plain_or_null(row[name], f"the {name} of a job")
    return {**row, "status": job.status.value, "idempotency_key": job.idempotency_key or None}


def job_in(row: Mapping[str, Any] | RowMapping) -> Job:  # columns have the types of the fields of their names
    kept = {name: row[name] or {} for name in _JSON}
    status, key = JobStatus(row["status"]), row["idempotency_key"] or ""
    return Job(**{**row, **kept, "status": status, "idempotency_key": key})


def _unknown(session: DatabaseSession, reference: str) -> StoreError:
    recent = session.execute(select(jobs.c.job_id).order_by(*_NEWEST_FIRST).limit(_RECENT)).scalars().all()
    if not recent:
        return Unknown("the store holds no job yet", where=session.backend.where)
    return Unknown(f"there is no job {reference!r}", where=session.backend.where, remedy=nearest(reference, recent))
