"""One client of a simulated server: its requests in, frames out, and the ways in which it can be let down."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from time import perf_counter_ns
from typing import Protocol, cast

from agentdyno.servers.http_message import BadRequest, HttpRequest, RequestReader, response_head

MAX_UNSENT_BYTES = 16 * 1024 * 1024
"""A client that does not read for so long is cut off."""
LAST_CHUNK = b"0\r\n\r\n"
RESET = struct.pack("ii", 1, 0)  # linger for zero seconds: closing sends RST, not FIN


class ConnectionService(Protocol):
    """What answers the requests of a connection."""

    def answer(self, connection: ServerConnection, request: HttpRequest, received_ns: int) -> None: ...

    def look_at(self, connection: ServerConnection) -> None:
        """Calls ``connection.proceed`` soon, after whatever else has arrived meanwhile has been given its time."""

    def joined(self, connection: ServerConnection) -> None: ...

    def left(self, connection: ServerConnection) -> None: ...


class Reply(Protocol):
    """An answer in progress."""

    def abandon(self) -> None:
        """The client has gone."""


class ServerConnection(asyncio.Protocol):
    """Answers one request after the other. Bytes go straight to the socket, so that the time noted for a frame is
    the time of its system call and not that of a buffer."""

    def __init__(self, service: ConnectionService) -> None:
        self._service = service
        self._reader = RequestReader()
        self._transport: asyncio.Transport | None = None
        self._fd = -1  # none to write to directly: TLS is the transport's
        self._unsent = False
        self._most_unsent = MAX_UNSENT_BYTES
        self._received_ns = 0
        self._busy = self._queued = self._reading = False
        self._keep_alive = True
        self.chunked = True
        self.reply: Reply | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is no subclass of it
        if transport.get_extra_info("sslcontext") is None:
            self._fd = transport.get_extra_info("socket").fileno()
        self._service.joined(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = None
        reply, self.reply = self.reply, None
        if reply is not None:
            reply.abandon()
        self._service.left(self)

    def data_received(self, data: bytes) -> None:
        self._received_ns = perf_counter_ns()
        self._reader.feed(data)
        if not self._busy and not self._queued:
            self._queued = True
            self._service.look_at(self)

    def proceed(self) -> None:
        """Answers what has arrived."""
        self._queued = False
        if not self._busy and self._transport is not None:
            self._next(self._received_ns)

    def send(self, data: bytes) -> None:
        """Hands bytes to the kernel, or to the transport while it has older ones left."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        sent = 0
        if self._unsent:
            waiting = transport.get_write_buffer_size()
            self._unsent = waiting > 0
            if waiting > self._most_unsent:
                transport.abort()
                return
        if not self._unsent and self._fd >= 0:
            try:
                sent = os.write(self._fd, data)
            except BlockingIOError:
                pass
            except OSError:
                transport.abort()
                return
            if sent == len(data):
                return
        transport.write(data[sent:] if sent else data)
        self._most_unsent = MAX_UNSENT_BYTES + len(data)
        self._unsent = True

    def send_chunk(self, payload: bytes) -> None:
        """One piece of a body whose length is not known beforehand."""
        self.send(b"%x\r\n%b\r\n" % (len(payload), payload) if self.chunked else payload)

    def send_last(self, payload: bytes) -> None:
        """The last piece of such a body, which may be empty, and its end."""
        if not self.chunked:
            self.send(payload)
        elif payload:
            self.send(b"%x\r\n%b\r\n%b" % (len(payload), payload, LAST_CHUNK))
        else:
            self.send(LAST_CHUNK)

    def respond(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        """A whole response at once."""
        self.send(self.head(status, *headers, ("content-length", str(len(body)))) + body)
        self.finish()

    def head(self, status: int, *headers: tuple[str, str]) -> bytes:
        connection = () if self._keep_alive else (("connection", "close"),)
        return response_head(status, *headers, *connection)

    def finish(self) -> None:
        """The response is complete: on to the next request, or the end."""
        self.reply = None
        if not self._keep_alive or not self.chunked:
            self.close()
            return
        self._busy = False
        self._next(perf_counter_ns())

    def close(self) -> None:
        """Ends the connection after what was sent."""
        self.reply = None
        if self._transport is not None:
            self._transport.close()

    def reset(self) -> None:
        """Ends the connection as a crashed server would."""
        self.reply = None
        if self._transport is not None:
            raw = self._transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self._transport.abort()

    def abort(self) -> None:
        """Ends the connection at once, whatever is in progress."""
        if self._transport is not None:
            self._transport.abort()

    def _next(self, received_ns: int) -> None:
        """Answers what has arrived completely; a loop, as an answer that is sent at once calls this again."""
        if self._reading:
            return
        self._reading = True
        try:
            while not self._busy:
                request = self._reader.next()
                if request is None:
                    break
                self._busy = True
                self._keep_alive = request.keep_alive
                self.chunked = request.version == "HTTP/1.1"
                self._service.answer(self, request, received_ns)
        except BadRequest as error:
            self._busy, self._keep_alive = True, False
            self.respond(error.status, str(error).encode(), ("content-type", "text/plain"))
        finally:
            self._reading = False
        if self._reader.wants_continue:
            self._reader.wants_continue = False
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
