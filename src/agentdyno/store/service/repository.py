"""What a store keeps for a service: jobs, keys, the audit log, acknowledged alerts."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import replace

from agentdyno.errors import StoreError
from agentdyno.model.job import ApiKey, AuditEntry, Job, JobStatus, Scope, WorkerSeen
from agentdyno.store.database import revision
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.service import acknowledgements, audit, jobs, keys, workers


class Service:
    """The part of a ``Store`` that a service and its workers use.

    What is written survives a loss of power, except for when a key was last used. Times are UTC milliseconds and come
    from the caller. What is asked for and not there is ``Unknown``, a name that is taken ``Conflict``.
    """

    _session: DatabaseSession

    def ping(self) -> None:
        """Fails with a ``StoreError`` unless the database answers and its schema is the one known here; cheap."""
        with self._session as session:
            revision.require_current(revision.read(session), session.backend.where)

    def add_job(self, job: Job) -> Job:
        """Queues a job; the job as it is kept.

        Where ``created_by`` used the same non-empty ``idempotency_key`` before, nothing is written, and that job is
        the answer.
        """
        with self._session as session, session.transaction(durable=True):
            return jobs.add_job(session, job)

    def job_asked(self, created_by: str, idempotency_key: str) -> Job | None:
        """The job for which ``created_by`` used this non-empty key."""
        with self._session as session:
            return jobs.job_asked(session, created_by, idempotency_key)

    def queue_depth(self) -> int:
        """How many jobs are queued."""
        with self._session as session:
            return jobs.queue_depth(session)

    def job_counts(self) -> dict[JobStatus, int]:
        """How many jobs there are of each status, none included."""
        with self._session as session:
            return jobs.job_counts(session)

    def lease_job(
        self, worker: str, offers: Collection[tuple[str, str]], *, now_ms: int, lease_ms: int
    ) -> Job | None:
        """The next job for ``worker``, which holds it for ``lease_ms``; ``None`` where there is nothing for it.

        Highest priority first, then oldest, among queued jobs and running ones whose lease ran out, as far as
        ``offers`` has their agent's and suite's digest. However many ask at once, one gets it. A job that is lost for
        the eleventh time fails instead, and a lost one that was to be cancelled is.
        """
        with self._session as session:
            found = jobs.waiting(session, offers, now_ms)
            if not found:
                return None
            with session.transaction(durable=True):
                return jobs.lease_job(session, worker, found, now_ms, lease_ms)

    def heartbeat_job(
        self,
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
        with self._session as session, session.transaction(durable=True):
            return jobs.heartbeat_job(session, job_id, attempt, changes)

    def release_job(self, job_id: str, attempt: int, *, now_ms: int) -> Job:
        """Puts a job back into the queue for a worker that stops in good order; the job after it.

        Uses up nothing: no failure, and no lost lease. A job that was to be cancelled is cancelled instead.
        ``LeaseLost`` as for a heartbeat; the call can be repeated.
        """
        with self._session as session, session.transaction(durable=True):
            return jobs.release_job(session, job_id, attempt, now_ms)

    def finish_job(
        self, job_id: str, attempt: int, status: JobStatus, *, now_ms: int, error: str = "", final: bool = False
    ) -> Job:
        """Ends an attempt as succeeded, failed or cancelled; the job after it.

        A failed attempt counts as a failure, and puts the job back into the queue until it has ``max_failures`` of
        them, or at once fails the job where it is ``final``; a job that was to be cancelled is cancelled instead.
        ``LeaseLost`` as for a heartbeat; but who ended the job in the same way already is answered with the job, so
        that a call whose answer was lost can be repeated.
        """
        with self._session as session, session.transaction(durable=True):
            return jobs.finish_job(session, job_id, attempt, jobs.End(status, now_ms, error, final))

    def cancel_job(self, job_id: str, now_ms: int) -> Job:
        """Cancels a job that nobody holds, asks its holder to where one does, and leaves one that has ended."""
        with self._session as session, session.transaction(durable=True):
            return jobs.cancel_job(session, jobs.find_job(session, job_id).job_id, now_ms)

    def job(self, job_id: str) -> Job:
        """A job by its id or a unique beginning of it."""
        with self._session as session, session.snapshot():
            return jobs.find_job(session, job_id)

    def jobs(
        self, *, status: JobStatus | None = None, limit: int = 50, before: tuple[int, str] | None = None
    ) -> list[Job]:
        """Newest first. ``before`` is ``(created_at, job_id)`` of the last job of the page before."""
        with self._session as session:
            return jobs.list_jobs(session, status, limit, before)

    def note_worker(self, name: str, agents: Collection[str], suites: Collection[str], now_ms: int) -> None:
        """A worker is there and offers these digests."""
        with self._session as session, session.transaction():
            workers.note_worker(session, name, agents, suites, now_ms)

    def forget_worker(self, name: str) -> None:
        """A worker has gone."""
        with self._session as session, session.transaction():
            workers.forget_worker(session, name)

    def seen_workers(self, *, since_ms: int, now_ms: int) -> list[WorkerSeen]:
        """The workers that were heard of since ``since_ms`` or hold a job, by name."""
        with self._session as session, session.snapshot():
            return workers.seen_workers(session, since_ms, now_ms)

    def add_key(self, name: str, scope: Scope, now_ms: int) -> tuple[ApiKey, str]:
        """A new key and its secret, which is kept nowhere and cannot be had again."""
        with self._session as session, session.transaction(durable=True):
            return keys.add_key(session, name, scope, now_ms)

    def keys(self) -> list[ApiKey]:
        """Every key, revoked ones included, oldest first."""
        with self._session as session:
            return keys.list_keys(session)

    def has_keys(self) -> bool:
        """Whether a key was ever made. Revoked ones count: taking the last key away opens nothing."""
        with self._session as session:
            return keys.has_keys(session)

    def revoke_key(self, name_or_id: str, now_ms: int) -> ApiKey:
        """Takes a key out of force, for good; its name is free again."""
        with self._session as session, session.transaction(durable=True):
            return keys.revoke_key(session, name_or_id, now_ms)

    def find_key(self, secret: str, now_ms: int) -> ApiKey | None:
        """The key of a secret, ``None`` where there is none or it was revoked; compared in constant time.

        Notes the use of a key at most once a minute, and goes without where that cannot be written.
        """
        with self._session as session:
            found = keys.find_key(session, secret)
        if found is None or keys.is_use_noted(found, now_ms):
            return found
        with contextlib.suppress(StoreError):
            with self._session as session, session.transaction():
                keys.note_use(session, found, now_ms)
            return replace(found, last_used_at=now_ms)
        return found

    def add_audit(self, entry: AuditEntry) -> None:
        """Adds an entry to the log; its number is given by the store."""
        with self._session as session, session.transaction(durable=True):
            audit.add_audit(session, entry)

    def audit(self, limit: int = 100, before: int | None = None) -> list[AuditEntry]:
        """Newest first. ``before`` is the ``number`` of the last entry of the page before."""
        with self._session as session:
            return audit.list_audit(session, limit, before)

    def acknowledge(self, alert_id: str, who: str, note: str, now_ms: int) -> None:
        """Marks an alert as seen, in place of an earlier mark."""
        with self._session as session, session.transaction(durable=True):
            acknowledgements.acknowledge(session, alert_id, who, note, now_ms)

    def unacknowledge(self, alert_id: str) -> bool:
        """Takes the mark away; whether there was one."""
        with self._session as session, session.transaction(durable=True):
            return acknowledgements.unacknowledge(session, alert_id)

    def acknowledgements(self) -> dict[str, tuple[str, int, str]]:
        """Who, when and with which note, by the id of the alert."""
        with self._session as session:
            return acknowledgements.list_acknowledgements(session)
