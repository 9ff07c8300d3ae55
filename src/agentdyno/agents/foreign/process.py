"""A running program that answers cases on lines, seen from an event loop that must never wait for it."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter_ns

from agentdyno.agents.foreign.channel import Channel, ProgramStart, start_program
from agentdyno.agents.foreign.messages import CLOSE, Greeting, ProgramReply, ReplyKind, greeting_in, read_line
from agentdyno.agents.foreign.storage import stored_by
from agentdyno.workers.clock_check import cpu_clock
from agentdyno.workers.peer import GRACE_S, PeerFlooded, PeerLost

READ_BYTES = 1 << 16


@dataclass(slots=True)
class CaseInProgram:
    """A case that was sent, and what has come back for it. Times are nanoseconds of one clock.

    ``cpu_s`` is CPU time of the program alone, without processes that it starts, and ``stored`` what it read from
    storage and wrote to it; unknown where other cases were in the program at the same time.
    """

    answered: asyncio.Future[ProgramReply]
    sent_ns: int = 0
    ended_ns: int = 0
    chunks: list[str] = field(default_factory=list)
    chunks_ns: list[int] = field(default_factory=list)
    streamed_bytes: int = 0
    cpu_s: float | None = None
    stored: Mapping[str, float] = field(default_factory=dict)
    alone: bool = True

    @property
    def streamed(self) -> str | None:
        return "".join(self.chunks) if self.chunks else None


class _Incoming:
    """Bytes of one descriptor, cut into lines; what is behind the last line break waits for the rest of its line."""

    def __init__(self) -> None:
        self._rest = b""

    @property
    def waiting_bytes(self) -> int:
        return len(self._rest)

    def lines(self, data: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        return lines


class LineProcess:
    """Starts the program; ``greet`` it before the first case. Must be used on one running event loop.

    A program that has ended, broken off its connection or printed too much answers no further case; the only thing
    left is ``close``. ``most_bytes`` is what one line, or all chunks of a case, may hold; ``scope`` is what its model
    calls are recorded under.
    """

    def __init__(self, start: ProgramStart, most_bytes: int, scope: str = "") -> None:
        began_ns = perf_counter_ns()
        self._process, channels = start_program(start)
        self._loop = asyncio.get_running_loop()
        self._most_bytes = most_bytes
        self._channel: Channel | None = None
        self._candidates = {
            channels.numbered.read_fd: channels.numbered,
            channels.standard.read_fd: channels.standard,
        }
        self._incoming = {fd: _Incoming() for fd in self._candidates}
        self._outgoing: dict[int, bytearray] = {}
        self._greeted: asyncio.Future[Greeting] = self._loop.create_future()
        self._running: dict[int, CaseInProgram] = {}
        self._trouble: PeerLost | PeerFlooded | None = None
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._closing: asyncio.Task[None] | None = None
        self._cpu_s = cpu_clock(self._process.pid)
        self._began_ns = began_ns
        self.start_s: float | None = None
        self.pid = self._process.pid
        self.scope = scope
        self.greeting = Greeting()
        self.ended_by_itself = False
        self._readers = {self._process.output_fd: self._on_print, self._process.exit_fd: self._on_exit}
        self._readers |= {fd: lambda fd=fd: self._on_bytes(fd) for fd in self._candidates}  # type: ignore[misc]
        for fd, callback in self._readers.items():
            self._loop.add_reader(fd, callback)

    async def greet(self, hello: bytes) -> None:
        """Says hello on both channels and learns from the answer which one the program uses.

        Raises ``PeerLost``, ``PeerFlooded``, or ``ValueError`` for a greeting that cannot be dealt with.
        """
        for channel in self._candidates.values():
            self._send(channel.write_fd, hello)
        self.greeting = await self._greeted
        self.start_s = (perf_counter_ns() - self._began_ns) / 1e9

    @property
    def used_cpu_s(self) -> float | None:
        """CPU time of the program so far, without processes that it starts; ``None`` where nobody says."""
        return self._cpu_s()

    @property
    def in_flight(self) -> int:
        return len(self._running)

    @property
    def is_usable(self) -> bool:
        return self._trouble is None and self._closing is None

    def say(self, line: bytes) -> None:
        """Sends a line that nothing is expected to answer."""
        if self.is_usable and self._channel is not None:
            self._send(self._channel.write_fd, line)

    async def ask(self, number: int, line: bytes) -> tuple[ProgramReply, CaseInProgram]:
        """The last reply to a case. Raises ``PeerLost`` or ``PeerFlooded``."""
        if self._trouble is not None or self._channel is None:
            raise self._trouble or PeerLost(None, None)
        if not self._running:
            self._process.take_tail()  # printed since the last answer, in no case
        exchange = CaseInProgram(self._loop.create_future())
        self._running[number] = exchange
        if len(self._running) > 1:
            for other in self._running.values():
                other.alone = False
        cpu_s, stored = self._cpu_s(), stored_by(self.pid)
        exchange.sent_ns = perf_counter_ns()  # before: the program may answer while this process waits for a CPU
        self._send(self._channel.write_fd, line)
        try:
            reply = await exchange.answered
        finally:
            self._running.pop(number, None)
        after_s = self._cpu_s()
        if exchange.alone and cpu_s is not None and after_s is not None:
            exchange.cpu_s = after_s - cpu_s
            stored_now = stored_by(self.pid)
            if stored is not None and stored_now is not None:
                exchange.stored = stored_now.readings_since(stored)
        return reply, exchange

    def tail(self) -> str | None:
        """The end of what the program has printed since it was last idle."""
        self._process.drain()
        return self._process.tail()

    async def close_when_idle(self) -> None:
        """Closes as soon as no case is in the program any more."""
        while waiting := [exchange.answered for exchange in self._running.values()]:
            await asyncio.wait(waiting)
            await asyncio.sleep(0)  # whoever waits for an answer takes its case out
        await self.close()

    async def close(self, farewell: bool = False) -> None:
        """Ends the program and everything it started; ``farewell`` gives it a moment to end by itself."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._end(farewell))
        await asyncio.shield(self._closing)

    async def _end(self, farewell: bool) -> None:
        if farewell and self._trouble is None and self._channel is not None:
            self._send(self._channel.write_fd, CLOSE)
            await asyncio.wait({self._ended}, timeout=GRACE_S)
            self.ended_by_itself = self._ended.done()
        self._fail(PeerLost(self._process.returncode, None))
        for fd in list(self._readers):
            self._unwatch(fd)
        for fd in list(self._outgoing):
            self._loop.remove_writer(fd)
        for channel in self._candidates.values():
            channel.close()
        await asyncio.to_thread(self._process.close)

    def _send(self, fd: int, data: bytes) -> None:
        """Writes now what fits into the pipe, and the rest when there is room."""
        waiting = self._outgoing.get(fd)
        if waiting is not None:
            waiting += data
            return
        written = _write(fd, data)
        if written < len(data):
            self._outgoing[fd] = bytearray(data[written:])
            self._loop.add_writer(fd, self._send_on, fd)

    def _send_on(self, fd: int) -> None:
        waiting = self._outgoing[fd]
        del waiting[: _write(fd, bytes(waiting))]
        if not waiting:
            del self._outgoing[fd]
            self._loop.remove_writer(fd)

    def _on_bytes(self, fd: int) -> None:
        now_ns = perf_counter_ns()
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._unwatch(fd)
            if self._channel is not None and fd == self._channel.read_fd:
                self._lose_soon()
            return
        incoming = self._incoming[fd]
        for line in incoming.lines(data):
            self._take(fd, line, now_ns)
        if incoming.waiting_bytes > self._most_bytes:
            self._fail(PeerFlooded(self._most_bytes, self._process.tail()))

    def _take(self, fd: int, line: bytes, now_ns: int) -> None:
        reply = read_line(line) if self._channel is None or fd == self._channel.read_fd else None
        if reply is None:
            if line.strip():
                self._process.note_output(line + b"\n")
                self._check_printed()
        elif self._channel is None:
            self._take_greeting(fd, reply)
        else:
            self._take_reply(reply, now_ns)

    def _take_greeting(self, fd: int, reply: ProgramReply) -> None:
        if self._greeted.done():
            return
        try:
            greeting = greeting_in(reply)
        except ValueError as error:
            self._greeted.set_exception(error)
            return
        if greeting is None:
            told = reply.content if reply.kind is ReplyKind.ERROR else "its first line is no answer to hello"
            self._greeted.set_exception(ValueError(str(told)))
            return
        self._channel = self._candidates[fd]
        self._greeted.set_result(greeting)

    def _take_reply(self, reply: ProgramReply, now_ns: int) -> None:
        number = reply.id
        if number is None and len(self._running) == 1:
            number = next(iter(self._running))
        exchange = None if number is None else self._running.get(number)
        if exchange is None or exchange.answered.done():
            return  # of a case that was given up, or of none
        if reply.kind is ReplyKind.CHUNK:
            if reply.content:
                text = str(reply.content)
                exchange.chunks.append(text)
                exchange.chunks_ns.append(now_ns)
                exchange.streamed_bytes += len(text)
                if exchange.streamed_bytes > self._most_bytes:
                    self._fail(PeerFlooded(self._most_bytes, self._process.tail()))
            return
        exchange.ended_ns = now_ns
        exchange.answered.set_result(reply)

    def _on_print(self) -> None:
        self._process.drain()
        if not self._process.output_open:
            self._unwatch(self._process.output_fd)
        self._check_printed()

    def _check_printed(self) -> None:
        if self._process.printed_too_much:
            self._fail(PeerFlooded(self._process.output_limit_bytes or 0, self._process.tail()))

    def _on_exit(self) -> None:
        self._unwatch(self._process.exit_fd)
        for fd in list(self._candidates):  # what it said before it ended has arrived
            while fd in self._readers and self._trouble is None and _has_bytes(fd):
                self._on_bytes(fd)
        if not self._ended.done():
            self._ended.set_result(None)
        self._process.drain()
        self._fail(PeerLost(self._process.returncode, self._process.tail()))

    def _lose_soon(self) -> None:
        """It has closed its end: it either ends now, and its status says why, or goes on without us."""
        self._loop.call_later(GRACE_S, lambda: self._fail(PeerLost(self._process.returncode, self._process.tail())))

    def _fail(self, trouble: PeerLost | PeerFlooded) -> None:
        if self._trouble is not None:
            return
        self._trouble = trouble
        if not self._greeted.done():
            self._greeted.set_exception(trouble)
            self._greeted.exception()  # somebody may have given up waiting for it
        for exchange in self._running.values():
            if not exchange.answered.done():
                exchange.answered.set_exception(trouble)

    def _unwatch(self, fd: int) -> None:
        if self._readers.pop(fd, None) is not None:
            self._loop.remove_reader(fd)


def _write(fd: int, data: bytes) -> int:
    """How many bytes the pipe took; all of them where nobody reads any more, since that is noticed elsewhere."""
    try:
        return os.write(fd, data)
    except BlockingIOError:
        return 0
    except OSError:
        return len(data)


def _has_bytes(fd: int) -> bool:
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    return bool(poller.poll(0))
