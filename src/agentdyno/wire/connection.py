"""One connection: stamps what arrives and does nothing else with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter_ns
from typing import cast


class ClientConnection(asyncio.Protocol):
    """Bytes are appended to ``chunks`` with the time of their arrival; whoever reads them is woken only when a
    look may be worthwhile.

    Many streams share one event loop. Whatever it does besides stamping delays the stamps of the others, so nothing
    is parsed here.
    """

    def __init__(self, clock: Callable[[], int] = perf_counter_ns) -> None:
        self.chunks: list[tuple[int, bytes]] = []
        self.received = 0
        self.sent_ns: int | None = None
        self.closed_ns: int | None = None
        self.ended = False
        self.lost: Exception | None = None
        self._clock = clock
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._bytes_needed = 0
        self._ends_with_blank_line = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        # Nothing may linger in a buffer: the request counts as sent when the kernel has its last byte.
        self._transport.set_write_buffer_limits(high=0)

    def data_received(self, data: bytes) -> None:
        self.chunks.append((self._clock(), data))
        self.received += len(data)
        if self.received >= self._bytes_needed or (
            # A final chunk may be split in the middle of its mark: short pieces are always worth a look.
            self._ends_with_blank_line and (len(data) < 5 or b"\r\n\r\n" in data)
        ):
            self._wake()

    def eof_received(self) -> bool:
        self.closed_ns = self.closed_ns or self._clock()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed_ns = self.closed_ns or self._clock()
        self.lost = exc
        self.ended = True
        self._wake()

    def resume_writing(self) -> None:
        self.sent_ns = self.sent_ns or self._clock()

    @property
    def usable(self) -> bool:
        """Whether a request may be sent: open, and nothing has come that nobody asked for."""
        return (
            self._transport is not None
            and not self._transport.is_closing()
            and self.closed_ns is None
            and not self.chunks
        )

    def send(self, data: bytes) -> None:
        """Begins an exchange. ``sent_ns`` is set once the last byte is with the kernel."""
        assert self._transport is not None
        self.received = 0
        self.sent_ns = None
        self.watch(0, False)
        self._transport.write(data)
        if self._transport.get_write_buffer_size() == 0:
            self.sent_ns = self._clock()

    def watch(self, bytes_needed: int, ends_with_blank_line: bool) -> None:
        """From now on wakes the reader at ``bytes_needed`` received bytes, or where a chunked body may end."""
        self._bytes_needed = bytes_needed
        self._ends_with_blank_line = ends_with_blank_line

    def take(self) -> list[tuple[int, bytes]]:
        """The chunks that have arrived since the last call."""
        chunks, self.chunks = self.chunks, []
        return chunks

    async def activity(self) -> None:
        """Returns when a look may be worthwhile or the connection has ended."""
        if self.ended:
            return
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
