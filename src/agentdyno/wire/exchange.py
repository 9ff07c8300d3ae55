"""One request and its answer, with the times at which the bytes left and arrived."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TypeVar

from agentdyno.wire.connection import ClientConnection
from agentdyno.wire.errors import ProtocolError, Reset, TooLarge, Truncated, WireError
from agentdyno.wire.head import Head, Headers
from agentdyno.wire.message import Body, MessageParser
from agentdyno.wire.pool import CONNECT_TIMEOUT_S, Pool
from agentdyno.wire.request import Request


@dataclass(frozen=True, slots=True)
class ExchangeLimits:
    """``max_bytes`` counts all that arrives of one answer, its head included. With ``any_encoding`` a compressed body
    is taken as it comes."""

    connect_timeout_s: float = CONNECT_TIMEOUT_S
    max_bytes: int = 32 * 1024 * 1024
    any_encoding: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """An answer. Times are nanoseconds of ``time.perf_counter_ns``.

    ``started_ns``: the exchange was asked for (a connection may still have to be made); ``sent_ns``: the last byte of
    the request was with the kernel; ``first_byte_ns``: the first byte of the answer, head included;
    ``done_ns``: the byte that completed it.
    """

    endpoint: str
    status: int
    reason: str
    headers: Headers
    body: Body
    started_ns: int
    sent_ns: int
    first_byte_ns: int
    done_ns: int
    reused: bool = False

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def content_type(self) -> str:
        """Without parameters, in lower case."""
        return (self.headers.get("content-type") or "").partition(";")[0].strip().lower()


def partial_answer(error: WireError) -> Exchange | None:
    """What had arrived of an answer when it broke off; ``None`` where its head had not."""
    return error.partial if isinstance(error.partial, Exchange) else None


async def exchange(request: Request, pool: Pool, limits: ExchangeLimits | None = None) -> Exchange:
    """Sends the request and returns when its answer is complete; any status is an answer.

    Raises ``WireError``. A kept connection that the other side has dropped meanwhile is replaced once, if no byte of
    an answer had arrived. Cancelling closes the socket.
    """
    allowed = limits or ExchangeLimits()
    started_ns = perf_counter_ns()
    data = request.encode()
    connection, reused = await pool.take(request.address, allowed.connect_timeout_s)
    try:
        return await _Conversation(request, pool, allowed, started_ns, reused).hold(connection, data)
    except Reset as error:
        if not reused or error.answered:
            raise
    connection = await pool.connect(request.address, allowed.connect_timeout_s)
    return await _Conversation(request, pool, allowed, started_ns, False).hold(connection, data)


@dataclass(slots=True)
class _Conversation:
    request: Request
    pool: Pool
    limits: ExchangeLimits
    started_ns: int
    reused: bool

    async def hold(self, connection: ClientConnection, data: bytes) -> Exchange:
        limits = self.limits
        parser = MessageParser(
            self.request.method, self.request.endpoint, limits.max_bytes, any_encoding=limits.any_encoding
        )
        whole = False
        try:
            connection.send(data)
            await _receive(connection, parser)
            if not parser.done:
                raise self._broken(connection, parser)
            whole = parser.reusable and connection.sent_ns is not None
            assert parser.head is not None
            return self._result(connection, parser, parser.head)
        except (ProtocolError, TooLarge) as error:
            self._attach(error, connection, parser)
            raise
        finally:
            if whole:
                self.pool.give(self.request.address, connection)
            else:
                connection.abort()

    def _result(self, connection: ClientConnection, parser: MessageParser, head: Head) -> Exchange:
        now = perf_counter_ns()
        body = parser.body()
        last_ns = body.stamps[-1] if body.stamps else parser.first_byte_ns or now
        done_ns = parser.done_ns or last_ns
        return Exchange(
            endpoint=self.request.endpoint,
            status=head.status,
            reason=head.reason,
            headers=head.headers,
            body=body,
            started_ns=self.started_ns,
            # An answer may be complete before the whole request was sent (413).
            sent_ns=connection.sent_ns or done_ns,
            first_byte_ns=parser.first_byte_ns or now,
            done_ns=done_ns,
            reused=self.reused,
        )

    def _attach(self, error: WireError, connection: ClientConnection, parser: MessageParser) -> None:
        if parser.head is not None:
            error.partial = self._result(connection, parser, parser.head)

    def _broken(self, connection: ClientConnection, parser: MessageParser) -> WireError:
        error: WireError
        where = self.request.endpoint
        if parser.received == 0:
            error = Reset("the connection was closed without an answer", where=where)
        elif connection.lost is not None:
            error = Reset(f"the connection was reset after {parser.received:,} bytes of the answer", where=where)
            error.answered = True
        else:
            error = Truncated(f"the answer ended early, after {parser.received:,} bytes", where=where)
        self._attach(error, connection, parser)
        return error


async def _receive(connection: ClientConnection, parser: MessageParser) -> None:
    while True:
        while chunks := connection.take():
            await consume(chunks, parser.feed)
        if parser.done:
            return
        if connection.ended:
            if connection.lost is None and connection.closed_ns is not None:
                parser.end(connection.closed_ns)
            return
        connection.watch(parser.bytes_needed, parser.ends_with_blank_line)
        await connection.activity()


SLICE_NS = 50_000
"""How long one slice of decoding may hold up the other streams."""
T = TypeVar("T")


async def consume(items: Iterable[T], take: Callable[[T], None]) -> None:
    """Calls ``take`` with each item and lets the event loop turn after every 50 µs of it."""
    until = perf_counter_ns() + SLICE_NS
    for item in items:
        take(item)
        if perf_counter_ns() > until:
            await asyncio.sleep(0)
            until = perf_counter_ns() + SLICE_NS
