"""A piece of a streamed body that means something: one event, one line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """``end`` is the offset in the body after the last byte that completes the piece."""

    data: str
    end: int
    name: str = ""
