"""Keys and the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, StringConstraints
from starlette.responses import Response

from agentdyno.model.job import ApiKey, AuditEntry, Scope
from agentdyno.web.asked import StrictBodyRoute
from agentdyno.web.auth import ServiceCaller, require
from agentdyno.web.lookups import decode_cursor, encode_cursor
from agentdyno.web.problems import finding
from agentdyno.web.replies import answer
from agentdyno.web.state import Services, services

router = APIRouter(prefix="/api", tags=["administration"], route_class=StrictBodyRoute)
Given = Annotated[Services, Depends(services)]
Administrator = Annotated[ServiceCaller, Depends(require(Scope.ADMIN))]


class KeyBody(BaseModel):
    """``name`` tells keys apart, in lists and in the audit log."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    scope: Scope


@dataclass(frozen=True, slots=True)
class KeyItems:
    items: tuple[ApiKey, ...]


@dataclass(frozen=True, slots=True)
class NewKey:
    """``secret`` is what a caller sends. It is kept nowhere and shown this once."""

    key: ApiKey
    secret: str


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Newest first; ``next`` is the cursor of the following page."""

    items: tuple[AuditEntry, ...]
    next: str | None


@router.get("/keys", response_model=KeyItems)
def keys(given: Given, _: Administrator) -> Response:
    """Every key, revoked ones included; no secrets."""
    return answer(KeyItems(tuple(given.store.service.keys())))


@router.post("/keys", response_model=NewKey, status_code=201)
def create(given: Given, caller: Administrator, body: KeyBody) -> Response:
    """Makes a key."""
    store, now = given.store, given.now_ms()
    key, secret = store.service.add_key(body.name, body.scope, now)
    store.service.add_audit(AuditEntry(now, caller.name, "create key", key.name, {"scope": key.scope.value}))
    return answer(NewKey(key, secret), status=201)


@router.delete("/keys/{name}", response_model=ApiKey)
def revoke(given: Given, caller: Administrator, name: Annotated[str, Path(max_length=200)]) -> Response:
    """Takes a key out of force, by its name or id."""
    store, now = given.store, given.now_ms()
    with finding("path.name"):
        key = store.service.revoke_key(name, now)
    if key.revoked_at == now:
        store.service.add_audit(AuditEntry(now, caller.name, "revoke key", key.name))
    return answer(key)


@router.get("/audit", response_model=AuditPage)
def audit(
    given: Given,
    _: Administrator,
    cursor: Annotated[str | None, Query(max_length=1024)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Response:
    """Who did what, the newest first."""
    place = decode_cursor(cursor, int)
    found = given.store.service.audit(limit + 1, int(place[0]) if place else None)
    shown = tuple(found[:limit])
    following = encode_cursor((shown[-1].number or 0,)) if len(found) > limit else None
    return answer(AuditPage(shown, following))
