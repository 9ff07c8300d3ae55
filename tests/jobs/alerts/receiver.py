"""A real HTTP server that keeps what is posted to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """``answers`` are the statuses of the next requests; afterwards it takes everything."""

    url: str = ""
    got: list[Received] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    extra: dict[str, str] = field(default_factory=dict)
    """Headers of its answers."""
    hold: threading.Event | None = None
    """Where set, it answers when this is."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.got.append(Received(self.path, headers, body))
            if receiver.hold is not None:
                receiver.hold.wait(30)
            self.send_response(receiver.answers.pop(0) if receiver.answers else 200)
            for name, value in {"Content-Length": "0", **receiver.extra}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing goes to the screen."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        if receiver.hold is not None:
            receiver.hold.set()
        server.shutdown()
        server.server_close()
        thread.join()
