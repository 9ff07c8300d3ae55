"""How much, how fast and how often: bodies and requests."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentdyno.web.problems import RefusedRequest, problem_response
from agentdyno.web.settings import ServiceSettings

IMPORT = frozenset({"/api/import", "/import"})
LOCAL_FACTOR = 60
"""Who asks without a key is on this machine, and may ask so many times as often as a key."""
_MOST_BUCKETS = 4096


class RequestRateLimit:
    """Token buckets: each holds a minute's worth of requests and fills evenly. Used by the event loop only."""

    def __init__(self, per_minute: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._monotonic = monotonic
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str) -> None:
        """One request of ``who``. Raises ``RefusedRequest`` (429) where there were too many."""
        self._take(who, self._per_minute)

    def take_local(self) -> None:
        self._take("local", self._per_minute * LOCAL_FACTOR)

    def _take(self, who: str, per_minute: int) -> None:
        if per_minute <= 0:
            return
        now = self._monotonic()
        level, at = self._buckets.pop(who, (float(per_minute), now))
        level = min(float(per_minute), level + (now - at) * per_minute / 60)
        allowed = level >= 1
        self._buckets[who] = (level - 1 if allowed else level, now)
        while len(self._buckets) > _MOST_BUCKETS:
            self._buckets.popitem(last=False)
        if not allowed:
            wait_s = math.ceil((1 - level) * 60 / per_minute)
            raise RefusedRequest(
                429,
                f"more than {per_minute} requests a minute",
                f"Try again in {wait_s} s.",
                headers={"Retry-After": str(wait_s)},
            )


class BodyLimits:
    """Refuses bodies that are too large, announced or not, and those that take too long to arrive."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings) -> None:
        self.app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        settings = self._settings
        most = settings.max_import_bytes if scope["path"] in IMPORT else settings.max_body_bytes
        body = _Body(receive, most, settings.body_timeout_s)
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            body.check_announced(scope)
            await self.app(scope, body.receive, watched)
        except RefusedRequest as error:
            if not started:
                await problem_response(error, scope["path"])(scope, receive, send)


class _Body:
    def __init__(self, receive: Receive, most_bytes: int, timeout_s: float) -> None:
        self._receive = receive
        self._most_bytes = most_bytes
        self._timeout_s = timeout_s
        self._seen_bytes = 0
        self._deadline: float | None = None
        self._complete = False

    def check_announced(self, scope: Scope) -> None:
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value[:20]) > self._most_bytes:
                raise self._too_large()

    async def receive(self) -> Message:
        if self._complete:
            return await self._receive()
        loop = asyncio.get_running_loop()
        if self._deadline is None:
            self._deadline = loop.time() + self._timeout_s
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise RefusedRequest(
                408,
                f"the body did not arrive within {self._timeout_s:g} s",
                "Send it in one go.",
                headers={"Connection": "close"},
            ) from None
        if message["type"] == "http.request":
            self._seen_bytes += len(message.get("body", b""))
            self._complete = not message.get("more_body", False)
            if self._seen_bytes > self._most_bytes:
                raise self._too_large()
        return message

    def _too_large(self) -> RefusedRequest:
        return RefusedRequest(
            413,
            f"the body has more than {self._most_bytes} bytes",
            "Send less at once.",
            headers={"Connection": "close"},
        )
