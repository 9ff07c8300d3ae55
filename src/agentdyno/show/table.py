"""A table as a value: built once, rendered by every format."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tone(StrEnum):
    """What a cell means beyond its words. The words alone must be enough to understand it."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    WARN = "warn"
    MUTED = "muted"


class Align(StrEnum):
    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Column:
    """``priority`` 0 is always shown; where room is short the highest numbers go first.

    A ``wrap`` column may be broken over lines. A ``below`` column that does not fit is written under the
    table, row by row, instead of being left out. A first column that is a ``heading`` may stand on a line of
    its own above its rows.
    """

    header: str
    align: Align = Align.LEFT
    priority: int = 0
    wrap: bool = False
    below: bool = False
    heading: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """``aside`` stands after the text, more quietly: an interval. ``bar`` is a share in 0..1 that a page draws."""

    text: str
    tone: Tone = Tone.PLAIN
    aside: str = ""
    bar: float | None = None

    @property
    def whole(self) -> str:
        """The text with what stands aside of it."""
        return f"{self.text} {self.aside}" if self.aside else self.text


@dataclass(frozen=True, slots=True)
class Table:
    """``notes`` are full sentences that belong under the table."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: a row has {len(row)} cells for {len(self.columns)} columns")
