"""Messages between a load run and its client processes: frames of bytes over a socket pair.

The first byte of a frame says what it is (``Kind``). What follows is pickled, or the memory of arrays: both ends are
the same interpreter.
"""

from __future__ import annotations

import pickle
import socket
import struct
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from agentdyno.load.windows.records import EXTRA, RECORD, Extras, Gaps, Records
from agentdyno.workers.frames import LARGEST_BYTES, FrameReader, bytes_frame

_BATCH = struct.Struct("<IIqqqqqq")
_READ_BYTES = 1 << 20
_MORE_FOLLOWS = 0x80
"""Added to the kind in all frames but the last of a message that is too long for one."""
PART_BYTES = LARGEST_BYTES - 1
BUFFER_BYTES = 4 << 20


class Kind(IntEnum):
    """To the client: SETUP, STEP, GO, STOP, QUIT. From it: READY, BATCH, EXAMPLE, ENDED, FAILED.

    With the one who keeps a client on another machine also: PING, answered by PONG (the time there), and CHECK,
    answered by CHECKED (the client's own error there). LEFT is the last word of a client: empty when it was told to
    quit, else why it is gone."""

    SETUP = 0
    STEP = 1
    GO = 2
    STOP = 3
    QUIT = 4
    READY = 5
    BATCH = 6
    EXAMPLE = 7
    ENDED = 8
    FAILED = 9
    PING = 10
    PONG = 11
    CHECK = 12
    CHECKED = 13
    LEFT = 14


@dataclass(frozen=True, slots=True)
class RequestBatch:
    """Finished requests, and how far a client is. Times are nanoseconds since the start of the step: every request
    that ended before ``up_to_ns`` has been sent, ``open_due_ns`` is when the earliest of those that have not ended
    was due (``None`` without any). At ``at_ns`` the process had used ``cpu_ns`` of CPU time, and waited ``held_ns``
    for a core. ``extras`` has a row for each record."""

    records: Records
    gaps: Gaps
    up_to_ns: int
    open_due_ns: int | None
    at_ns: int
    cpu_ns: int
    held_ns: int
    open_requests: int
    extras: Extras | None = None

    def encode(self) -> bytes:
        extras = b"" if self.extras is None else self.extras.tobytes()
        return encode_batch(self.records.tobytes(), self.gaps.tobytes(), extras, self)


def encode_batch(records: bytes, gaps: bytes, extras: bytes, state: RequestBatch) -> bytes:
    open_due_ns = -1 if state.open_due_ns is None else max(0, state.open_due_ns)
    times = (state.up_to_ns, open_due_ns, state.at_ns, state.cpu_ns, state.held_ns, state.open_requests)
    return _BATCH.pack(len(records), len(extras), *times) + records + extras + gaps


def decode_batch(data: bytes) -> RequestBatch:
    size, more, up_to_ns, open_due_ns, at_ns, cpu_ns, held_ns, open_requests = _BATCH.unpack_from(data)
    middle = _BATCH.size + size
    return RequestBatch(
        np.frombuffer(data[_BATCH.size : middle], RECORD),
        np.frombuffer(data[middle + more :], np.int64),
        up_to_ns,
        None if open_due_ns < 0 else open_due_ns,
        at_ns,
        cpu_ns,
        held_ns,
        open_requests,
        np.frombuffer(data[middle : middle + more], EXTRA) if more else None,
    )


@dataclass(slots=True)
class Pipe:
    """One end. ``post`` never blocks where the socket does not; what the other side has not taken yet waits here."""

    socket: socket.socket
    ended: bool = False
    _in: FrameReader = field(default_factory=FrameReader)
    _parts: list[bytes] = field(default_factory=list)
    _out: deque[memoryview] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)

    def fileno(self) -> int:
        return self.socket.fileno()

    @property
    def waiting(self) -> bool:
        """Whether something is left to send."""
        return bool(self._out)

    def post(self, kind: Kind, value: object = None) -> None:
        """Bytes go as they are, everything else pickled."""
        data = value if isinstance(value, bytes) else pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        parts = [data[at : at + PART_BYTES] for at in range(0, len(data), PART_BYTES)] or [b""]
        kinds = [*(kind | _MORE_FOLLOWS for _ in parts[1:]), kind]
        self._out.extend(memoryview(bytes_frame(bytes([tag]), part)) for tag, part in zip(kinds, parts, strict=True))
        self.flush()

    def flush(self) -> None:
        """Sends what the other side takes now."""
        while self._out:
            try:
                sent = self.socket.send(self._out[0])
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self.ended = True
                self._out.clear()
                return
            if sent < len(self._out[0]):
                self._out[0] = self._out[0][sent:]
            else:
                self._out.popleft()

    def receive(self) -> Iterator[tuple[Kind, bytes]]:
        """What has come completely; sets ``ended`` when the other side is gone."""
        while True:
            try:
                data = self.socket.recv(_READ_BYTES)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                data = b""
            if not data:
                self.ended = True
                break
            self._in.feed(data)
            if len(data) < _READ_BYTES:
                break
        # One by one: whoever is interrupted in the middle finds the others the next time, and none of them twice.
        for _, content in self._in.frames():
            self._parts.append(content[1:])
            if content[0] & _MORE_FOLLOWS:
                continue
            parts, self._parts = self._parts, []
            yield Kind(content[0]), b"".join(parts)

    def close(self) -> None:
        self.socket.close()


def load_value(data: bytes) -> Any:
    """What was given to ``post``; from our own processes only."""
    return pickle.loads(data)
