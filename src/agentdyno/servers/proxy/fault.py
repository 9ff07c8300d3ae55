"""What a fault proxy can do to an exchange, and the bytes that it takes."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from agentdyno.errors import SpecError, nearest
from agentdyno.servers.http_message import REASONS

FAULTS = {
    "": "everything passes",
    "refuse": "nobody listens; open connections are reset",
    "reset": "answers are reset in the middle of the body",
    "latency": "every request arrives later",
    "errors": "every request is refused with an error status, and the target does not hear of it",
    "half_open": "connections are accepted and never answered",
    "truncated": "answers end in the middle of the body in an orderly way",
    "stream_error": "answers end with an error object in the stream",
}
MESSAGE = "the fault proxy failed on purpose"
MARK = "x-dyno-fault: 1"
FINISHES = (b"[DONE]", b'"done":true', b'"done": true')


@dataclass(frozen=True, slots=True)
class ProxyFault:
    """The fault that is on, by its name in ``FAULTS``. ``delay_s`` is what ``latency`` adds, in seconds; ``status``
    and ``retry_after_s`` (seconds) are what ``errors`` answers."""

    name: str = ""
    delay_s: float = 0.2
    status: int = 503
    retry_after_s: float | None = None

    def __post_init__(self) -> None:
        if self.name not in FAULTS:
            raise SpecError(f"the fault proxy has no fault {self.name!r}", remedy=nearest(self.name, list(FAULTS)))
        if not 0 <= self.delay_s <= 3600:
            raise SpecError(f"delay_s is {self.delay_s}; use 0 to 3600")
        if not 400 <= self.status <= 599:
            raise SpecError(f"status is {self.status}; use 400 to 599")
        if self.retry_after_s is not None and not 0 <= self.retry_after_s <= 86_400:
            raise SpecError(f"retry_after_s is {self.retry_after_s}; use 0 to 86400")


def own_answer(status: int, retry_after_s: float | None) -> bytes:
    """A whole response of the proxy's own."""
    body = json.dumps({"error": {"message": MESSAGE, "type": "server_error", "code": None}}).encode()
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Unknown')}", "content-type: application/json", MARK]
    lines.append(f"content-length: {len(body)}")
    if retry_after_s is not None:
        lines.append(f"retry-after: {math.ceil(retry_after_s)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def split_at_boundary(data: bytes, *, in_body: bool, whole_chunk: bool) -> tuple[bytes, bytes] | None:
    """The head of a response and as much of its body as is let through; ``None`` until more has come.

    That is half of the body that has come, or with ``whole_chunk`` its first chunk, where it has chunks and the
    answer does not end in that one. ``in_body``: the head went through before.
    """
    head = b""
    if not in_body:
        end = data.find(b"\r\n\r\n")
        if end < 0:
            return None
        head, data = data[: end + 4], data[end + 4 :]
        if not data:
            return (head, b"") if _field(head, b"content-length") == b"0" else None
    if not whole_chunk:
        return head, data[: len(data) // 2]
    if not _is_chunked(head):
        return head, data
    line, sign, rest = data.partition(b"\r\n")
    if not sign:
        return None
    try:
        size = int(line.partition(b";")[0], 16)
    except ValueError:
        return head, b""
    if len(rest) < size + 2:
        return None
    chunk = data[: len(line) + 2 + size + 2]
    return head, b"" if not size or any(mark in chunk for mark in FINISHES) else chunk


def error_frames(head: bytes, body: bytes) -> tuple[bytes, bool]:
    """A response with this head and start of a body that ends with an error object, and whether the connection can be
    used for another request. A body of known length is the error object alone."""
    kind = _field(head, b"content-type")
    error = json.dumps({"error": {"message": MESSAGE, "type": "server_error", "code": None}}).encode()
    if b"ndjson" in kind:
        error = json.dumps({"error": MESSAGE}).encode()
    frame = b"data: " + error + b"\n\n" if b"event-stream" in kind else error + b"\n"
    stays = b"close" not in _field(head, b"connection")
    if _is_chunked(head):
        return head + body + b"%x\r\n%b\r\n0\r\n\r\n" % (len(frame), frame), stays
    length = _field(head, b"content-length")
    if not length:
        return head + body + frame, False
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length:")]
    lines.insert(1, b"content-length: %d" % len(error))
    return b"\r\n".join(lines) + error, stays


def _is_chunked(head: bytes) -> bool:
    return b"chunked" in _field(head, b"transfer-encoding")


def _field(head: bytes, name: bytes) -> bytes:
    """A header's value in lower case; empty where there is none."""
    for line in head.lower().split(b"\r\n"):
        found, _, value = line.partition(b":")
        if found.strip() == name:
            return value.strip()
    return b""
