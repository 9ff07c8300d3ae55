"""Where requests begin and end in the bytes of a client, without changing any of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

MAX_HEAD_BYTES = 1024 * 1024
_MOST_LINE_BYTES = 64 * 1024
_CHUNK_SIZE = re.compile(rb"\s*([0-9A-Fa-f]{1,15})\s*(?:;.*)?")


class HeadTooLong(Exception):
    """The head of a request does not end."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The head of a request: ``lines`` as they came, without their ends; names of ``headers`` in lower case.

    ``target`` is "" where the first line is that of no request.
    """

    method: str
    target: str
    lines: tuple[bytes, ...]
    headers: dict[str, str]
    newline: bytes

    def with_target(self, target: str, changed: dict[str, str]) -> bytes:
        """The head for another target and with other values of some headers; all else stays as it came."""
        first = self.lines[0].split(b" ")
        out = [b" ".join([first[0], target.encode("latin-1"), *first[2:]])]
        for line in self.lines[1:]:
            name, _, _ = line.partition(b":")
            new = changed.get(name.decode("latin-1").strip().lower())
            out.append(line if new is None else name + b": " + new.encode("latin-1"))
        return self.newline.join([*out, b"", b""])


class _State(Enum):
    HEAD = auto()
    LENGTH = auto()
    CHUNK_LINE = auto()
    CHUNK_DATA = auto()
    TRAILER = auto()
    RAW = auto()


@dataclass(frozen=True, slots=True)
class BodyPart:
    """Bytes of a body as they came, framing included; ``content`` is what they hold of the body itself."""

    data: bytes
    content: bytes


@dataclass(frozen=True, slots=True)
class RequestEnd:
    """The request is complete."""


@dataclass(slots=True)
class RequestStream:
    """Feed it bytes; it yields heads, parts of bodies and ends. After framing that cannot be understood, or once it
    is told to be ``raw``, everything is a part of the body."""

    _state: _State = _State.HEAD
    _buffer: bytearray = field(default_factory=bytearray)
    _remaining: int = 0
    malformed: bool = False

    def be_raw(self) -> None:
        """From here on bytes have no meaning: the protocol was changed."""
        self._state = _State.RAW

    def feed(self, data: bytes) -> Iterator[RequestHead | BodyPart | RequestEnd]:
        """Raises ``HeadTooLong``. All of ``data`` is taken when the iterator is exhausted."""
        while data:
            if self._state is _State.HEAD:
                head, data = self._head(data)
                if head is None:
                    return
                yield head
                if not self._begin_body(head):
                    yield RequestEnd()
            elif self._state is _State.RAW:
                yield BodyPart(data, b"")
                return
            elif self._state in (_State.LENGTH, _State.CHUNK_DATA):
                part, data = data[: self._remaining], data[self._remaining :]
                self._remaining -= len(part)
                content = part if self._state is _State.LENGTH else _without_end(part, self._remaining)
                yield BodyPart(part, content)
                if not self._remaining and self._data_ended():
                    yield RequestEnd()
            else:
                line, data = _to_newline(data)
                yield BodyPart(line, b"")
                if self._line(line):
                    yield RequestEnd()

    def _head(self, data: bytes) -> tuple[RequestHead | None, bytes]:
        before = len(self._buffer)
        self._buffer += data
        if not before:
            self._buffer = self._buffer.lstrip(b"\r\n")  # empty lines between requests are allowed
        end = _end_of_head(self._buffer, max(0, before - 3))
        if end is None or end > MAX_HEAD_BYTES:
            if len(self._buffer) > MAX_HEAD_BYTES:
                raise HeadTooLong
            return None, b""
        raw, rest = bytes(self._buffer[:end]), bytes(self._buffer[end:])
        self._buffer = bytearray()
        return read_head(raw), rest

    def _begin_body(self, head: RequestHead) -> bool:
        """Whether there is one."""
        length = head.headers.get("content-length", "")
        if "chunked" in head.headers.get("transfer-encoding", "").lower():
            self._state = _State.CHUNK_LINE
        elif length.isascii() and length.isdigit() and len(length) <= 15:
            self._remaining = int(length)
            self._state = _State.LENGTH if self._remaining else _State.HEAD
        elif length:
            self._give_up()
        return self._state is not _State.HEAD

    def _data_ended(self) -> bool:
        """Whether that was the request's end."""
        if self._state is _State.LENGTH:
            self._state = _State.HEAD
            return True
        self._state = _State.CHUNK_LINE
        return False

    def _line(self, data: bytes) -> bool:
        """Takes a line between chunks, or a part of one; whether it was the request's last."""
        self._buffer += data
        if not data.endswith(b"\n"):
            if len(self._buffer) > _MOST_LINE_BYTES:
                self._give_up()
            return False
        line = bytes(self._buffer).rstrip(b"\r\n")
        self._buffer = bytearray()
        if self._state is _State.TRAILER:
            if line:
                return False
            self._state = _State.HEAD
            return True
        match = _CHUNK_SIZE.fullmatch(line)
        if match is None:
            self._give_up()
        elif int(match[1], 16):
            self._remaining = int(match[1], 16) + 2  # with the end of its line
            self._state = _State.CHUNK_DATA
        else:
            self._state = _State.TRAILER
        return False

    def _give_up(self) -> None:
        self.malformed = True
        self._buffer = bytearray()
        self._state = _State.RAW


def read_head(raw: bytes) -> RequestHead:
    """A head with its empty line; what cannot be read of it is left out."""
    newline = b"\r\n" if b"\r\n" in raw else b"\n"
    lines = raw.rstrip(b"\r\n").split(newline)
    first = lines[0].split(b" ")
    known = len(first) == 3 and first[2].startswith(b"HTTP/1.")
    headers = {}
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if colon:
            headers[name.decode("latin-1").strip().lower()] = value.strip().decode("latin-1")
    target = first[1].decode("latin-1") if known else ""
    return RequestHead(first[0].decode("latin-1"), target, tuple(lines), headers, newline)


def _end_of_head(buffer: bytearray, start: int) -> int | None:
    ends = [at + len(sign) for sign in (b"\r\n\r\n", b"\n\n") if (at := buffer.find(sign, start)) >= 0]
    return min(ends, default=None)


def _without_end(part: bytes, left: int) -> bytes:
    """The data in a part of a chunk, whose last two bytes end its line; ``left`` bytes of it are still to come."""
    return part[: max(0, len(part) - max(0, 2 - left))]


def _to_newline(data: bytes) -> tuple[bytes, bytes]:
    at = data.find(b"\n")
    return (data, b"") if at < 0 else (data[: at + 1], data[at + 1 :])
