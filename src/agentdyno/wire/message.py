"""An HTTP/1.1 response, read incrementally from stamped chunks; every body byte keeps its arrival time."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum, auto

from agentdyno.wire.errors import ProtocolError, TooLarge
from agentdyno.wire.head import MAX_HEAD_BYTES, Head, Headers, check_beginning, end_of_head, parse_head

MAX_CHUNK_LINE_BYTES = 4 * 1024
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")


@dataclass(frozen=True, slots=True)
class Body:
    """``data`` arrived in pieces: piece ``i`` ends before offset ``ends[i]`` and arrived at ``stamps[i]``, in ns."""

    data: bytes = b""
    ends: tuple[int, ...] = ()
    stamps: tuple[int, ...] = ()

    def arrival_ns(self, offset: int) -> int:
        """When the byte at ``offset`` arrived."""
        if not 0 <= offset < len(self.data):
            raise IndexError(f"no byte {offset} in a body of {len(self.data)}")
        return self.stamps[bisect_right(self.ends, offset)]


class _State(Enum):
    HEAD = auto()
    LENGTH = auto()
    CHUNK_SIZE = auto()
    CHUNK_DATA = auto()
    CHUNK_END = auto()
    TRAILER = auto()
    UNTIL_CLOSE = auto()
    DONE = auto()


class MessageParser:
    """Feed it stamped chunks until ``done``, and tell it when the connection ends.

    Between feeds, ``bytes_needed`` is the total of received bytes below which another look is pointless, and
    ``ends_with_blank_line`` says that the message cannot end in a chunk that has no empty line. Raises
    ``ProtocolError`` or ``TooLarge``, nothing else. With ``any_encoding`` a compressed body is taken as it comes.
    """

    def __init__(
        self, method: str = "POST", endpoint: str = "", max_bytes: int = 1 << 30, *, any_encoding: bool = False
    ) -> None:
        self.head: Head | None = None
        self.first_byte_ns: int | None = None
        self.done_ns: int | None = None
        self.received = 0
        self.bytes_needed = 0
        self.ends_with_blank_line = False
        self._method = method
        self._endpoint = endpoint
        self._max_bytes = max_bytes
        self._any_encoding = any_encoding
        self._state = _State.HEAD
        self._buffer = bytearray()
        self._remaining = 0
        self._extra = False
        self._ended_by_close = False
        self._pieces: list[bytes] = []
        self._ends: list[int] = []
        self._stamps: list[int] = []

    @property
    def done(self) -> bool:
        return self._state is _State.DONE

    @property
    def reusable(self) -> bool:
        """Whether another request may follow on the same connection."""
        return (
            self.done
            and self.head is not None
            and self.head.keeps_alive
            and not self._extra
            and not self._ended_by_close
        )

    def body(self) -> Body:
        """What has arrived of the body."""
        return Body(b"".join(self._pieces), tuple(self._ends), tuple(self._stamps))

    def feed(self, stamped: tuple[int, bytes]) -> None:
        stamp, data = stamped
        if self.first_byte_ns is None:
            self.first_byte_ns = stamp
        self.received += len(data)
        at = 0
        while at < len(data) and not self.done:
            at = self._step(stamp, data, at)
        if at < len(data):
            self._extra = True
        if self.received > self._max_bytes:
            raise TooLarge(f"the answer is larger than {self._max_bytes:,} bytes", where=self._endpoint)

    def end(self, stamp: int) -> None:
        """The connection has ended in an orderly way: the end of a body that has no other."""
        if self._state is _State.UNTIL_CLOSE:
            self._finish(stamp)

    def _step(self, stamp: int, data: bytes, at: int) -> int:
        if self._state is _State.HEAD:
            return self._head_bytes(stamp, data, at)
        if self._state is _State.UNTIL_CLOSE:
            self._keep(stamp, data[at:])
            return len(data)
        if self._state in (_State.LENGTH, _State.CHUNK_DATA):
            piece = data[at : at + self._remaining]
            self._keep(stamp, piece)
            self._remaining -= len(piece)
            if not self._remaining:
                if self._state is _State.LENGTH:
                    self._finish(stamp)
                else:
                    self._state = _State.CHUNK_END
            return at + len(piece)
        return self._chunk_line(stamp, data, at)

    def _head_bytes(self, stamp: int, data: bytes, at: int) -> int:
        before = len(self._buffer)
        self._buffer += data[at:]
        end = end_of_head(self._buffer, max(0, before - 2))
        if end is None:
            check_beginning(bytes(self._buffer), self._endpoint)
            return len(data)
        head = parse_head(bytes(self._buffer[:end]), self._endpoint)
        self._buffer.clear()
        at += end - before
        if head.status >= 200:
            self.head = head
            self._choose_framing(stamp, head, len(data) - at)
        elif head.status == 101:
            raise ProtocolError("the other side wants to change the protocol (status 101)", where=self._endpoint)
        return at

    def _choose_framing(self, stamp: int, head: Head, left_over: int) -> None:
        encoding = (head.headers.get("content-encoding") or "identity").lower()
        if encoding != "identity" and not self._any_encoding:
            message = f"the answer is encoded as {encoding}, which is not read here"
            raise ProtocolError(message, where=self._endpoint, remedy="Ask for none, or switch it off at the server.")
        transfer = [part.strip().lower() for part in (head.headers.get("transfer-encoding") or "").split(",")]
        if self._method == "HEAD" or head.status in (204, 304):
            self._finish(stamp)
        elif transfer == ["chunked"]:
            self._state = _State.CHUNK_SIZE
            self.ends_with_blank_line = True
            self.bytes_needed = self._max_bytes + 1
        elif transfer != [""]:
            raise ProtocolError(f"unknown transfer encoding {', '.join(transfer)[:40]}", where=self._endpoint)
        elif head.headers.get("content-length") is None:
            self._state = _State.UNTIL_CLOSE
            self.bytes_needed = self._max_bytes + 1
        else:
            self._expect(stamp, self._content_length(head.headers), left_over)

    def _content_length(self, headers: Headers) -> int:
        values = {part.strip() for value in headers.all("content-length") for part in value.split(",")}
        text = values.pop()
        if values or not (text.isascii() and text.isdigit() and len(text) <= 15):
            raise ProtocolError("the content length is not a number", where=self._endpoint)
        if int(text) > self._max_bytes:
            raise TooLarge(
                f"the answer has {int(text):,} bytes, {self._max_bytes:,} are allowed", where=self._endpoint
            )
        return int(text)

    def _expect(self, stamp: int, length: int, left_over: int) -> None:
        self._remaining = length
        self._state = _State.LENGTH
        self.bytes_needed = min(self.received - left_over + length, self._max_bytes + 1)
        if not length:
            self._finish(stamp)

    def _chunk_line(self, stamp: int, data: bytes, at: int) -> int:
        newline = data.find(b"\n", at)
        end = len(data) if newline < 0 else newline + 1
        self._buffer += data[at:end]
        limit = MAX_HEAD_BYTES if self._state is _State.TRAILER else MAX_CHUNK_LINE_BYTES
        if len(self._buffer) > limit:
            raise ProtocolError("a line between chunks is too long", where=self._endpoint)
        if newline >= 0:
            line = bytes(self._buffer).rstrip(b"\n").removesuffix(b"\r")
            self._buffer.clear()
            self._take_chunk_line(stamp, line)
        return end

    def _take_chunk_line(self, stamp: int, line: bytes) -> None:
        if self._state is _State.CHUNK_END:
            if line:
                raise ProtocolError(f"a chunk is longer than it said: {line[:40]!r}", where=self._endpoint)
            self._state = _State.CHUNK_SIZE
        elif self._state is _State.TRAILER:
            if not line:
                self._finish(stamp)
        else:
            match = _CHUNK_SIZE.fullmatch(line)
            if match is None:
                raise ProtocolError(f"not the size of a chunk: {line[:40]!r}", where=self._endpoint)
            self._remaining = int(match[1], 16)
            self._state = _State.CHUNK_DATA if self._remaining else _State.TRAILER

    def _keep(self, stamp: int, piece: bytes) -> None:
        self._pieces.append(piece)
        self._ends.append((self._ends[-1] if self._ends else 0) + len(piece))
        self._stamps.append(stamp)

    def _finish(self, stamp: int) -> None:
        self._ended_by_close = self._state is _State.UNTIL_CLOSE
        self._state = _State.DONE
        self.done_ns = stamp
