"""One client of the recording proxy: bytes go to the target and back as they come, and are read afterwards."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Protocol

from agentdyno.servers.http_message import REASONS
from agentdyno.servers.proxy.exchange import Pausable, ProxyConnection, Upstream, reset_connection
from agentdyno.servers.proxy.recorded import RecordedExchange
from agentdyno.servers.proxy.request_stream import BodyPart, HeadTooLong, RequestEnd, RequestHead, RequestStream

READABLE = frozenset({"gzip", "x-gzip", "deflate", "identity", "*"})
"""Encodings of an answer that can be read afterwards; others are not asked for."""
SCOPES = ("case", "worker")
MARK = "x-dyno-proxy: 1"


@dataclass(frozen=True, slots=True, eq=False)
class RelayTarget:
    """Where requests of one kind of client go; ``netloc`` is host and port as a ``Host`` header has them."""

    host: str
    port: int
    netloc: str
    secure: bool


class RecordingHub(Protocol):
    """What the relays of one recording proxy share."""

    def target(self, name: str) -> RelayTarget | None: ...

    def connect(self, upstream: RelayUpstream, target: RelayTarget) -> None:
        """Opens the connection to the target, soon."""

    def began(self, exchange: RecordedExchange) -> None: ...

    def finished(self, exchange: RecordedExchange) -> None: ...

    def joined(self, relay: Relay) -> None: ...

    def left(self, relay: Relay) -> None: ...


class RelayUpstream(Upstream):
    """The connection to a target; says when it is there, and why it is not."""

    def __init__(self, relay: Relay) -> None:
        super().__init__(relay)
        self._relay = relay

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._relay.connected(self)

    def refused(self, problem: str) -> None:
        """The target did not take the connection."""
        self._relay.not_reached(self, problem)


class Relay(ProxyConnection):
    """The connection of one client. A request is for ``/case/ID/TARGET/...`` or ``/worker/ID/TARGET/...``: the first
    two say whose it is, the third where it goes; what follows is the target's path.

    All that is changed are the path, ``Host``, and in ``Accept-Encoding`` what could not be read afterwards.
    """

    def __init__(self, hub: RecordingHub) -> None:
        super().__init__()
        self._hub = hub
        self._requests = RequestStream()
        self._upstream: RelayUpstream | None = None
        self._target: RelayTarget | None = None
        self._exchange: RecordedExchange | None = None
        self._asking = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._hub.joined(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = None
        if self._upstream is not None:
            self._upstream.drop()
            self._upstream = None
        self._close_exchange("client")
        self._hub.left(self)

    def eof_received(self) -> bool:
        """A client that says nothing more may still listen."""
        return self._exchange is not None

    def data_received(self, data: bytes) -> None:
        try:
            for part in self._requests.feed(data):
                if isinstance(part, RequestHead):
                    if not self._begin(part):
                        return
                elif isinstance(part, BodyPart):
                    self._send(part.data)
                    if self._exchange is not None:
                        self._exchange.asked(part.content)
                elif isinstance(part, RequestEnd):
                    self._asked()
        except HeadTooLong:
            self.refuse(431, "the head of the request is too long for the recording proxy")

    def _other_end(self) -> Pausable | None:
        return self._upstream

    def connected(self, upstream: RelayUpstream) -> None:
        if upstream is not self._upstream or self._exchange is None:
            return
        now = perf_counter_ns()
        self._exchange.connected_ns = now
        if not self._asking:
            self._exchange.sent_ns = now

    def not_reached(self, upstream: RelayUpstream, problem: str) -> None:
        if upstream is not self._upstream:
            return
        self._upstream = None
        if self._exchange is not None:
            self._exchange.problem = problem
        self._close_exchange("not_reached")
        if self._transport is not None:
            reset_connection(self._transport)

    def answered(self, data: bytes) -> None:
        """Bytes of the target: on with them first."""
        if self._transport is None:
            return
        self._transport.write(data)
        if self._exchange is None:
            return
        self._exchange.answered(data)
        head = self._exchange.chunks[0][1]
        if head.startswith(b"HTTP/1.1 101"):
            self._requests.be_raw()

    def target_left(self, *, broken: bool) -> None:
        self._upstream = None
        self._close_exchange("reset" if broken else "target")
        if self._transport is None:
            return
        if broken:
            reset_connection(self._transport)
        else:
            self._transport.close()

    def refuse(self, status: int, message: str) -> None:
        """Answers in the proxy's own name and ends the connection."""
        if self._transport is None:
            return
        body = json.dumps({"error": {"message": message, "type": "recording_proxy", "code": None}}).encode()
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Unknown')}", "content-type: application/json", MARK]
        lines += [f"content-length: {len(body)}", "connection: close"]
        self._transport.write(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
        self._transport.close()

    def settle(self, scope: str) -> None:
        """Hands on an exchange of this scope whose answer has passed whole; called when somebody wants to know."""
        own = self._exchange
        if own is not None and own.scope == scope and not self._asking and own.complete:
            self._close_exchange("")

    def give_up(self, scope: str) -> None:
        """Tells an exchange of this scope as it stands, although it has not ended."""
        if self._exchange is not None and self._exchange.scope == scope and self._exchange.api:
            self._close_exchange("unfinished")

    def _begin(self, head: RequestHead) -> bool:
        """Whether the request goes on to its target."""
        scope, name, path = _route(head.target)
        target = self._hub.target(name)
        if target is None or not path:
            self.refuse(404, "this is agentdyno's recording proxy; its paths are /case/ID/TARGET/... alone")
            return False
        before = self._exchange
        self._exchange = RecordedExchange.begun(scope, target.netloc, head, path.partition("?")[0])
        self._hub.began(self._exchange)
        self._asking = True
        if self._upstream is None or target is not self._target:
            if self._upstream is not None:
                self._upstream.drop()
            self._target, self._upstream = target, RelayUpstream(self)
            self._hub.connect(self._upstream, target)
        else:
            self._exchange.connected_ns = self._exchange.started_ns
        self._send(head.with_target(path, {"host": target.netloc, **_readable(head)}))
        if before is not None:  # after the bytes have gone on
            if not before.complete:
                before.problem = "another request followed before its answer was complete"
            self._hand_on(before, "client")
        return True

    def _asked(self) -> None:
        self._asking = False
        if self._exchange is not None and self._exchange.connected_ns is not None:
            self._exchange.sent_ns = perf_counter_ns()

    def _send(self, data: bytes) -> None:
        if self._upstream is not None:
            self._upstream.send(data)

    def _close_exchange(self, ended: str) -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.malformed = exchange.malformed or self._requests.malformed
            self._hand_on(exchange, ended)

    def _hand_on(self, exchange: RecordedExchange, ended: str) -> None:
        exchange.close(ended)
        self._hub.finished(exchange)


def _route(target: str) -> tuple[str, str, str]:
    """Whose request it is, where it goes, and the path there; empty texts where that is not said."""
    parts = target.split("/", 4)
    if len(parts) < 4 or parts[0] or parts[1] not in SCOPES or not parts[2]:
        return "", "", ""
    return f"{parts[1]}/{parts[2]}", parts[3], "/" + (parts[4] if len(parts) == 5 else "")


def _readable(head: RequestHead) -> dict[str, str]:
    """``Accept-Encoding`` without what could not be read, where it asks for that."""
    asked = head.headers.get("accept-encoding")
    if asked is None:
        return {}
    wanted = [part.strip() for part in asked.split(",")]
    kept = [part for part in wanted if part.partition(";")[0].strip().lower() in READABLE]
    return {} if len(kept) == len(wanted) else {"accept-encoding": ", ".join(kept) or "identity"}
