"""Alerts that somebody has seen and does not want to be told again."""

from __future__ import annotations

from sqlalchemy import delete, select

from agentdyno.store.database.session import Link
from agentdyno.store.service.schema import acknowledgements


def acknowledge(link: Link, alert_id: str, who: str, note: str, now_ms: int) -> None:
    """In place of an acknowledgement that the alert has already."""
    row = {"alert_id": alert_id, "who": who, "at": now_ms, "note": note}
    link.execute(link.backend.insert_or_replace(acknowledgements, ("alert_id",), "1 = 1"), row)


def unacknowledge(link: Link, alert_id: str) -> bool:
    """Whether there was anything to take back."""
    return link.execute(delete(acknowledgements).where(acknowledgements.c.alert_id == alert_id)).rowcount > 0


def list_acknowledgements(link: Link) -> dict[str, tuple[str, int, str]]:
    """Who, when and the note, by alert, oldest alert id first."""
    columns = acknowledgements.c
    wanted = select(columns.alert_id, columns.who, columns.at, columns.note).order_by(columns.alert_id)
    return {alert_id: (who, at, note) for alert_id, who, at, note in link.execute(wanted)}
