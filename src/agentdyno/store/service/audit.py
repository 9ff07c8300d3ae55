"""The audit log: who did what, in the order of writing. Nothing takes an entry back."""

from __future__ import annotations

from sqlalchemy import select

from agentdyno.model.job import AuditEntry
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.codec import plain_or_null
from agentdyno.store.service.schema import audit


def add_audit(session: DatabaseSession, entry: AuditEntry) -> None:
    details = plain_or_null(entry.details, "the details of an audit entry")
    row = {"at": entry.at, "who": entry.who, "action": entry.action, "subject": entry.subject, "details": details}
    session.execute(audit.insert(), row)


def list_audit(session: DatabaseSession, limit: int, before: int | None) -> list[AuditEntry]:
    """Newest first; ``before`` is the number of the last entry of the page before."""
    wanted = select(audit).order_by(audit.c.id.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(audit.c.id < before)
    return [
        AuditEntry(row.at, row.who, row.action, row.subject, row.details or {}, row.id)
        for row in session.execute(wanted)
    ]
