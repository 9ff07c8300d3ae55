"""What stands before every route: who asks, how often, and the headers that keep browsers out of trouble."""

from __future__ import annotations

from anyio import to_thread
from starlette.datastructures import MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentdyno.errors import DynoError
from agentdyno.web.auth import authenticate
from agentdyno.web.limits import RequestRateLimit
from agentdyno.web.metrics import REFUSED
from agentdyno.web.problems import RefusedRequest, note_outage, problem_response, refused, unexpected
from agentdyno.web.sessions import cookie_secret
from agentdyno.web.state import Services

API = frozenset({"api", "benchmarks", "import", "docs", "openapi.json", "metrics", "health", "ready"})
OPEN = frozenset({"/health", "/ready", "/api/session/link"})
"""What needs no key. The last one takes the token of a link in place of it."""
FOR_PEOPLE = "/docs"
"""Read in a browser: who is not signed in is shown where that is done, and not a problem in JSON."""
CONTENT_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}


def is_api(path: str) -> bool:
    """Whether a path is the API's; everything else is the dashboard's."""
    parts = path.split("/", 2)
    return len(parts) > 1 and parts[1] in API


def _is_visit(scope: Scope) -> bool:
    """Whether somebody has opened the documentation in a browser."""
    accepted = b",".join(value for name, value in scope["headers"] if name.lower() == b"accept")
    return scope["path"] == FOR_PEOPLE and scope["method"] == "GET" and b"text/html" in accepted


class SecurityHeaders:
    """Adds what a route did not say itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, with_headers)


class LastResort:
    """Turns what nobody caught into a 500 that shows nothing of the inside."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:  # noqa: BLE001 whatever it is, the client gets a problem
            secrets = [
                value.decode("latin-1").partition(" ")[2]
                for name, value in scope["headers"]
                if name == b"authorization"
            ]
            secrets.append(cookie_secret(scope["headers"]))
            response = unexpected(error, scope["path"], secrets)
            if started:
                raise ConnectionAbortedError("the answer had begun") from None
            await response(scope, receive, send)


class Gate:
    """Lets through who may ask: sets ``scope["caller"]`` on every request to the API, or refuses it."""

    def __init__(self, app: ASGIApp, services: Services, rate: RequestRateLimit) -> None:
        self.app = app
        self._services = services
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN or not is_api(scope["path"]):
            await self.app(scope, receive, send)
            return
        try:
            await self._admit(scope)
        except RefusedRequest as error:
            scope["dyno.route"] = REFUSED
            if error.status_code == 401 and _is_visit(scope):
                await RedirectResponse(f"/key?then={FOR_PEOPLE}", 303)(scope, receive, send)
                return
            await problem_response(error, scope["path"])(scope, receive, send)
        except DynoError as error:
            scope["dyno.route"] = REFUSED
            note_outage(self._services, error)
            await problem_response(refused(error), scope["path"])(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _admit(self, scope: Scope) -> None:
        address = (scope.get("client") or ("", 0))[0]
        try:
            caller = await to_thread.run_sync(authenticate, self._services, scope)
        except RefusedRequest as error:
            if error.status_code == 401:
                self._rate.take(f"refused {address}")
            raise
        if caller.keyless:
            self._rate.take_local()
        else:
            self._rate.take(f"key {caller.key_id}")
        scope["caller"] = caller
