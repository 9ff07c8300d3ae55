"""Newline-delimited JSON, read from a body that has arrived."""

from __future__ import annotations

import json
from collections.abc import Iterator

from agentdyno.wire.errors import ProtocolError
from agentdyno.wire.sse import Piece


def lines(body: bytes) -> Iterator[Piece]:
    """The lines that are not empty. A last line without a newline counts: the body's end completes it."""
    start = 0
    while start < len(body):
        newline = body.find(b"\n", start)
        end = len(body) if newline < 0 else newline + 1
        line = body[start:end].strip()
        if line:
            yield Piece(line.decode("utf-8", "replace"), end)
        start = end


def parse_json(text: str | bytes, endpoint: str) -> object:
    """One JSON document; what is none is a ``ProtocolError``."""
    try:
        value: object = _loaded(text)
    except (ValueError, RecursionError):
        shown = text[:60] if isinstance(text, str) else text[:60].decode("utf-8", "replace")
        raise ProtocolError(f"not JSON: {shown!r}", where=endpoint) from None
    return value


def _loaded(text: str | bytes) -> object:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError:  # it has a number with more digits than Python makes an integer of
        return json.loads(text, parse_int=_whole_number)


def _whole_number(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        return float(digits)
