"""Who asks, and what they may do."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Request
from starlette.types import Scope as Connection

from agentdyno.model.job import Scope
from agentdyno.web.problems import RefusedRequest
from agentdyno.web.settings import is_loopback
from agentdyno.web.state import Services

LOCAL = "local"
SECRET_LONGEST = 200
_HOST = re.compile(r"(?:\[(?P<inside>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(?::\d{1,5})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ServiceCaller:
    """``name`` is that of the key, or "local" for who asks from this machine without one."""

    name: str
    scope: Scope
    key_id: str = ""

    @property
    def keyless(self) -> bool:
        return not self.key_id


def require(scope: Scope) -> Callable[[Request], Awaitable[ServiceCaller]]:
    """A dependency that gives the caller, and refuses those whose scope is too small."""

    async def allowed(request: Request) -> ServiceCaller:
        caller = request.scope.get("caller")
        if not isinstance(caller, ServiceCaller):
            raise unknown_caller("this needs a key")
        if caller.scope.allows(scope):
            return caller
        remedy = (
            f"`dyno keys create NAME --scope {scope.value}` makes one that may; send it as `Authorization: Bearer`."
        )
        if caller.keyless:
            raise unknown_caller(f"this needs a key of scope {scope.value}", remedy)
        raise RefusedRequest(
            403, f"the key {caller.name!r} has scope {caller.scope.value}, this needs {scope.value}", remedy
        )

    return allowed


def authenticate(services: Services, connection: Connection) -> ServiceCaller:
    """Who sent this request. Reads the store, so call it from a thread. Raises ``RefusedRequest`` (401 or 421)."""
    headers = [(name.lower(), value) for name, value in connection["headers"]]
    given = [value for name, value in headers if name == b"authorization"]
    store = services.store
    if given:
        secret = _secret(given)
        key = store.service.find_key(secret, services.now_ms()) if secret else None
        if key is None:
            raise unknown_caller("this key is not known, or was revoked")
        return ServiceCaller(key.name, key.scope, key.key_id)
    settings = services.settings
    if not settings.loopback or not settings.keyless_read or store.service.has_keys():
        raise unknown_caller("this needs a key")
    hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
    if len(hosts) != 1 or not is_loopback(_host_name(hosts[0])):
        raise RefusedRequest(
            421,
            "without a key this service answers to localhost only",
            "Open it as http://127.0.0.1, or make a key: `dyno keys create NAME --scope read`.",
        )
    return ServiceCaller(LOCAL, Scope.READ)


def unknown_caller(detail: str, remedy: str | None = None) -> RefusedRequest:
    told = remedy or "Send `Authorization: Bearer KEY`; `dyno keys create NAME --scope read` makes a key."
    return RefusedRequest(401, detail, told, headers={"WWW-Authenticate": 'Bearer realm="agentdyno"'})


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
