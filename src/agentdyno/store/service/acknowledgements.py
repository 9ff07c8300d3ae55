"""Alerts that somebody has seen and does not want to be told again."""

from __future__ import annotations

from sqlalchemy import delete, select

from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.service.schema import acknowledgements


def acknowledge(session: DatabaseSession, alert_id: str, who: str, note: str, now_ms: int) -> None:
    """In place of an acknowledgement that the alert has already."""
    row = {"alert_id": alert_id, "who": who, "at": now_ms, "note": note}
    session.execute(session.backend.insert_or_replace(acknowledgements, ("alert_id",), "1 = 1"), row)


def unacknowledge(session: DatabaseSession, alert_id: str) -> bool:
    """Whether there was anything to take back."""
    return session.execute(delete(acknowledgements).where(acknowledgements.c.alert_id == alert_id)).rowcount > 0


def list_acknowledgements(session: DatabaseSession) -> dict[str, tuple[str, int, str]]:
    """Who, when and the note, by alert, oldest alert id first."""
    columns = acknowledgements.c
    wanted = select(columns.alert_id, columns.who, columns.at, columns.note).order_by(columns.alert_id)
    return {alert_id: (who, at, note) for alert_id, who, at, note in session.execute(wanted)}
