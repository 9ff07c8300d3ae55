"""The head of an HTTP/1.1 response: status and headers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentdyno.wire.errors import ProtocolError

MAX_HEAD_BYTES = 64 * 1024
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: ([^\r\n]*))?")
_HEADER_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Headers:
    """Names in lower case, in the order they came."""

    pairs: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str | None:
        """The value of a header; several of one name joined by commas."""
        values = self.all(name)
        return ", ".join(values) if values else None

    def all(self, name: str) -> tuple[str, ...]:
        wanted = name.lower()
        return tuple(value for key, value in self.pairs if key == wanted)


@dataclass(frozen=True, slots=True)
class Head:
    """``version`` is 10 or 11."""

    version: int
    status: int
    reason: str
    headers: Headers

    @property
    def keeps_alive(self) -> bool:
        wish = (self.headers.get("connection") or "").lower()
        return "keep-alive" in wish if self.version == 10 else "close" not in wish


def end_of_head(buffer: bytearray, start: int = 0) -> int | None:
    """The offset after the empty line that ends a head, ``None`` where there is none yet."""
    ends = [found + len(mark) for mark in (b"\n\r\n", b"\n\n") if (found := buffer.find(mark, start)) >= 0]
    return min(ends) if ends else None


def check_beginning(raw: bytes, endpoint: str) -> None:
    """Refuses bytes that cannot become a head, so that nobody waits for the rest of it."""
    if not b"HTTP/1.".startswith(raw[:7]):
        raise ProtocolError(f"not an HTTP/1.1 answer: {raw[:40]!r}", where=endpoint)
    if len(raw) > MAX_HEAD_BYTES:
        raise ProtocolError(f"the head is larger than {MAX_HEAD_BYTES:,} bytes", where=endpoint)


def parse_head(raw: bytes, endpoint: str) -> Head:
    """The head in ``raw``, which ends with its empty line."""
    lines = raw.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n")
    match = _STATUS_LINE.fullmatch(lines[0])
    if match is None:
        raise ProtocolError(f"not an HTTP/1.1 answer: {lines[0][:40]!r}", where=endpoint)
    pairs: list[tuple[str, str]] = []
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if line[:1] in (b" ", b"\t") and pairs:
            key, earlier = pairs.pop()
            pairs.append((key, f"{earlier} {line.strip().decode('latin-1')}"))
        elif not colon or not _HEADER_NAME.fullmatch(name):
            raise ProtocolError(f"not a header: {line[:40]!r}", where=endpoint)
        else:
            pairs.append((name.decode("ascii").lower(), value.strip(b" \t").decode("latin-1")))
    reason = (match[3] or b"").decode("latin-1")
    return Head(10 + int(match[1]), int(match[2]), reason, Headers(tuple(pairs)))
