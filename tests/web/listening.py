"""A service on a real port, spoken to byte by byte."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI

from agentdyno.web.slow_headers import impatient

from .service import until


@dataclass(frozen=True, slots=True)
class Listening:
    port: int

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        with closing(socket.create_connection(("127.0.0.1", self.port), timeout=20)) as connection:
            yield connection

    def say(self, *parts: bytes) -> tuple[int, bytes]:
        """Sends the parts, then reads until the service closes the connection. The first status, and all of it."""
        with self.connected() as connection:
            try:
                for part in parts:
                    connection.sendall(part)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the service had heard enough
            return heard(connection)


def heard(connection: socket.socket) -> tuple[int, bytes]:
    """Everything until the other side closes; status 0 where it said nothing."""
    told = b""
    try:
        while part := connection.recv(65536):
            told += part
    except ConnectionResetError:
        pass
    return (int(told.split(b" ", 2)[1]) if told.startswith(b"HTTP/1.1 ") else 0), told


def request(method: str, path: str, *headers: str, secret: str = "") -> bytes:
    """The head of a request after which the connection is closed."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", *headers]
    if secret:
        lines.append(f"Authorization: Bearer {secret}")
    return "\r\n".join([*lines, "", ""]).encode()


@contextmanager
def listening(app: FastAPI) -> Iterator[Listening]:
    """The application under the settings of ``dyno serve``, on a free port of this machine."""
    config = uvicorn.Config(
        app,
        http=impatient(app.state.services.settings.header_timeout_s),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    with closing(socket.create_server(("127.0.0.1", 0))) as place:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [place]})
        thread.start()
        try:
            until(lambda: server.started)
            yield Listening(place.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join()
