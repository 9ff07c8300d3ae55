"""One finished request as a row of an array, and the codes that stand in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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

Records = NDArray[np.void]
Gaps = NDArray[np.int64]


def records_of(rows: list[tuple[Any, ...]]) -> Records:
    """Rows whose values are in the order of ``RECORD``'s fields."""
    records: Records = np.array(rows, RECORD)
    return records
