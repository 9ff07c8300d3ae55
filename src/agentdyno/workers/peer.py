"""A worker process that answers messages, seen from an event loop that must never wait for it."""

from __future__ import annotations

import asyncio
import select
import socket
from typing import Any

from agentdyno.sandbox.process import LimitedProcess
from agentdyno.workers.frames import HEADER, Message, header_of, message_frame, message_in

GRACE_S = 2.0
"""How long a process that has been told to end, or has closed its connection, may take to end."""
SILENT_TURNS = 10
"""Turns of the event loop without anything to read after which an ended process has said all."""


class PeerLost(Exception):
    """The process ended, or closed its connection, before it answered. ``status`` is negative for a signal, ``None``
    while it goes on running; ``tail`` is the end of what it had printed."""

    def __init__(self, status: int | None, tail: str | None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.tail = tail


class PeerConfused(PeerLost):
    """What came over the connection is no answer to the question: an answer to an earlier one, or no message at all.
    The code in the process, or a child of it, writes to a connection that is not its own."""


class PeerFlooded(Exception):
    """The process printed more than it may since the last question."""

    def __init__(self, limit_bytes: int, tail: str | None) -> None:
        super().__init__(f"printed more than {limit_bytes} bytes")
        self.limit_bytes = limit_bytes
        self.tail = tail


class Peer:
    """Asks one question at a time. ``end`` is our end of the connection to ``process``; both are the peer's from now
    on (``Peer(*spawn(...))``).

    ``message_bytes`` is the size of the last question and its answer.

    Must be created and used on one running event loop. After an exception out of ``ask``, a cancellation included,
    the only thing left to do is ``close``.
    """

    def __init__(self, process: LimitedProcess, end: socket.socket) -> None:
        end.setblocking(False)
        self._process, self._socket = process, end
        self._loop = asyncio.get_running_loop()
        self._trouble: asyncio.Future[None] = self._loop.create_future()
        self._ended = False
        self._flooded = False
        self._confused = self._garbled = False
        self._asked = 0
        self._closing: asyncio.Task[None] | None = None
        self.pid = process.pid
        self.message_bytes = 0
        self._watched = {self._process.output_fd, self._process.exit_fd}
        self._loop.add_reader(self._process.output_fd, self._on_output)
        self._loop.add_reader(self._process.exit_fd, self._on_exit)

    @property
    def is_alive(self) -> bool:
        return self._closing is None and not self._ended and not self._flooded

    async def ask(self, message: Message) -> Message:
        """The answer to a message. Raises ``PeerLost``, ``PeerConfused`` or ``PeerFlooded``."""
        self._process.take_tail()  # printed since the last answer, by nobody's question
        exchange = asyncio.ensure_future(self._exchange(message))
        try:
            either: set[asyncio.Future[Any]] = {exchange, self._trouble}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if self._ended:
                await self._last_words(exchange)
            self._process.drain()
            self._check_output()
            if self._flooded:
                raise PeerFlooded(self._process.output_limit_bytes or 0, self.tail())
            reply = exchange.result() if exchange.done() else None
        finally:
            exchange.cancel()
        if self._confused:
            raise PeerConfused(self._process.returncode, self.tail())
        if reply is None:
            await self._await_exit()
            if self._garbled and not self._ended:
                raise PeerConfused(None, self.tail())
            raise PeerLost(self._process.returncode, self.tail())
        return reply

    def tail(self) -> str | None:
        """The end of what has been printed since the last question."""
        self._process.drain()
        return self._process.take_tail()

    async def close(self, farewell: Message | None = None) -> None:
        """Ends the process and everything it started; ``farewell`` gives it a moment to end by itself.

        A caller that is cancelled meanwhile does not stop that.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._end(farewell))
        await asyncio.shield(self._closing)

    async def _end(self, farewell: Message | None) -> None:
        if farewell is not None and not self._ended and not self._flooded:
            try:
                await self._loop.sock_sendall(self._socket, message_frame(farewell))
                await self._await_exit()
            except OSError:
                pass
        for fd in list(self._watched):
            self._unwatch(fd)
        self._trouble.cancel()
        self._socket.close()
        await asyncio.to_thread(self._process.close)

    async def _exchange(self, message: Message) -> Message | None:
        self._asked += 1
        try:
            frame = message_frame({**message, "number": self._asked})
            await self._loop.sock_sendall(self._socket, frame)
            header = await self._read(HEADER.size)
            if header is None:
                return None
            size, form = header_of(header)
            self.message_bytes = len(frame) + size
            content = await self._read(size)
            reply = None if content is None else message_in(form, content)
            self._confused = reply is not None and reply.pop("number", self._asked) != self._asked
            return None if self._confused else reply
        except OSError:  # gone
            return None
        except ValueError:
            self._garbled = True
            return None

    async def _last_words(self, exchange: asyncio.Future[Any]) -> None:
        """Lets what the process said before it ended arrive. A child of it may keep the connection open for ever."""
        poller, silent = select.poll(), 0
        poller.register(self._socket, select.POLLIN)
        while not exchange.done() and silent < SILENT_TURNS:
            silent = 0 if poller.poll(0) else silent + 1
            await asyncio.sleep(0)

    async def _read(self, size: int) -> bytearray | None:
        received = bytearray()
        while len(received) < size:
            chunk = await self._loop.sock_recv(self._socket, min(size - len(received), 1 << 20))
            if not chunk:
                return None
            received += chunk
        return received

    async def _await_exit(self) -> None:
        if not self._ended and not self._trouble.done():
            await asyncio.wait({self._trouble}, timeout=GRACE_S)

    def _on_output(self) -> None:
        self._process.drain()
        if not self._process.output_open:
            self._unwatch(self._process.output_fd)
        self._check_output()

    def _check_output(self) -> None:
        if self._process.printed_too_much and not self._flooded:
            self._flooded = True
            self._unwatch(self._process.output_fd)
            self._note_trouble()

    def _on_exit(self) -> None:
        self._ended = True
        self._unwatch(self._process.exit_fd)
        self._note_trouble()

    def _note_trouble(self) -> None:
        if not self._trouble.done():
            self._trouble.set_result(None)

    def _unwatch(self, fd: int) -> None:
        if fd in self._watched:
            self._watched.remove(fd)
            self._loop.remove_reader(fd)
