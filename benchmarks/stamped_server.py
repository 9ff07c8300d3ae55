"""A server for stamps.py whose log is as true as can be: the kernel stamps what it is asked.

The simulated server notes a request when it reads it. Where hundreds come at once that is later than they came, and
the client seems to be wrong by so much. This one does nothing but stream tokens when they are due, and notes of each
request its length, when it came in, and when its first and its last token went out.
"""

from __future__ import annotations

import heapq
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter_ns

from agentdyno.load.client.stamped import SO_TIMESTAMPNS, ArrivalClock

TTFT_NS, ITL_NS, TOKENS = 50_000_000, 10_000_000, 50
LogLine = tuple[int, int, int, int]
"""Length of the request, when it came in, when its first token was sent and when its last."""
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_TOKEN = b'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"so "}}]}\n\n'
_LAST = b'data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class TokenServer:
    """One thread, one epoll; every read is a request, as it is for small ones on loopback."""

    def __init__(self, listener: socket.socket, orders: Connection) -> None:
        self._listener, self._orders = listener, orders
        self._clock, self._poll = ArrivalClock(), select.epoll()
        self._links: dict[int, socket.socket] = {}
        self._due: list[tuple[int, int, int]] = []
        self._asked: dict[int, tuple[int, int]] = {}
        self._begun: dict[int, int] = {}
        self._log: list[LogLine] = []
        self._poll.register(listener, select.EPOLLIN)
        self._poll.register(orders, select.EPOLLIN)

    def serve(self) -> None:
        while True:
            wait_s = max(self._due[0][0] - perf_counter_ns(), 0) / 1e9 if self._due else 1.0
            for fd, _ in self._poll.poll(wait_s):
                if fd == self._listener.fileno():
                    self._accept()
                elif fd != self._orders.fileno():
                    self._read(fd)
                elif self._orders.recv():
                    log, self._log = self._log, []
                    self._orders.send(log)
                else:
                    return
            while self._due and self._due[0][0] <= perf_counter_ns():
                self._send(*heapq.heappop(self._due))

    def _accept(self) -> None:
        link, _ = self._listener.accept()
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._links[link.fileno()] = link
        self._poll.register(link, select.EPOLLIN)

    def _read(self, fd: int) -> None:
        try:
            data, ancillary, _, _ = self._links[fd].recvmsg(1 << 17, 64)
        except OSError:
            data, ancillary = b"", []
        now_ns = perf_counter_ns()
        if not data:
            self._drop(fd)
            return
        came_ns = self._clock.arrival_ns(ancillary, now_ns)
        self._asked[fd] = (len(data), came_ns)
        heapq.heappush(self._due, (came_ns + TTFT_NS, fd, 0))

    def _send(self, due_ns: int, fd: int, index: int) -> None:
        if fd not in self._links:
            return
        data = chunk(_TOKEN)
        now_ns = perf_counter_ns()
        if index == 0:
            data = _HEAD + data
            self._begun[fd] = now_ns
        if index == TOKENS - 1:
            self._log.append((*self._asked[fd], self._begun[fd], now_ns))
            data += chunk(_LAST) + b"0\r\n\r\n"
        else:
            heapq.heappush(self._due, (due_ns + ITL_NS, fd, index + 1))
        try:
            self._links[fd].send(data)
        except OSError:
            self._drop(fd)

    def _drop(self, fd: int) -> None:
        self._poll.unregister(fd)
        self._links.pop(fd).close()


def _serve(listener: socket.socket, orders: Connection) -> None:
    TokenServer(listener, orders).serve()


class RunningTokenServer:
    """``log`` gives what was asked since it was called last."""

    def __init__(self, pid: int, port: int, orders: Connection) -> None:
        self.pid, self.openai_url, self._orders = pid, f"http://127.0.0.1:{port}/v1", orders

    def log(self) -> list[LogLine]:
        self._orders.send(True)
        found: list[LogLine] = self._orders.recv()
        return found


@contextmanager
def token_server() -> Iterator[RunningTokenServer]:
    """In a process of its own."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        process = context.Process(target=_serve, args=(listener, theirs), daemon=True)
        process.start()
        try:
            yield RunningTokenServer(process.pid or 0, listener.getsockname()[1], ours)
        finally:
            ours.send(False)
            process.join()
