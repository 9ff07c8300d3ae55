"""Speaking to a server at the level of bytes."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

OPENAI, OLLAMA = "/v1/chat/completions", "/api/chat"


@dataclass(frozen=True)
class Answer:
    """Status, headers (names in lower case) and body of a response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The objects of a stream in either protocol; the OpenAI terminator is the text ``[DONE]``."""
        if self.headers["content-type"].startswith("text/event-stream"):
            parts = self.body.decode().split("\n\n")
            assert parts[-1] == ""
            texts = [part.removeprefix("data: ") for part in parts[:-1]]
        else:
            texts = self.body.decode().splitlines()
        return [text if text == "[DONE]" else json.loads(text) for text in texts]


def ask(url: str, path: str = "", body: object = None, method: str | None = None, **headers: str) -> Answer:
    """One request; ``body`` as JSON unless it is bytes."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url + path, data, {"content-type": "application/json", **named}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return _answer(reply)
    except urllib.error.HTTPError as error:
        with error:
            return _answer(error)


def chat(prompt: str = "hello there", *, stream: bool = True, **more: object) -> dict[str, object]:
    """The body of a chat request that both protocols understand; ``dyno`` holds settings for this request."""
    messages = more.pop("messages", [{"role": "user", "content": prompt}])
    return {"model": "tiny", "messages": messages, "stream": stream, **more}


def tool(name: str, **properties: object) -> dict[str, object]:
    """An offer of a function whose arguments are all required."""
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def text_of(events: Iterable[Any]) -> str:
    """The text that a stream brought."""
    pieces = []
    for event in events:
        if event == "[DONE]":
            continue
        if "message" in event:
            pieces.append(event["message"]["content"])
        elif event["choices"]:
            pieces.append(event["choices"][0]["delta"].get("content") or "")
    return "".join(pieces)


def encoded(body: object, path: str = OPENAI, *lines: str) -> bytes:
    """A request as bytes."""
    data = json.dumps(body).encode()
    head = [f"POST {path} HTTP/1.1", "host: test", f"content-length: {len(data)}", *lines]
    return ("\r\n".join(head) + "\r\n\r\n").encode() + data


def connect(host: str, port: int, receive_bytes: int | None = None) -> socket.socket:
    """A connection; with ``receive_bytes`` the kernel keeps no more than about so much for a reader that is late."""
    link = socket.socket()
    link.settimeout(30)
    if receive_bytes is not None:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    link.connect((host, port))
    return link


def read_until(link: socket.socket, end: bytes) -> bytes:
    """All bytes up to and including ``end``."""
    data = bytearray()
    while not data.endswith(end):
        chunk = link.recv(65536)
        assert chunk, f"the server closed after {bytes(data[-200:])!r}"
        data += chunk
    return bytes(data)


def read_to_end(link: socket.socket) -> bytes:
    """All bytes until the server closes; raises ``ConnectionResetError`` when it resets."""
    data = bytearray()
    while chunk := link.recv(65536):
        data += chunk
    return bytes(data)


def read_until_reset(link: socket.socket) -> bytes:
    """What came before the server reset the connection; some of it may be lost with the reset."""
    data = b""
    try:
        while chunk := link.recv(65536):
            data += chunk
    except ConnectionResetError:
        return data
    raise AssertionError("the server closed the connection in an orderly way")


def _answer(reply: Any) -> Answer:
    return Answer(reply.status, {name.lower(): value for name, value in reply.headers.items()}, reply.read())
