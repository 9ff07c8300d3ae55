"""One client of a proxy and its connection to the target: bytes there and back, and what a fault makes of them."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from time import perf_counter_ns
from typing import Protocol, cast

from agentdyno.servers.http_message import BadRequest, RequestReader
from agentdyno.servers.proxy.fault import ProxyFault, error_frames, own_answer, split_at_boundary

RESET = struct.pack("ii", 1, 0)  # linger for zero seconds: closing sends RST, not FIN
HIGH_WATER_BYTES = 1024 * 1024
MOST_HELD_BYTES = 4 * 1024 * 1024
"""Bytes of an answer held back while its head or first chunk is not complete."""


class Hub(Protocol):
    """What the links of one proxy share."""

    fault: ProxyFault
    host: bytes
    """Host and port of the proxy, as a client writes them into a request."""
    target_host: bytes
    """Those of the target."""

    def connect(self, upstream: Upstream) -> None:
        """Opens the connection to the target, soon."""

    def later(self, due_ns: int, link: ProxyExchange) -> None: ...

    def struck(self, name: str) -> None: ...

    def joined(self, link: ProxyExchange) -> None: ...

    def left(self, link: ProxyExchange) -> None: ...


def reset_connection(transport: asyncio.Transport) -> None:
    """Ends a connection as a crashed server would."""
    raw = transport.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    transport.abort()


class Pausable(Protocol):
    """What can be told to read nothing for a while."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...


class ClientLink(Pausable, Protocol):
    """The client that a connection to the target belongs to."""

    def answered(self, data: bytes) -> None: ...

    def target_left(self, *, broken: bool) -> None: ...


class ProxyConnection(asyncio.Protocol):
    """One of the two connections that a proxy hands bytes between: each is read only as fast as the other takes them.

    ``_other_end`` is the one that its bytes go to, ``None`` where there is none.
    """

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None

    def _other_end(self) -> Pausable | None:
        raise NotImplementedError

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(HIGH_WATER_BYTES)

    def pause_writing(self) -> None:
        if (other := self._other_end()) is not None:
            other.pause()

    def resume_writing(self) -> None:
        if (other := self._other_end()) is not None:
            other.resume()

    def pause(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()


class Upstream(ProxyConnection):
    """The connection to the target that belongs to one client."""

    def __init__(self, link: ClientLink) -> None:
        super().__init__()
        self._link: ClientLink | None = link
        self._unsent: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert self._transport is not None
        if self._link is None:
            self._transport.abort()
            return
        unsent, self._unsent = self._unsent, []
        for data in unsent:
            self._transport.write(data)

    def data_received(self, data: bytes) -> None:
        if self._link is not None:
            self._link.answered(data)

    def eof_received(self) -> None:
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.target_left(broken=exc is not None)

    def _other_end(self) -> Pausable | None:
        return self._link

    def send(self, data: bytes) -> None:
        if self._transport is None:
            self._unsent.append(data)
        else:
            self._transport.write(data)

    def not_reached(self) -> None:
        """The target did not take the connection."""
        self.connection_lost(ConnectionRefusedError())

    def drop(self) -> None:
        """Ends it without telling the link."""
        self._link = None
        if self._transport is not None:
            self._transport.abort()


class ProxyExchange(ProxyConnection):
    """The connection of one client. Without a fault it hands on what comes, as it comes."""

    def __init__(self, hub: Hub) -> None:
        super().__init__()
        self._hub = hub
        self._upstream: Upstream | None = None
        self._delayed: deque[tuple[int, bytes]] = deque()
        self._reader: RequestReader | None = None
        self._asking = self._in_body = self._dead = False
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._hub.joined(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = None
        if self._upstream is not None:
            self._upstream.drop()
        self._hub.left(self)

    def data_received(self, data: bytes) -> None:
        """Bytes of the client: a new request begins with the first ones after an answer has begun."""
        if self._dead:
            return
        begins = not self._asking
        if begins:
            self._asking, self._in_body, self._held = True, False, b""
            data = self._addressed(data)
        fault = self._hub.fault
        if fault.name == "half_open":
            self._die()
        elif self._reader is not None or (begins and fault.name == "errors"):
            self._answer_myself(data)
        elif self._delayed or fault.name == "latency":
            if begins:
                self._hub.struck(fault.name)
            due_ns = perf_counter_ns() + round(fault.delay_s * 1e9)
            self._delayed.append((due_ns, data))
            self._hub.later(due_ns, self)
        else:
            self._ask(data)

    def _other_end(self) -> Pausable | None:
        return self._upstream

    def fire(self, due_ns: int) -> int:
        """What was held back until ``due_ns`` goes on; an entry of the timetable."""
        while self._delayed and self._delayed[0][0] <= due_ns:
            data = self._delayed.popleft()[1]
            if self._transport is not None:
                self._ask(data)
        return 0

    def answered(self, data: bytes) -> None:
        """Bytes of the target."""
        if self._transport is None or self._dead:
            return
        name = self._hub.fault.name
        if name == "half_open":
            self._die()
        elif name in ("reset", "truncated") or (name == "stream_error" and not self._in_body):
            self._spoil(name, data)
        else:
            if self._held:
                data, self._held = self._held + data, b""
            self._asking, self._in_body = False, True
            self._transport.write(data)

    def target_left(self, *, broken: bool) -> None:
        self._upstream = None
        if self._transport is None or self._dead:
            return
        if self._held:
            self._transport.write(self._held)
        if broken:
            self.reset()
        else:
            self._transport.close()

    def reset(self) -> None:
        """Ends the client's connection as a crashed server would."""
        if self._transport is not None:
            reset_connection(self._transport)

    def _ask(self, data: bytes) -> None:
        if self._upstream is None:
            self._upstream = Upstream(self)
            self._hub.connect(self._upstream)
        self._upstream.send(data)

    def _addressed(self, data: bytes) -> bytes:
        """The start of a request with the target's name in the place of the proxy's."""
        head, end, body = data.partition(b"\r\n\r\n")
        return head.replace(self._hub.host, self._hub.target_host, 1) + end + body

    def _die(self) -> None:
        """Says nothing any more, until the client leaves."""
        self._dead = True
        self._hub.struck("half_open")
        if self._upstream is not None:
            self._upstream.drop()
            self._upstream = None

    def _answer_myself(self, data: bytes) -> None:
        """Reads whole requests and refuses each; the target does not hear of them."""
        assert self._transport is not None
        if self._reader is None:
            self._reader = RequestReader()
        self._reader.feed(data)
        try:
            while self._reader is not None and self._reader.next() is not None:
                self._hub.struck("errors")
                self._transport.write(own_answer(self._hub.fault.status, self._hub.fault.retry_after_s))
                self._reader, self._asking = None, False
        except BadRequest:
            self._transport.close()

    def _spoil(self, name: str, data: bytes) -> None:
        """Lets the head and some of the body through, and then does what the fault is."""
        assert self._transport is not None
        data = self._held + data
        if data.startswith(b"HTTP/1.1 100"):
            self._transport.write(data)
            return
        parts = split_at_boundary(data, in_body=self._in_body, whole_chunk=name == "stream_error")
        if parts is None and len(data) < MOST_HELD_BYTES:
            self._held = data
            return
        self._held = b""
        head, body = parts or (data, b"")
        self._hub.struck(name)
        if self._upstream is not None:
            self._upstream.drop()
            self._upstream = None
        if name == "stream_error":
            answer, reusable = error_frames(head, body)
            self._transport.write(answer)
            self._asking = False
            if not reusable:
                self._transport.close()
            return
        self._transport.write(head + body)
        if name == "reset":
            self.reset()
        else:
            self._transport.close()
