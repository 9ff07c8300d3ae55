"""Keys of a service's callers. A secret is shown once, when it is made; what is kept is its SHA-256.

A secret has 240 random bits, so that a fast digest without salt is enough: there is nothing to guess from.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import RowMapping, func, or_, select, update
from sqlalchemy.exc import IntegrityError

from agentdyno.errors import Conflict, Unknown, nearest
from agentdyno.model.job import ApiKey, Scope
from agentdyno.store.boards.identities import timed_uid, uid_text
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.service.schema import api_keys

MARK = "dyno_"
"""What every secret begins with, so that scanners for leaked secrets know one."""
PREFIX_LENGTH = 10
USE_NOTED_EVERY_MS = 60_000
_RANDOM_BYTES = 30  # 40 characters of URL-safe base64
_COLUMNS = tuple(api_keys.c[field.name] for field in fields(ApiKey))


def add_key(session: DatabaseSession, name: str, scope: Scope, now_ms: int) -> tuple[ApiKey, str]:
    """A new key and its secret; no other key in force may have the name."""
    secret = MARK + secrets.token_urlsafe(_RANDOM_BYTES)
    key = ApiKey(uid_text(timed_uid(now_ms)), name, Scope(scope), secret[:PREFIX_LENGTH], now_ms)
    row = {field.name: getattr(key, field.name) for field in fields(ApiKey)}
    try:
        session.execute(api_keys.insert(), {**row, "scope": key.scope.value, "secret_digest": _digest(secret)})
    except IntegrityError:
        remedy = f"Choose another name, or revoke it first: `dyno keys revoke {name}`."
        raise Conflict(f"there is a key named {name!r} already", where=session.backend.where, remedy=remedy) from None
    return key, secret


def list_keys(session: DatabaseSession) -> list[ApiKey]:
    """Every key, revoked ones included, oldest first."""
    return [_key(row._mapping) for row in session.execute(select(*_COLUMNS).order_by(api_keys.c.id))]


def has_keys(session: DatabaseSession) -> bool:
    """Whether a key was ever made."""
    return session.execute(select(api_keys.c.id).limit(1)).scalar() is not None


def revoke_key(session: DatabaseSession, reference: str, now_ms: int) -> ApiKey:
    """The key of that id, or the one in force of that name, which from now on opens nothing; once is enough."""
    named = select(*_COLUMNS).where(or_(api_keys.c.key_id == reference, api_keys.c.name == reference))
    in_force_first = (func.coalesce(api_keys.c.revoked_at, -1), api_keys.c.id.desc())
    row = session.execute(named.order_by(*in_force_first).limit(1)).one_or_none()
    if row is None:
        known = session.execute(select(api_keys.c.name).where(api_keys.c.revoked_at.is_(None))).scalars()
        raise Unknown(f"there is no key {reference!r}", where=session.backend.where, remedy=nearest(reference, known))
    if row.revoked_at is not None:
        return _key(row._mapping)
    own = api_keys.c.key_id == row.key_id
    session.execute(update(api_keys).where(own), {"revoked_at": now_ms})
    return _key({**row._mapping, "revoked_at": now_ms})


def find_key(session: DatabaseSession, secret: str) -> ApiKey | None:
    """The key in force that ``secret`` belongs to.

    Rows are found by the prefix, which is no secret, and digests compared in constant time, all of them: how long it
    takes tells nothing about how much of a guess is right.
    """
    if not secret.isascii():
        return None
    given = _digest(secret)
    wanted = select(*_COLUMNS, api_keys.c.secret_digest).where(api_keys.c.prefix == secret[:PREFIX_LENGTH])
    matching: ApiKey | None = None
    for row in session.execute(wanted):
        same = hmac.compare_digest(row.secret_digest, given)
        if same and row.revoked_at is None:
            matching = _key({name: value for name, value in row._mapping.items() if name != "secret_digest"})
    return matching


def is_use_noted(key: ApiKey, now_ms: int) -> bool:
    """Whether the last use of a key was noted less than a minute ago."""
    return key.last_used_at is not None and now_ms - key.last_used_at < USE_NOTED_EVERY_MS


def note_use(session: DatabaseSession, key: ApiKey, now_ms: int) -> None:
    session.execute(update(api_keys).where(api_keys.c.key_id == key.key_id), {"last_used_at": now_ms})


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _key(row: Mapping[str, Any] | RowMapping) -> ApiKey:  # columns have the types of the fields of their names
    return ApiKey(**{**row, "scope": Scope(row["scope"])})
