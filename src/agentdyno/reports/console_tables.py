"""Tables for a terminal of a given width: which columns, how wide, broken where; and the lines around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING

from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import plain

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {
    Tone.PLAIN: "",
    Tone.GOOD: "green",
    Tone.BAD: "bold red",
    Tone.WARN: "yellow",
    Tone.MUTED: "bright_black",
}
_NARROWEST = 40
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


def render_tables(tables: Sequence[Table], width: int = 80, color: bool = False) -> str:
    """The text of tables; no line is wider than ``width`` cells (at least 40), and ``color`` adds ANSI styles.

    Columns that do not fit are left out, the least important first.
    """
    console = text_console(width, color)
    print_tables(console, tables)
    return printed(console, color)


def text_console(width: int, color: bool) -> Console:
    """Where a report is printed before it is shown."""
    from rich.console import Console

    return Console(
        file=StringIO(),
        width=max(width, _NARROWEST),
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )


def printed(console: Console, color: bool) -> str:
    """What a console of ``text_console`` was told."""
    stream = console.file
    assert isinstance(stream, StringIO)
    lines = stream.getvalue().split("\n")
    return "\n".join(lines if color else [line.rstrip() for line in lines]).strip("\n") + "\n"


def print_tables(console: Console, found: Iterable[Table | None]) -> None:
    for table in found:
        if table is not None:
            print_table(console, table)
            print_line(console)


def print_line(console: Console, text: str = "", style: str = "") -> None:
    from rich.text import Text

    console.print(Text(plain(text), style, overflow="fold"))


def print_table(console: Console, table: Table) -> None:
    if table.title:
        print_line(console, table.title, "bold")
    if table.rows:
        _print_grid(console, table, lay_out(table, console.width))
    for note in table.notes:
        # Without columns the text under the title is what the table has to say.
        print_line(console, note, STYLES[Tone.MUTED if table.columns else Tone.PLAIN])


def _print_grid(console: Console, table: Table, layout: Layout) -> None:
    headers = tuple(Cell(column.header) for column in table.columns)
    if any(header.text for header in headers):
        _print_row(console, table, layout, headers, header=True)
        print_line(console, "─" * min(layout.total, console.width), STYLES[Tone.MUTED])
    above = None
    for row in table.rows:
        if layout.heading is not None and row[layout.heading].text != above:
            above = row[layout.heading].text
            for line in fold(above, console.width):
                print_line(console, line)
        _print_row(console, table, layout, row)
    for index in layout.below:
        _print_below(console, table, index)


def _print_row(console: Console, table: Table, layout: Layout, row: Sequence[Cell], header: bool = False) -> None:
    from rich.text import Text

    folded = {index: fold(row[index].whole, width) for index, width in layout.widths.items()}
    for number in range(max(len(lines) for lines in folded.values())):
        text = Text(" " * layout.indent)
        for position, (index, width) in enumerate(layout.widths.items()):
            lines = folded[index]
            piece = Text(lines[number] if number < len(lines) else "", "bold" if header else STYLES[row[index].tone])
            piece.align("right" if table.columns[index].align is Align.RIGHT else "left", width)
            text.append(" " * GAP if position else "").append_text(piece)
        text.no_wrap = True
        console.print(text, crop=True)


def _print_below(console: Console, table: Table, index: int) -> None:
    """What a left-out column says, once for all rows of which it says the same."""
    keys = [i for i, column in enumerate(table.columns[:2]) if column.wrap] or [0]
    said: dict[str, list[str]] = {}
    for row in table.rows:
        if row[index].text:
            said.setdefault(row[index].text, []).append(", ".join(row[key].text for key in keys))
    for text, names in said.items():
        who = "; ".join(names) if len(names) <= 2 else f"{len(names)} rows"
        print_line(console, f"{who}: {text}", STYLES[Tone.MUTED])


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


def breaks_words(table: Table, width: int) -> bool:
    """Whether a word, a name or a number is divided in ``width`` cells, or a column is left out."""
    from rich.cells import cell_len

    layout = lay_out(table, width)
    if len(layout.widths) + (layout.heading is not None) < len(table.columns):
        return True
    for index, size in layout.widths.items():
        texts = [table.columns[index].header, *(row[index].whole for row in table.rows)]
        if any(cell_len(word) > size for text in texts for word in _flat(text).split()):
            return True
    return False


def transposed(table: Table) -> Table:
    """The rows as columns, under what stood in the first one."""
    name, *others = table.columns
    columns = (Column(name.header), *(Column(row[0].whole, Align.RIGHT, wrap=True) for row in table.rows))
    rows = tuple(
        (Cell(column.header, Tone.MUTED), *(row[place] for row in table.rows))
        for place, column in enumerate(others, start=1)
    )
    return replace(table, columns=columns, rows=rows)


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


def cut(text: str, width: int) -> str:
    """The text on one line of at most ``width`` cells, with a mark where it was cut."""
    from rich.cells import cell_len, chop_cells

    flat = _flat(text)
    return flat if cell_len(flat) <= width else chop_cells(flat, width - 1)[0].rstrip() + "…"


def _pieces(text: str, width: int) -> list[str]:
    from rich.cells import cell_len

    found: list[str] = []
    for piece in filter(None, _PIECES.findall(text)):
        found += filter(None, _FINE_PIECES.findall(piece)) if cell_len(piece.rstrip()) > width else [piece]
    return found


def _flat(text: str) -> str:
    return plain(text).replace("\r", " ").replace("\n", " ").replace("\t", " ")
