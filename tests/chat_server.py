"""An OpenAI-compatible server on loopback whose every answer a test decides."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """A request. ``number`` counts from 1."""

    number: int
    headers: Mapping[str, str]
    body: Any

    @property
    def text(self) -> str:
        """The last message."""
        return str(self.body["messages"][-1]["content"])


@dataclass(frozen=True)
class Reply:
    """Status 200 gives ``text`` as the model's answer, any other as the message of an error. ``calls`` are tools by
    name with their arguments, told where nothing is streamed."""

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    input_tokens: int = 1000
    output_tokens: int = 1000
    calls: Sequence[tuple[str, Mapping[str, object]]] = ()


@dataclass
class ChatServer:
    url: str
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def serving(answer: Callable[[Asked], Reply]) -> Iterator[ChatServer]:
    """Serves until the block ends; ``url`` is the base of the API."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                asked = Asked(len(served.asked) + 1, {k.lower(): v for k, v in self.headers.items()}, body)
                served.asked.append(asked)
            reply = answer(asked)
            if reply.status != 200:
                kind, data = _error(reply)
            else:
                kind, data = _stream(asked, reply) if body.get("stream") else _whole(asked, reply)
            self._send(reply.status, kind, data, reply.headers)

        def do_GET(self) -> None:
            self._send(200, "application/json", json.dumps({"data": [{"id": "small"}]}).encode(), {})

        def _send(self, status: int, kind: str, data: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served = ChatServer(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _stream(asked: Asked, reply: Reply) -> tuple[str, bytes]:
    model = asked.body["model"]
    choice = {"index": 0, "delta": {"role": "assistant", "content": reply.text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens}
    parts = [{"model": model, "choices": [choice]}, {"model": model, "choices": [], "usage": usage}]
    about = {"id": f"chatcmpl-{asked.number}", "object": "chat.completion.chunk", "created": 0}
    lines = [*(json.dumps({**about, **part}) for part in parts), "[DONE]"]
    return "text/event-stream", "".join(f"data: {line}\n\n" for line in lines).encode()


def _whole(asked: Asked, reply: Reply) -> tuple[str, bytes]:
    message: dict[str, object] = {"role": "assistant", "content": reply.text}
    if reply.calls:
        functions = [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in reply.calls]
        message["tool_calls"] = [
            {"id": f"call-{asked.number}-{number}", "type": "function", "function": function}
            for number, function in enumerate(functions)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if reply.calls else "stop"}
    used = {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens}
    usage = {**used, "total_tokens": reply.input_tokens + reply.output_tokens}
    about = {
        "id": f"chatcmpl-{asked.number}",
        "object": "chat.completion",
        "created": 0,
        "model": asked.body["model"],
    }
    return "application/json", json.dumps({**about, "choices": [choice], "usage": usage}).encode()


def _error(reply: Reply) -> tuple[str, bytes]:
    return "application/json", json.dumps({"error": {"message": reply.text}}).encode()
