"""A server that answers with exact bytes: splits, resets and early ends where a test wants them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

RESET = "reset"
"""Drops the connection with a TCP reset."""
CLOSE = "close"
"""Ends the connection in an orderly way."""

Step = bytes | str | asyncio.Event
Script = tuple[Step, ...]


@dataclass(frozen=True)
class Received:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def response(
    body: bytes, *, status: str = "200 OK", headers: Iterable[str] = (), kind: str = "application/json"
) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def json_response(value: object, *, status: str = "200 OK", headers: Iterable[str] = ()) -> bytes:
    return response(json.dumps(value).encode(), status=status, headers=headers)


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def stream_head(kind: str = "text/event-stream", headers: Iterable[str] = ()) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", "Transfer-Encoding: chunked", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def sse_event(value: object) -> bytes:
    return chunked(b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n")


def ndjson_line(value: object) -> bytes:
    return chunked(json.dumps(value).encode() + b"\n")


LAST_CHUNK = b"0\r\n\r\n"


class ScriptServer:
    """Plays one script per request, in the order of arrival; the last one is repeated.

    A step is bytes to send, ``RESET``, ``CLOSE``, or an event to wait for.
    """

    def __init__(
        self, *scripts: Script, ssl_context: ssl.SSLContext | None = None, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self.scripts = list(scripts)
        self.ssl_context = ssl_context
        self.host = host
        self._port = port
        self.requests: list[Received] = []
        self.connections = self.open_connections = 0
        self.all_closed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> ScriptServer:
        self._server = await asyncio.start_server(self._serve, self.host, self._port, ssl=self.ssl_context)
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)

    @property
    def port(self) -> int:
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.ssl_context else 'http'}://{host}:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        self.open_connections += 1
        self.all_closed.clear()
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._one(reader, writer):
                    pass
        except asyncio.CancelledError:
            pass
        finally:
            self.open_connections -= 1
            if not self.open_connections:
                self.all_closed.set()
            writer.transport.abort()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        request = await _read_request(reader)
        script = self.scripts[min(len(self.requests), len(self.scripts) - 1)]
        self.requests.append(request)
        for step in script:
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            elif isinstance(step, asyncio.Event):
                if not await _reached(step, reader):
                    return False
            elif step == RESET:
                sock: socket.socket = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            else:
                writer.close()
                await writer.wait_closed()
                return False
        return True


async def _reached(step: asyncio.Event, reader: asyncio.StreamReader) -> bool:
    """Whether the event came before the client went away."""
    event, gone = asyncio.ensure_future(step.wait()), asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait({event, gone}, return_when=asyncio.FIRST_COMPLETED)
        return event.done()
    finally:
        event.cancel()
        gone.cancel()
        await asyncio.gather(event, gone, return_exceptions=True)


async def _read_request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, target, headers, body)
