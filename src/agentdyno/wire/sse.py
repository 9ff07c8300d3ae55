"""Server-sent events, read from a body that has arrived."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


def events(body: bytes) -> Iterator[Piece]:
    """The events that are complete: an event ends with its empty line, what follows the last one is dropped.

    ``data`` is the event's lines of data, ``name`` its type. Some servers report a failure in a field ``error``
    instead of ``data``; that is an event of the type ``error``.
    """
    data: list[bytes] = []
    name = b""
    for line, end in _lines(body):
        if not line:
            if data:
                yield Piece(b"\n".join(data).decode("utf-8", "replace"), end, name.decode("utf-8", "replace"))
            data, name = [], b""
            continue
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
        elif field == b"error":
            data.append(value)
            name = b"error"


def _lines(body: bytes) -> Iterator[tuple[bytes, int]]:
    start = len(_BOM) if body.startswith(_BOM) else 0
    for match in _LINE_END.finditer(body, start):
        yield body[start : match.start()], match.end()
        start = match.end()


@dataclass(frozen=True, slots=True)
class Piece:
    """``end`` is the offset in the body after the last byte that completes the piece."""

    data: str
    end: int
    name: str = ""
