"""HTTP/1.1 as a server needs it: requests out of a byte stream, and heads of responses."""

from __future__ import annotations

from dataclasses import dataclass

MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 64 * 1024 * 1024
REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class BadRequest(Exception):
    """Bytes that are no request; the connection cannot be used any further."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """``path`` is without the query; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    version: str

    @property
    def keep_alive(self) -> bool:
        wanted = self.headers.get("connection", "").lower()
        return "close" not in wanted if self.version == "HTTP/1.1" else "keep-alive" in wanted


class RequestReader:
    """Takes bytes as they arrive and gives complete requests, one at a time."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._head: HttpRequest | None = None
        self.wants_continue = False
        """The client waits for leave to send the body."""

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def next(self) -> HttpRequest | None:
        """The next complete request, or ``None`` until more bytes come; raises ``BadRequest``."""
        if self._head is None:
            self._head = self._read_head()
            if self._head is None:
                return None
            self.wants_continue = self._head.headers.get("expect", "").lower() == "100-continue"
        body = self._read_body(self._head)
        if body is None:
            return None
        self.wants_continue = False
        head, self._head = self._head, None
        return HttpRequest(head.method, head.path, head.headers, body, head.version)

    def _read_head(self) -> HttpRequest | None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0 or end > MAX_HEAD_BYTES:
            if len(self._buffer) > MAX_HEAD_BYTES:
                raise BadRequest(431, "the request's head is too long")
            return None
        first, *lines = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        parts = first.split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            raise BadRequest(400, "this is not an HTTP/1.1 request")
        headers = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip():
                raise BadRequest(400, "a header line cannot be read")
            headers[name.lower()] = value.strip()
        return HttpRequest(parts[0], parts[1].partition("?")[0], headers, b"", parts[2])

    def _read_body(self, head: HttpRequest) -> bytes | None:
        if "chunked" in head.headers.get("transfer-encoding", "").lower():
            return self._read_chunks()
        text = head.headers.get("content-length", "0")
        if not text.isascii() or not text.isdigit():
            raise BadRequest(400, "content-length is no number")
        length = int(text)
        if length > MAX_BODY_BYTES:
            raise BadRequest(413, f"the body is larger than {MAX_BODY_BYTES} bytes")
        if len(self._buffer) < length:
            return None
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        return body

    def _read_chunks(self) -> bytes | None:
        """The body once all of its chunks are there; they stay in the buffer until then."""
        if len(self._buffer) > MAX_BODY_BYTES:
            raise BadRequest(413, f"the body is larger than {MAX_BODY_BYTES} bytes")
        parts, at = [], 0
        while True:
            line_end = self._buffer.find(b"\r\n", at)
            if line_end < 0:
                return None
            try:
                size = int(bytes(self._buffer[at:line_end]).partition(b";")[0], 16)
            except ValueError:
                raise BadRequest(400, "a chunk's size cannot be read") from None
            at = line_end + 2
            if len(self._buffer) < at + size + 2:
                return None
            parts.append(bytes(self._buffer[at : at + size]))
            at += size + 2
            if size == 0:
                del self._buffer[:at]
                return b"".join(parts)


def response_head(status: int, *headers: tuple[str, str]) -> bytes:
    """Status line and headers, with the mark that everything here is simulated."""
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Unknown')}", "server: agentdyno", "x-dyno-simulated: 1"]
    lines += [f"{name}: {value}" for name, value in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
