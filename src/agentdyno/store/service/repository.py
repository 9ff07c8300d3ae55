"""What a store keeps for a service: jobs, workers, keys, the audit log, alerts that were acknowledged and sent."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import replace

from sqlalchemy import delete, select

from agentdyno.errors import StoreError
from agentdyno.model.job import ApiKey, AuditEntry, Delivery, Job
from agentdyno.store.database.repository import Repository, directly, durably, in_snapshot, in_transaction
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.codec import plain_or_null
from agentdyno.store.service import batches as batch_rows
from agentdyno.store.service import deliveries as delivery_rows
from agentdyno.store.service import jobs as job_rows
from agentdyno.store.service import keys as key_rows
from agentdyno.store.service.schema import acknowledgements, audit


def insert_audit(session: DatabaseSession, entry: AuditEntry) -> None:
    """Adds an entry to the log; its number is given by the store. Nothing takes an entry back."""
    details = plain_or_null(entry.details, "the details of an audit entry")
    row = {"at": entry.at, "who": entry.who, "action": entry.action, "subject": entry.subject, "details": details}
    session.execute(audit.insert(), row)


def list_audit(session: DatabaseSession, limit: int = 100, before: int | None = None) -> list[AuditEntry]:
    """Newest first. ``before`` is the ``number`` of the last entry of the page before."""
    wanted = select(audit).order_by(audit.c.id.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(audit.c.id < before)
    return [
        AuditEntry(row.at, row.who, row.action, row.subject, row.details or {}, row.id)
        for row in session.execute(wanted)
    ]


def replace_acknowledgement(session: DatabaseSession, alert_id: str, who: str, note: str, now_ms: int) -> None:
    """Marks an alert as seen, in place of an earlier mark."""
    row = {"alert_id": alert_id, "who": who, "at": now_ms, "note": note}
    session.execute(session.backend.insert_or_replace(acknowledgements, ("alert_id",), "1 = 1"), row)


def delete_acknowledgement(session: DatabaseSession, alert_id: str) -> bool:
    """Takes the mark away; whether there was one."""
    return session.execute(delete(acknowledgements).where(acknowledgements.c.alert_id == alert_id)).rowcount > 0


def list_acknowledgements(session: DatabaseSession) -> dict[str, tuple[str, int, str]]:
    """Who, when and with which note, by the id of the alert, in the order of the ids."""
    columns = acknowledgements.c
    wanted = select(columns.alert_id, columns.who, columns.at, columns.note).order_by(columns.alert_id)
    return {alert_id: (who, at, note) for alert_id, who, at, note in session.execute(wanted)}


class ServiceRepository(Repository):
    """The part of a ``Store`` that a service and its workers use.

    What is written survives a loss of power, except for when a key was last used and which workers are there. Times
    are UTC milliseconds and come from the caller. What is asked for and not there is ``Unknown``, a name that is
    taken ``Conflict``.
    """

    add_job = durably(job_rows.add_job)
    job_asked = directly(job_rows.job_asked)
    queue_depth = directly(job_rows.queue_depth)
    job_counts = directly(job_rows.job_counts)
    heartbeat_job = durably(job_rows.heartbeat_job)
    release_job = durably(job_rows.release_job)
    finish_job = durably(job_rows.finish_job)
    cancel_job = durably(job_rows.cancel_job)
    job = in_snapshot(job_rows.find_job)
    jobs = directly(job_rows.list_jobs)

    note_worker = in_transaction(job_rows.note_worker)
    forget_worker = in_transaction(job_rows.forget_worker)
    seen_workers = in_snapshot(job_rows.seen_workers)

    add_key = durably(key_rows.add_key)
    keys = directly(key_rows.list_keys)
    has_keys = directly(key_rows.has_keys)
    revoke_key = durably(key_rows.revoke_key)

    add_audit = durably(insert_audit)
    audit = directly(list_audit)

    acknowledge = durably(replace_acknowledgement)
    unacknowledge = durably(delete_acknowledgement)
    acknowledgements = directly(list_acknowledgements)

    add_batch = durably(batch_rows.add_batch)
    batches = directly(batch_rows.list_batches)
    drop_batches = durably(batch_rows.drop_batches)

    told_of = directly(delivery_rows.told_of)
    add_delivery = durably(delivery_rows.add_delivery)
    end_delivery = durably(delivery_rows.end_delivery)
    retry_deliveries = durably(delivery_rows.retry_deliveries)
    deliveries = directly(delivery_rows.list_deliveries)

    def take_delivery(
        self, workspace: str, channels: Collection[str], *, now_ms: int, lease_ms: int
    ) -> Delivery | None:
        """The message to these places that has been due the longest, held for ``lease_ms``; ``None``: none is due."""
        with self._session as session:
            if not delivery_rows.has_due_delivery(session, workspace, channels, now_ms):
                return None
            with session.transaction(durable=True):
                return delivery_rows.take_delivery(session, workspace, channels, now_ms=now_ms, lease_ms=lease_ms)

    def lease_job(
        self, worker: str, offers: job_rows.Offers, *, now_ms: int, lease_ms: int, batches: bool = False
    ) -> Job | None:
        """The next job for ``worker``, which holds it for ``lease_ms``; ``None`` where there is nothing for it.

        Highest priority first, then oldest, among queued jobs and running ones whose lease ran out, as far as
        ``offers`` has their agent's and suite's digest. However many ask at once, one gets it. A job that is lost for
        the eleventh time fails instead, and a lost one that was to be cancelled is. With ``batches`` parts of others'
        runs are taken, too, and first.
        """
        with self._session as session:
            found = job_rows.waiting(session, offers, now_ms, batches=batches)
            if not found:
                return None
            with session.transaction(durable=True):
                return job_rows.lease_job(session, worker, found, now_ms, lease_ms)

    def find_key(self, secret: str, now_ms: int) -> ApiKey | None:
        """The key of a secret, ``None`` where there is none or it was revoked; compared in constant time.

        Notes the use of a key at most once a minute, and goes without where that cannot be written.
        """
        with self._session as session:
            found = key_rows.find_key(session, secret)
        if found is None or key_rows.is_use_noted(found, now_ms):
            return found
        with contextlib.suppress(StoreError):
            with self._session as session, session.transaction():
                key_rows.note_use(session, found, now_ms)
            return replace(found, last_used_at=now_ms)
        return found
