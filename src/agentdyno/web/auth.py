"""Who asks, and what they may do."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Request
from starlette.types import Scope as Connection

from agentdyno.model.job import Scope
from agentdyno.web.problems import RefusedRequest
from agentdyno.web.sessions import MARK, Headers, cookie_secret, is_own_page
from agentdyno.web.settings import is_loopback
from agentdyno.web.state import Services

LOCAL = "local"
LINK = "sign-in link"
"""The name of who came by the link that ``dyno serve`` printed."""
SECRET_LONGEST = 200
_HOST = re.compile(r"(?:\[(?P<inside>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(?::\d{1,5})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class ServiceCaller:
    """``name`` is that of the key, or "local" for who asks from this machine without one.

    ``by_cookie``: a browser sent it along, and not necessarily for one of our own pages.
    """

    name: str
    scope: Scope
    key_id: str = ""
    by_cookie: bool = False

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
    signed_in = _by_cookie(services, headers)
    if signed_in is not None:
        require_own_page(connection["method"], headers)
        return signed_in
    settings = services.settings
    shut = store.service.has_keys() and not settings.keyless_beside_keys
    if not settings.loopback or not settings.keyless_read or shut:
        raise unknown_caller("this needs a key")
    hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
    if len(hosts) != 1 or not is_loopback(_host_name(hosts[0])):
        raise RefusedRequest(
            421,
            "without a key this service answers to localhost only",
            "Open it as http://127.0.0.1, or make a key: `dyno keys create NAME --scope read`.",
        )
    return ServiceCaller(LOCAL, Scope.READ)


def require_own_page(method: str, headers: Headers) -> None:
    """Refuses what a page of another site may have sent along with the cookie."""
    if not is_own_page(method, headers):
        raise RefusedRequest(
            403,
            "a cookie alone does not change anything: this did not come from a page of this service",
            f"Programs send `Authorization: Bearer KEY`; pages of this service send `{MARK}` and their Origin.",
        )


def _by_cookie(services: Services, headers: Headers) -> ServiceCaller | None:
    """Who is signed in with this browser; a cookie that has lost its force is as none."""
    secret = cookie_secret(headers)
    if not secret:
        return None
    if services.link.knows(secret):
        return ServiceCaller(LINK, Scope.RUN, "link", by_cookie=True)
    key = services.store.service.find_key(secret, services.now_ms())
    return None if key is None else ServiceCaller(key.name, key.scope, key.key_id, by_cookie=True)


def bearer_secret(headers: Headers) -> str:
    """The key in the header ``Authorization``; "" where there is none."""
    return _secret([value for name, value in headers if name.lower() == b"authorization"])


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
