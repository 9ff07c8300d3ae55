"""Messages about alerts: queued once for each place, leased to one sender at a time, tried again until they arrive.

``attempt`` fences, as for jobs. Every function runs inside a transaction of its caller. Times are UTC milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, and_, or_, select, update

from agentdyno.errors import LeaseLost
from agentdyno.model.job import Delivery, DeliveryStatus
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.codec import plain_or_null
from agentdyno.store.service.schema import deliveries, told_alerts

_NAMES = tuple(field.name for field in fields(Delivery))
_COLUMNS = tuple(deliveries.c[name] for name in _NAMES)
_TOLD_KEY = ("workspace", "channel", "alert_id")


def told_of(session: DatabaseSession, workspace: str, channel: str, alert_ids: Collection[str]) -> set[str]:
    """Those of the alerts that a message to this place tells of, sent or not."""
    columns = told_alerts.c
    mine = (columns.workspace == workspace, columns.channel == channel, columns.alert_id.in_(list(alert_ids)))
    return set(session.execute(select(columns.alert_id).where(*mine)).scalars())


def add_delivery(session: DatabaseSession, delivery: Delivery) -> bool:
    """Queues a message, unless another tells the same place of one of its ``alert_ids`` already; whether it did."""
    place = {"workspace": delivery.workspace, "channel": delivery.channel, "delivery_id": delivery.delivery_id}
    insert = session.backend.insert_unless_present(told_alerts, _TOLD_KEY)
    for alert_id in sorted(
        delivery.alert_ids
    ):  # one order, so that two who notice the same never wait for each other
        session.execute(insert, {**place, "alert_id": alert_id})
    mine = told_alerts.c.delivery_id == delivery.delivery_id
    claimed = set(session.execute(select(told_alerts.c.alert_id).where(mine)).scalars())
    if claimed != set(delivery.alert_ids):
        session.execute(told_alerts.delete().where(mine))
        return False
    session.execute(deliveries.insert(), _row(delivery))
    return True


def has_due_delivery(session: DatabaseSession, workspace: str, channels: Collection[str], now_ms: int) -> bool:
    """A look without a lock, so that whoever has nothing to send disturbs nobody who writes."""
    wanted = select(deliveries.c.id).where(_takeable(workspace, channels, now_ms)).limit(1)
    return session.execute(wanted).scalar() is not None


def take_delivery(
    session: DatabaseSession, workspace: str, channels: Collection[str], *, now_ms: int, lease_ms: int
) -> Delivery | None:
    """The message to these places that has been due the longest, which the caller holds for ``lease_ms``."""
    wanted = select(*_COLUMNS).where(_takeable(workspace, channels, now_ms))
    order = (deliveries.c.due_at, deliveries.c.id)
    row = session.execute(wanted.order_by(*order).limit(1).with_for_update(skip_locked=True)).one_or_none()
    if row is None:
        return None
    found = _delivery_in(row._mapping)
    held = {"status": DeliveryStatus.SENDING, "attempt": found.attempt + 1, "tries": found.tries + 1}
    return _change(session, found, lease_until=now_ms + lease_ms, **held)


def end_delivery(
    session: DatabaseSession, held: Delivery, *, now_ms: int, error: str = "", again_at: int | None = None
) -> Delivery:
    """Ends a try: sent where there is no ``error``, else tried again at ``again_at``, or given up without that.

    ``LeaseLost`` where another has taken the message meanwhile.
    """
    this = deliveries.c.delivery_id == held.delivery_id
    row = session.execute(select(*_COLUMNS).where(this).with_for_update()).one()
    found = _delivery_in(row._mapping)
    if (found.attempt, found.status) != (held.attempt, DeliveryStatus.SENDING):
        message = f"attempt {held.attempt} at message {held.delivery_id} is over: it is {found.status.value}"
        raise LeaseLost(message, where=session.backend.where)
    if error and again_at is not None:
        waits = {"status": DeliveryStatus.WAITING, "due_at": again_at}
        return _change(session, found, lease_until=None, error=error, **waits)
    status = DeliveryStatus.FAILED if error else DeliveryStatus.SENT
    return _change(session, found, status=status, lease_until=None, finished_at=now_ms, error=error)


def retry_deliveries(session: DatabaseSession, workspace: str, channels: Collection[str], now_ms: int) -> int:
    """Makes messages to these places that were given up, or wait for their next try, due now; how many."""
    again = (DeliveryStatus.FAILED.value, DeliveryStatus.WAITING.value)
    mine = (deliveries.c.status.in_(again), _to(workspace, channels))
    values = {"status": DeliveryStatus.WAITING.value, "due_at": now_ms, "tries": 0, "finished_at": None}
    return session.execute(update(deliveries).where(*mine).values(values)).rowcount


def list_deliveries(session: DatabaseSession, limit: int = 50) -> list[Delivery]:
    """Newest first."""
    wanted = select(*_COLUMNS).order_by(deliveries.c.created_at.desc(), deliveries.c.id.desc()).limit(limit)
    return [_delivery_in(row._mapping) for row in session.execute(wanted)]


def _to(workspace: str, channels: Collection[str]) -> ColumnElement[bool]:
    return and_(deliveries.c.workspace == workspace, deliveries.c.channel.in_(list(channels)))


def _takeable(workspace: str, channels: Collection[str], now_ms: int) -> ColumnElement[bool]:
    waits = and_(deliveries.c.status == DeliveryStatus.WAITING.value, deliveries.c.due_at <= now_ms)
    lost = and_(deliveries.c.status == DeliveryStatus.SENDING.value, deliveries.c.lease_until <= now_ms)
    return and_(or_(waits, lost), _to(workspace, channels))


def _change(session: DatabaseSession, delivery: Delivery, **changes: Any) -> Delivery:  # values of fields
    after = replace(delivery, **changes)
    row = _row(after)
    this = deliveries.c.delivery_id == delivery.delivery_id
    session.execute(update(deliveries).where(this), {name: row[name] for name in changes})
    return after


def _row(delivery: Delivery) -> dict[str, object]:
    row = {name: getattr(delivery, name) for name in _NAMES}
    message = plain_or_null(delivery.message, "a message about alerts")
    return {**row, "status": delivery.status.value, "message": message, "alert_ids": list(delivery.alert_ids)}


def _delivery_in(row: Mapping[str, Any] | RowMapping) -> Delivery:  # columns have the types of the fields
    kept = {"message": row["message"] or {}, "alert_ids": tuple(row["alert_ids"] or ())}
    return Delivery(**{**row, **kept, "status": DeliveryStatus(row["status"])})
