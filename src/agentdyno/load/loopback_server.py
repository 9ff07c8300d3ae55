"""The server of the self-check: answers every request at once with the same stream, and notes when it did."""

from __future__ import annotations

import asyncio
import json
from array import array
from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any, cast

from agentdyno.servers.child import Ready, run_child

TOKENS = 16
LOG = "/log"
_EVENT = 'data: {"id":"self-check","object":"chat.completion.chunk","model":"loopback","choices":[%s]%s}\n\n'


def canned() -> bytes:
    """A chat completion of 16 tokens as server-sent events, one chunk each."""
    delta = '{"index":0,"delta":%s,"finish_reason":%s}'
    events = [_EVENT % (delta % (json.dumps({"content": f" word{n}"}), "null"), "") for n in range(TOKENS)]
    events.append(_EVENT % (delta % ("{}", '"stop"'), ""))
    events.append(_EVENT % ("", ',"usage":{"prompt_tokens":1,"completion_tokens":16,"total_tokens":17}'))
    events.append("data: [DONE]\n\n")
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    chunks = (f"{len(event):x}\r\n{event}\r\n" for event in events)
    return (head + "".join(chunks) + "0\r\n\r\n").encode()


class LoopbackConnection(asyncio.Protocol):
    """One connection; ``log`` is shared: received and sent in turns, in ns of ``perf_counter_ns``."""

    def __init__(self, log: array[int], answer: bytes) -> None:
        self._log, self._answer = log, answer
        self._transport: asyncio.Transport | None = None
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        received_ns = perf_counter_ns()
        self._buffer += data
        while self._take_request():
            assert self._transport is not None
            self._log.append(received_ns)
            self._log.append(perf_counter_ns())
            self._transport.write(self._answer)

    def _take_request(self) -> bool:
        """Whether another request to answer was complete; requests for the log are answered here."""
        head, mark, rest = self._buffer.partition(b"\r\n\r\n")
        if not mark:
            return False
        _, _, length = head.lower().partition(b"\r\ncontent-length:")
        size = int(length.partition(b"\r\n")[0] or b"0")
        if len(rest) < size:
            return False
        self._buffer = rest[size:]
        if not head.startswith(b"GET " + LOG.encode()):
            return True
        body = json.dumps(self._log.tolist()).encode()
        del self._log[:]
        assert self._transport is not None
        self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        return self._take_request()


def _serve(_settings: Mapping[str, Any], ready: Ready) -> None:
    async def serve() -> None:
        log, answer = array("q"), canned()
        server = await asyncio.get_running_loop().create_server(
            lambda: LoopbackConnection(log, answer), "127.0.0.1", 0
        )
        ready({"port": server.sockets[0].getsockname()[1]})
        await server.serve_forever()

    try:
        import uvloop
    except ImportError:
        asyncio.run(serve())
    else:
        uvloop.run(serve())


def main(fd: int) -> None:
    """What the server's process does; ``fd`` is the socket to its owner."""
    run_child(fd, _serve)
