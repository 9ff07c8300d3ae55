"""The hot path of a client: stamp what arrives, and notice where an answer ends. Nothing else happens here.

Many streams share one event loop, so whatever is done for one delays the stamps of the others. The end of an answer
is found from its last bytes (chunked), by counting (content length) or from the close; all of it is read properly
when the answer is decoded. What is unusual goes through ``wire.message.MessageParser`` at once.
"""

from __future__ import annotations

import asyncio
import os
from enum import IntEnum
from time import perf_counter_ns
from typing import Protocol, cast

from agentdyno.wire.errors import ProtocolError, TooLarge
from agentdyno.wire.message import MessageParser

LAST_CHUNK = b"\r\n0\r\n\r\n"
HEAD, CHUNKED, LENGTH, UNTIL_CLOSE, EXACT = range(5)
MOST_KNOWN = 512
_CHUNKED_HEADER = b"\r\ntransfer-encoding: chunked\r\n"
_LENGTH_HEADER = b"\r\ncontent-length: "
_KEPT_HEADER = b"\r\nconnection: keep-alive\r\n"

Read = tuple[int, bytes]


class ExchangeEnding(IntEnum):
    """What ended an exchange: the answer's own end, an orderly close, a lost connection, the clock, its size, bytes
    that are no HTTP, or that no connection came about. ``SPOILED``: a check of whoever asked did not hold."""

    COMPLETE = 0
    CLOSED = 1
    LOST = 2
    TIMEOUT = 3
    TOO_LARGE = 4
    GARBAGE = 5
    NO_CONNECTION = 6
    SPOILED = 7


COMPLETE = ExchangeEnding.COMPLETE
Known = dict[bytes, tuple[int, int]]
"""Heads that have come before, and the framing that they give: shared by the connections of a client."""


class Owner(Protocol):
    """Whoever sends requests over a connection."""

    def ended(self, link: LoadConnection, ending: ExchangeEnding, now_ns: int) -> None:
        """The exchange on ``link`` has ended; ``link.keep`` says whether another may follow."""

    def dropped(self, link: LoadConnection) -> None:
        """A connection that was idle is gone."""


class LoadConnection(asyncio.Protocol):
    """One connection. ``due_ns``, ``request``, ``stage``, ``session`` and ``flags`` are the owner's notes about the
    request on it, ``sent_ns`` is when its last byte was handed to the kernel. ``stamped`` says whether the last read
    has the kernel's time of arrival; else its time is that of the reading, however long the bytes had waited."""

    __slots__ = (
        "_fd",
        "_known",
        "_left",
        "_max_bytes",
        "_method",
        "_mode",
        "_owner",
        "_parser",
        "_received",
        "_transport",
        "_verify",
        "busy",
        "due_ns",
        "flags",
        "keep",
        "open",
        "reads",
        "request",
        "sent_ns",
        "session",
        "stage",
        "stamped",
        "unsent",
        "used",
    )

    def __init__(self, owner: Owner, method: str, max_bytes: int, known: Known, *, verify: bool) -> None:
        """``verify``: the body may hold any bytes, so that what looks like its last chunk is checked at once."""
        self._known = known
        self._owner, self._method, self._max_bytes, self._verify = owner, method, max_bytes, verify
        self._transport: asyncio.Transport | None = None
        self._fd = -1
        self._parser: MessageParser | None = None
        self._mode = HEAD
        self._received = self._left = 0
        self.reads: list[Read] = []
        self.busy = self.open = self.keep = self.unsent = self.stamped = False
        self.used = 0
        self.due_ns = self.sent_ns = 0
        self.request = self.stage = self.session = self.flags = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=0)  # a request counts as sent when its last byte is
        if transport.get_extra_info("ssl_object") is None:
            self._fd = transport.get_extra_info("socket").fileno()
        self.open = True

    def send(self, data: bytes) -> None:
        """Begins an exchange: ``ended`` is called once for it."""
        self.reads = []
        self._received = 0
        self._mode = HEAD
        self._parser = None
        self.busy = True
        self.keep = self.unsent = False
        self.sent_ns = perf_counter_ns()
        written = 0
        if self._fd >= 0:
            try:
                written = os.write(self._fd, data)
            except BlockingIOError:
                pass
            except OSError:
                self.abort()  # connection_lost follows
                return
            if written == len(data):
                return
        assert self._transport is not None
        self._transport.write(data[written:])
        self.unsent = self._transport.get_write_buffer_size() > 0

    def data_received(self, data: bytes) -> None:
        self._take(data, perf_counter_ns())

    def arrived(self, data: bytes, at_ns: int, now_ns: int) -> None:
        """Bytes that came in at ``at_ns``, as the kernel says, and were read just before ``now_ns``. What cannot be,
        before the request or what came last, is not believed."""
        reads = self.reads
        self.stamped = at_ns < now_ns and at_ns >= (reads[-1][0] if reads else self.sent_ns)
        self._take(data, at_ns if self.stamped else now_ns)

    def _take(self, data: bytes, now: int) -> None:
        if not self.busy:  # nobody asked for anything
            self.abort()
            return
        self.reads.append((now, data))
        mode = self._mode
        if mode == HEAD:
            end = data.find(b"\r\n\r\n") + 4
            mode, self._left = self._known.get(data[:end]) or self._learn(data[:end])
            if mode == EXACT:
                self._exactly(now)
                return
            self._mode = mode
            self.keep = True
        if mode == CHUNKED:
            if data.endswith(LAST_CHUNK):
                if self._verify:
                    self._exactly(now)
                else:
                    self._end(COMPLETE, now)
                return
            if (data.endswith(b"\r\n\r\n") or len(data) < len(LAST_CHUNK)) and self._may_end(now):
                return
        elif mode == LENGTH:
            self._left -= len(data)
            if self._left <= 0:
                self.keep = self._left == 0
                self._end(COMPLETE, now)
                return
        else:
            self._feed((now, data))
            return
        self._received += len(data)
        if self._received > self._max_bytes:
            self._give_up(ExchangeEnding.TOO_LARGE, now)

    def eof_received(self) -> bool:
        self.stamped = False
        if self.busy:
            now = perf_counter_ns()
            self.keep = False
            self._end(ExchangeEnding.CLOSED, now)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        now = perf_counter_ns()
        self.open = self.keep = False
        if self.busy:
            self._end(ExchangeEnding.LOST if exc is not None else ExchangeEnding.CLOSED, now)
        else:
            self._owner.dropped(self)

    def resume_writing(self) -> None:
        if self.unsent:
            self.unsent = False
            self.sent_ns = perf_counter_ns()

    @property
    def usable(self) -> bool:
        """Whether a request may be sent."""
        return self.open and self._transport is not None and not self._transport.is_closing()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def time_out(self, now_ns: int) -> None:
        """Ends the exchange that is in progress."""
        self._give_up(ExchangeEnding.TIMEOUT, now_ns)

    def _learn(self, raw: bytes) -> tuple[int, int]:
        """The framing that a head gives, and the bytes of the whole answer where it says so."""
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        framing = _framing(raw, self._max_bytes) if self._method != "HEAD" else (EXACT, 0)
        self._known[raw] = framing
        return framing

    def _may_end(self, now: int) -> bool:
        """Whether a chunked answer has ended, or is parsed exactly from now on: its last chunk may come in parts,
        trailers may follow it, and lines inside of chunks may end in the same bytes."""
        tail = b""
        for _, data in reversed(self.reads):
            tail = data[-len(LAST_CHUNK) :] + tail
            if len(tail) >= len(LAST_CHUNK):
                break
        if tail.endswith(LAST_CHUNK) and not self._verify:
            self._end(COMPLETE, now)
            return True
        if tail.endswith(b"\r\n\r\n"):
            self._exactly(now)
            return True
        return False

    def _exactly(self, now: int) -> None:
        """From here on every byte of this answer is parsed as it comes."""
        self._parser = MessageParser(self._method, "", self._max_bytes, any_encoding=self._verify)
        self._mode = EXACT
        for read in self.reads[:-1]:
            if not self._feed(read):
                return
        self._feed((now, self.reads[-1][1]))

    def _feed(self, read: Read) -> bool:
        parser = self._parser
        assert parser is not None
        try:
            parser.feed(read)
        except ProtocolError:
            self._give_up(ExchangeEnding.GARBAGE, read[0])
            return False
        except TooLarge:
            self._give_up(ExchangeEnding.TOO_LARGE, read[0])
            return False
        if parser.done:
            self.keep = parser.reusable
            self._end(COMPLETE, read[0])
            return False
        return True

    def _give_up(self, ending: ExchangeEnding, now: int) -> None:
        self.keep = False
        self._end(ending, now)
        self.abort()

    def _end(self, ending: ExchangeEnding, now: int) -> None:
        if not self.busy:
            return
        self.busy = False
        self._parser = None
        if self.unsent:  # the answer came before the whole request had gone
            self.unsent = False
            self.keep = False
        self.used += 1
        self._owner.ended(self, ending, now)


def _framing(raw: bytes, max_bytes: int) -> tuple[int, int]:
    """Of a head that came whole and is of the usual kind; what is not is parsed exactly."""
    head = raw.lower()
    if not head.startswith(b"http/1.1 ") or not head.endswith(b"\r\n\r\n"):
        return EXACT, 0
    head = head.replace(_KEPT_HEADER, b"\r\n", 1)  # says what is so without it
    if b"\r\nconnection:" in head or head[9:12] in (b"204", b"304") or head[9:10] == b"1":
        return EXACT, 0
    if b"\r\ncontent-encoding:" in head or b"\n\n" in head:
        return EXACT, 0
    if _CHUNKED_HEADER in head:
        return (CHUNKED, 0) if head.count(b"transfer-encoding") == 1 else (EXACT, 0)
    at = head.find(_LENGTH_HEADER)
    if at < 0 or b"transfer-encoding" in head or head.count(b"content-length") > 1:
        return EXACT, 0
    digits = head[at + len(_LENGTH_HEADER) : head.find(b"\r", at + len(_LENGTH_HEADER))]
    if not digits.isdigit() or len(digits) > 15 or int(digits) > max_bytes:
        return EXACT, 0
    return LENGTH, int(digits) + len(raw)
