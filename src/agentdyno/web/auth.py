"""Who asks, and what they may do."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Request
from starlette.types import Scope as Connection

from agentdyno.model.job import Scope
from agentdyno.web.problems import Refused
from agentdyno.web.settings import is_loopback
from agentdyno.web.state import Services

LOCAL = "local"
SECRET_LONGEST = 200
_HOST = re.compile(r"(?:\[(?P<inside>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(?::\d{1,5})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Caller:
    """``name`` is that of the key, or "local" for who asks from this machine without one."""

    name: str
    scope: Scope
    key_id: str = ""

    @property
    def keyless(self) -> bool:
        return not self.key_id


def require(scope: Scope) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency that gives the caller, and refuses those whose scope is too small."""

    async def allowed(request: Request) -> Caller:
        caller = request.scope.get("caller")
        if not isinstance(caller, Caller):
            raise unknown_caller("this needs a key")
        if caller.scope.allows(scope):
            return caller
        remedy = (
            f"`dyno keys create NAME --scope {scope.value}` makes one that may; send it as `Authorization: Bearer`."
        )
        if caller.keyless:
            raise unknown_caller(f"this needs a key of scope {scope.value}", remedy)
        raise Refused(
            403, f"the key {caller.name!r} has scope {caller.scope.value}, this needs {scope.value}", remedy
        )

    return allowed


def authenticate(services: Services, connection: Connection) -> Caller:
    """Who sent this request. Reads the store, so call it from a thread. Raises ``Refused`` (401 or 421)."""
    headers = [(name.lower(), value) for name, value in connection["headers"]]
    given = [value for name, value in headers if name == b"authorization"]
    store = services.store
    if given:
        secret = _secret(given)
        key = store.service.find_key(secret, services.now_ms()) if secret else None
        if key is None:
            raise unknown_caller("this key is not known, or was revoked")
        return Caller(key.name, key.scope, key.key_id)
    settings = services.settings
    if not settings.loopback or not settings.keyless_read or store.service.has_keys():
        raise unknown_caller("this needs a key")
    hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
    if len(hosts) != 1 or not is_loopback(_host_name(hosts[0])):
        raise Refused(
            421,
            "without a key this service answers to localhost only",
            "Open it as http://127.0.0.1, or make a key: `dyno keys create NAME --scope read`.",
        )
    return Caller(LOCAL, Scope.READ)


def unknown_caller(detail: str, remedy: str | None = None) -> Refused:
    told = remedy or "Send `Authorization: Bearer KEY`; `dyno keys create NAME --scope read` makes a key."
    return Refused(401, detail, told, headers={"WWW-Authenticate": 'Bearer realm="agentdyno"'})


def _secret(given: list[bytes]) -> str:
    """The bearer's secret; empty where the header is repeated or says something else."""
    if len(given) != 1 or len(given[0]) > SECRET_LONGEST:
        return ""
    kind, _, secret = given[0].decode("latin-1").partition(" ")
    return secret.strip() if kind.lower() == "bearer" and secret.isascii() else ""


def _host_name(host: str) -> str:
    """A Host header without its port; empty where it is not just a name and a port."""
    found = _HOST.fullmatch(host)
    return (found["inside"] or found["name"]) if found else ""
