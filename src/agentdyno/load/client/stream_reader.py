"""The compiled reader of streamed answers (``_stream_reader.c``), where it was built.

It is the one part of the project that is compiled: an interpreter that touches each of an answer's events costs more
than all the rest of a load client. What it is not certain of it leaves to the decoder in Python, which says the same
and is there alone where no compiler was.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

SETTING = "DYNO_LOAD_DECODER"
"""``python`` leaves the compiled reader out."""
COMPILED, PYTHON = "compiled", "python"

Said = tuple[int, int, int, int, list[int], int, int, int]
"""Of a good answer: its status, the arrivals of the first and the last event with content, how many there are, the
gaps between them, and tokens: entered, left and cached (-1: not said)."""
CompiledRead = Callable[[list[tuple[int, bytes]], int, int], Said | None]
"""Given the reads, of which the first has the whole head, the place of the dialect in ``shapes.SHAPES`` and
the most bytes."""


@cache
def compiled_read() -> CompiledRead | None:
    """``None`` where it was not built or is not wanted."""
    if os.environ.get(SETTING, "").strip().lower() == PYTHON:
        return None
    try:
        from agentdyno.load.client import _stream_reader
    except ImportError:
        return None
    return _stream_reader.read


def decoder_name() -> str:
    """Which decoder the load client of this process uses."""
    return PYTHON if compiled_read() is None else COMPILED
