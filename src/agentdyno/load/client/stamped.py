"""Connections whose reads say when their bytes arrived: the kernel's time stamps (``SO_TIMESTAMPNS``).

A stamp that is taken after a read is as late as whatever the process did before it. The kernel's is taken when the
segment comes in, and tells the same however busy the client is. It is there for plain TCP on Linux: TLS reads through
a library that does not hand it on.
"""

from __future__ import annotations

import asyncio
import select
import socket
import struct
import sys
from time import perf_counter_ns, time_ns
from typing import Protocol

SO_TIMESTAMPNS = 35
"""Of Linux, which Python does not name; the same number marks the stamp that comes with a read."""
READ_BYTES = 65536
STEP_NS = 50_000
"""A wall clock that moved by more than this against the steady one was set."""
_TRIES = 5
_TIMESPEC = struct.Struct("@ll")
_SPACE = socket.CMSG_SPACE(_TIMESPEC.size) if hasattr(socket, "CMSG_SPACE") else 0
_NS = 1_000_000_000

Ancillary = list[tuple[int, int, bytes]]


def has_kernel_stamps(*, tls: bool = False) -> bool:
    """Whether sockets of this machine can be told to stamp what arrives, and the stamps be read."""
    if tls or sys.platform != "linux":
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        except OSError:
            return False
    return True


class ArrivalClock:
    """From the wall clock, in which the kernel stamps, to ``perf_counter_ns``, in which a client counts.

    The two differ by a constant until somebody sets the wall clock (slewing moves both). That is looked for at every
    read; stamps from before it was noticed are not believed. Missed would be a clock that is set and set back by the
    same between two reads of a process.
    """

    def __init__(self) -> None:
        self._offset_ns = _offset_ns()
        self._since_ns = 0

    def arrival_ns(self, ancillary: Ancillary, now_ns: int) -> int:
        """When the bytes of a read arrived that returned just before ``now_ns``; ``now_ns`` itself where there is no
        stamp that can be believed."""
        if not ancillary:
            return now_ns
        if not -STEP_NS < time_ns() - now_ns - self._offset_ns < STEP_NS:
            self._look_again(now_ns)
        kind, data = ancillary[0][1:]
        if kind != SO_TIMESTAMPNS or len(data) != _TIMESPEC.size:
            return now_ns
        seconds, rest = _TIMESPEC.unpack(data)
        at_ns: int = seconds * _NS + rest - self._offset_ns
        return at_ns if self._since_ns <= at_ns <= now_ns else now_ns

    def _look_again(self, now_ns: int) -> None:
        """Either the wall clock was set, or this process was stopped between its looks at the two clocks."""
        found = _offset_ns()
        if abs(found - self._offset_ns) > STEP_NS:
            self._offset_ns, self._since_ns = found, now_ns


def _offset_ns() -> int:
    """Wall clock less ``perf_counter_ns``, from the tries with the least time between two looks at the latter."""
    tries = []
    for _ in range(_TRIES):
        before, wall, after = perf_counter_ns(), time_ns(), perf_counter_ns()
        tries.append((after - before, wall - (before + after) // 2))
    return min(tries)[1]


class StampedProtocol(Protocol):
    """What a ``StampedTransport`` tells of: as ``asyncio.Protocol``, but for reads."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None: ...

    def arrived(self, data: bytes, at_ns: int, now_ns: int) -> None:
        """Bytes arrived at ``at_ns`` and were read just before ``now_ns``."""

    def eof_received(self) -> bool | None: ...

    def resume_writing(self) -> None: ...

    def connection_lost(self, exc: Exception | None) -> None: ...


class StampedSockets:
    """The stamped connections of a client, in a selector of their own that the event loop watches as one: uvloop's
    readers are not told of a reset. What is ready is read in one go. It lives as long as the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._transports: dict[int, StampedTransport] = {}
        self._poll = select.epoll()
        self.loop, self.clock = loop, ArrivalClock()
        loop.add_reader(self._poll.fileno(), self._ready)

    def add(self, fd: int, transport: StampedTransport) -> None:
        self._transports[fd] = transport
        self._poll.register(fd, select.EPOLLIN)

    def watch(self, fd: int, *, writing: bool) -> None:
        """Whether it is also told when more can be written."""
        self._poll.modify(fd, select.EPOLLIN | select.EPOLLOUT if writing else select.EPOLLIN)

    def remove(self, fd: int) -> None:
        del self._transports[fd]
        self._poll.unregister(fd)

    def _ready(self) -> None:
        transports = self._transports
        for fd, events in self._poll.poll(0):
            transport = transports.get(fd)  # gone where one before it in the list made it go
            if transport is not None:
                if events & ~select.EPOLLOUT:
                    transport.read()
                if events & select.EPOLLOUT:
                    transport.write_rest()


class StampedTransport(asyncio.Transport):
    """As much of a transport as a load client needs: its buffer is empty or writing is paused."""

    def __init__(self, sockets: StampedSockets, connected: socket.socket, protocol: StampedProtocol) -> None:
        super().__init__({"socket": connected})
        self._sockets, self._socket, self._protocol, self._clock = sockets, connected, protocol, sockets.clock
        self._fd = connected.fileno()
        self._unsent = b""
        self._closing = False
        sockets.add(self._fd, self)
        protocol.connection_made(self)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._closing:
            return
        if not self._unsent:
            self._sockets.watch(self._fd, writing=True)
        self._unsent += bytes(data)

    def get_write_buffer_size(self) -> int:
        return len(self._unsent)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """There are none to set: writing goes on when everything has gone."""

    def is_closing(self) -> bool:
        return self._closing

    def abort(self) -> None:
        self._lose(None)

    def close(self) -> None:
        self._lose(None)

    def read(self) -> None:
        """There is something to read, or the connection is gone."""
        try:
            data, ancillary, _, _ = self._socket.recvmsg(READ_BYTES, _SPACE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(error)
            return
        now_ns = perf_counter_ns()
        if data:
            self._protocol.arrived(data, self._clock.arrival_ns(ancillary, now_ns), now_ns)
        else:
            self._protocol.eof_received()
            self._lose(None)

    def write_rest(self) -> None:
        """More can be written."""
        if self._closing or not self._unsent:
            return
        try:
            written = self._socket.send(self._unsent)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(error)
            return
        self._unsent = self._unsent[written:]
        if not self._unsent:
            self._sockets.watch(self._fd, writing=False)
            self._protocol.resume_writing()

    def _lose(self, error: Exception | None) -> None:
        if self._closing:
            return
        self._closing = True
        self._unsent = b""
        self._sockets.remove(self._fd)
        self._sockets.loop.call_soon(self._lost, error)

    def _lost(self, error: Exception | None) -> None:
        self._socket.close()
        self._protocol.connection_lost(error)


async def connect_stamped(loop: asyncio.AbstractEventLoop, host: str, port: int) -> socket.socket:
    """A connection whose reads are stamped, to a host given by its number. Raises ``OSError``."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    connecting = socket.socket(family, socket.SOCK_STREAM)
    try:
        connecting.setblocking(False)
        connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connecting.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        await loop.sock_connect(connecting, address)
    except BaseException:
        connecting.close()
        raise
    return connecting
