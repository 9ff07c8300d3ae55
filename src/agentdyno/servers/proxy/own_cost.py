"""What a proxy adds to a request: the same exchanges with and without it, on loopback, in turns."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from dataclasses import dataclass
from statistics import quantiles
from time import perf_counter

EXCHANGES = 30
"""Of each kind, with and without the proxy, after a few that do not count."""
UNCOUNTED = 5
EVENTS = 20
TIMEOUT_S = 5.0
_EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'
_WHOLE = b'{"choices":[{"index":0,"message":{"content":"word"},"finish_reason":"stop"}],"usage":{}}'
_REQUEST = b'{"model":"none","messages":[{"role":"user","content":"a question of some length"}]}'
Place = tuple[str, int, str]
"""Host, port and the path in front of an endpoint's."""


@dataclass(frozen=True, slots=True)
class OwnCost:
    """Seconds that the proxy adds to a request, to a plain one and to one that is streamed: the difference of lower
    quartiles, which other work on the machine moves less than medians."""

    plain_s: float
    streamed_s: float


async def echoing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that answers at once: events where the path ends with ``stream``, else one object."""
    with contextlib.suppress(OSError, ValueError, asyncio.IncompleteReadError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(len(_REQUEST))
            if b"/stream " in head.partition(b"\r\n")[0]:
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                )
                for _ in range(EVENTS):
                    writer.write(b"%x\r\n%b\r\n" % (len(_EVENT), _EVENT))
                writer.write(b"0\r\n\r\n")
            else:
                head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(
                    _WHOLE
                )
                writer.write(head + _WHOLE)
            await writer.drain()
    writer.close()


def measure_cost(direct: Place, through: Place) -> OwnCost | None:
    """What the second place takes more than the first; ``None`` where the machine is too busy to answer in time."""
    try:
        with _connection(direct) as bare, _connection(through) as proxied:
            plain = _difference(bare, proxied, (direct[2], through[2]), "/answer")
            streamed = _difference(bare, proxied, (direct[2], through[2]), "/stream")
    except OSError:
        return None
    return OwnCost(plain, streamed)


def _connection(place: Place) -> socket.socket:
    link = socket.create_connection(place[:2], timeout=TIMEOUT_S)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def _difference(bare: socket.socket, proxied: socket.socket, paths: tuple[str, str], end: str) -> float:
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(EXCHANGES + UNCOUNTED):
        for link, path, times in zip((bare, proxied), paths, found, strict=True):
            took_s = _exchange(link, path + end)
            if number >= UNCOUNTED:
                times.append(took_s)
    quick = [quantiles(times, n=4)[0] for times in found]
    return max(0.0, quick[1] - quick[0])


def _exchange(link: socket.socket, path: str) -> float:
    head = f"POST {path} HTTP/1.1\r\nhost: loopback\r\ncontent-length: {len(_REQUEST)}\r\n\r\n".encode()
    ends = b"0\r\n\r\n" if path.endswith("/stream") else _WHOLE
    started = perf_counter()
    link.sendall(head + _REQUEST)
    seen = b""
    while not seen.endswith(ends):
        data = link.recv(65536)
        if not data:
            raise ConnectionError("the other side left")
        seen += data
    return perf_counter() - started
