"""Tables for a terminal of a given width, and the lines around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from agentdyno.reports.layout import GAP, Layout, fold, lay_out
from agentdyno.show.table import Align, Cell, Table, Tone
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
