"""One finished request as a row of an array, and the codes that stand in it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from agentdyno.errors import RunError
from agentdyno.model.load import Outcome, TokenSource

OUTCOMES: tuple[Outcome, ...] = tuple(Outcome)
"""``RECORD["outcome"]`` is an index into it, or ``UNSENT``."""
OUTCOME_CODES: dict[Outcome, int] = {outcome: code for code, outcome in enumerate(OUTCOMES)}
UNSENT = 255
"""The outcome of a request that found no free connection until the step's end: it was never sent."""
TOKEN_SOURCES: tuple[TokenSource, ...] = tuple(TokenSource)
TOKEN_SOURCE_CODES: dict[TokenSource, int] = {source: code for code, source in enumerate(TOKEN_SOURCES)}
UNKNOWN_SOURCE = 255
UNKNOWN = -1
"""A time that never came, or a count that nobody gave."""

RECORD = np.dtype(
    [
        ("due", np.int64),
        ("sent", np.int64),
        ("first_byte", np.int64),
        ("first_content", np.int64),
        ("last_content", np.int64),
        ("done", np.int64),
        ("bytes", np.int64),
        ("request", np.int32),
        ("input_tokens", np.int32),
        ("output_tokens", np.int32),
        ("chunks", np.int32),
        ("gaps", np.int32),
        ("stage", np.int16),
        ("status", np.uint16),
        ("outcome", np.uint8),
        ("token_source", np.uint8),
        ("retried", np.uint8),
        ("blocked", np.uint8),
        ("process", np.uint8),
    ]
)
"""Times are nanoseconds since the step's start, ``-1`` where there is none.

``due``: scheduled (in closed loop the moment at which the request before it ended); ``sent``: the last byte was with
the kernel; ``first_byte`` of the answer; ``first_content`` and ``last_content``: chunks with content, reasoning or
part of a tool call; ``done``: the answer was complete, or it was clear that it never will be. ``chunks`` counts those
with content, ``gaps`` the entries that belong to this record in the array of gaps beside it (one fewer than chunks).
``status`` is 0 without an answer. ``blocked``: it was late because every connection was busy, so that its lateness is
the target's. ``bytes`` counts what was received, its head included.
"""

EXTRA = np.dtype([("wait", np.int64), ("cached_tokens", np.int64), ("unread", np.int64)])
"""What is known of a request beside its record and goes into no file: for how much of its latency its answer waited
to be read, in nanoseconds, the tokens of its input that the server had kept (-1: not said), and how long its last
bytes waited to be read, whether or not that is part of a latency."""

Records = NDArray[np.void]
Extras = NDArray[np.void]
Gaps = NDArray[np.int64]


def records_of(rows: list[tuple[Any, ...]]) -> Records:
    """Rows whose values are in the order of ``RECORD``'s fields."""
    records: Records = np.array(rows, RECORD)
    return records


NAME = "requests.npy"
_HEAD_BYTES = 1024
_MAGIC = b"\x93NUMPY\x01\x00"


class RawFile:
    """``folder/requests.npy``: rows of ``RECORD``, with times since the start of their step, one step after the
    other. The number of rows is written when it is closed; nothing of it is kept in memory."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._rows = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self.path.open("wb")
            self._file.write(self._head())
        except OSError as error:
            raise RunError(
                f"the requests cannot be written: {error.strerror or error}", where=str(self.path)
            ) from None

    def add(self, records: Records) -> None:
        self._file.write(records.tobytes())
        self._rows += len(records)

    def close(self) -> None:
        """Completes the file."""
        if self._file.closed:
            return
        self._file.seek(0)
        self._file.write(self._head())
        self._file.close()

    def __enter__(self) -> RawFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _head(self) -> bytes:
        text = f"{{'descr': {RECORD.descr!r}, 'fortran_order': False, 'shape': ({self._rows},), }}"
        size = _HEAD_BYTES - len(_MAGIC) - 2
        padded = text.encode("latin-1").ljust(size - 1) + b"\n"
        return _MAGIC + size.to_bytes(2, "little") + padded


def read_raw(path: Path) -> Records:
    """The rows of a file, also of one that was cut off before it was closed."""
    with path.open("rb") as file:
        file.seek(_HEAD_BYTES)
        data = file.read()
    records: Records = np.frombuffer(data[: len(data) // RECORD.itemsize * RECORD.itemsize], RECORD)
    return records
