"""How a table is laid out in a fixed number of terminal cells: which columns, how wide, broken where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentdyno.show.table import Column, Table
from agentdyno.show.wording import plain

GAP = 2
INDENT = 2
_WRAPPED = 16
"""Cells that a column which may be wrapped keeps before another column is left out."""
_BESIDE = 36
"""Cells that a column which can go below the table needs to stay in it: no narrow ribbons of prose."""
# Names are broken after a blank, a comma (but for that of 1,000) or a slash, and inside such a piece only where it is
# too long itself.
_PIECES = re.compile(r"(?:[^\s,/]|,(?=\d))*[\s,/]?")
_FINE_PIECES = re.compile(r"[^_.:=\[\]()-]*[_.:=\[\]()-]?")


@dataclass(frozen=True, slots=True)
class Layout:
    """``widths`` maps the index of each shown column to its cells. ``heading`` is the column that stands on
    lines of its own above its rows; ``below`` are those that are written under the table."""

    widths: dict[int, int]
    heading: int | None
    below: tuple[int, ...]

    @property
    def indent(self) -> int:
        return 0 if self.heading is None else INDENT

    @property
    def total(self) -> int:
        return self.indent + sum(self.widths.values()) + GAP * max(0, len(self.widths) - 1)


def lay_out(table: Table, width: int) -> Layout:
    """The layout of ``table`` in ``width`` cells; columns of low priority go where there is no room."""
    natural = [_natural(table, index) for index in range(len(table.columns))]
    every = list(range(len(table.columns)))
    # A column that can go below does that before the names are moved onto lines of their own.
    beside = [i for i in every if not table.columns[i].below]
    heading = None
    if table.columns and table.columns[0].heading and natural[0] > _WRAPPED and _sum(natural, beside) > width:
        heading = 0
    indent = 0 if heading is None else INDENT
    widths = _fit(table, natural, [i for i in every if i != heading], width - indent)
    return Layout(widths, heading, tuple(i for i in every if table.columns[i].below and i not in widths))


def _fit(table: Table, natural: Sequence[int], shown: list[int], width: int) -> dict[int, int]:
    columns = table.columns
    while (
        len(shown) > 1
        and _sum([_least(column, n) for column, n in zip(columns, natural, strict=True)], shown) > width
    ):
        last = max(shown, key=lambda index: (columns[index].priority, index))
        if columns[last].priority == 0:
            break
        shown.remove(last)
    room = width - GAP * (len(shown) - 1) - sum(natural[i] for i in shown if not columns[i].wrap)
    elastic = sorted((i for i in shown if columns[i].wrap), key=lambda i: natural[i])
    widths = {i: natural[i] for i in shown}
    # The narrow ones first: what they do not need goes to the wide ones.
    for position, i in enumerate(elastic):
        widths[i] = min(natural[i], max(6, room // (len(elastic) - position)))
        room -= widths[i]
    return _squeezed(widths, width)


def _squeezed(widths: dict[int, int], width: int) -> dict[int, int]:
    """Takes cells from the widest column until all fit: the last resort of a very narrow terminal."""
    over = sum(widths.values()) + GAP * (len(widths) - 1) - width
    while over > 0 and max(widths.values()) > 4:
        widest = max(widths, key=lambda i: widths[i])
        widths[widest] -= 1
        over -= 1
    return widths


def _sum(sizes: Sequence[int], shown: Sequence[int]) -> int:
    return sum(sizes[i] for i in shown) + GAP * (len(shown) - 1)


def _least(column: Column, natural: int) -> int:
    if not column.wrap:
        return natural
    return min(natural, _BESIDE if column.below else _WRAPPED)


def _natural(table: Table, index: int) -> int:
    from rich.cells import cell_len

    texts = [table.columns[index].header, *(row[index].whole for row in table.rows)]
    return max(cell_len(_flat(text)) for text in texts)


def fold(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` cells, broken after a separator where there is one."""
    from rich.cells import cell_len, chop_cells

    lines, line = [], ""
    for piece in _pieces(_flat(text), width):
        if cell_len((line + piece).rstrip()) <= width:
            line += piece
            continue
        if line.strip():
            lines.append(line.strip())
        *full, line = chop_cells(piece, width) if cell_len(piece.rstrip()) > width else [piece]
        lines += full
    return [*lines, line.strip()]


def _pieces(text: str, width: int) -> list[str]:
    from rich.cells import cell_len

    found: list[str] = []
    for piece in filter(None, _PIECES.findall(text)):
        found += filter(None, _FINE_PIECES.findall(piece)) if cell_len(piece.rstrip()) > width else [piece]
    return found


def _flat(text: str) -> str:
    return plain(text).replace("\r", " ").replace("\n", " ").replace("\t", " ")
