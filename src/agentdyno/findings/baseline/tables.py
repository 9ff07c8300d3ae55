"""The baselines that are set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentdyno.show.listings import RUN_ID_LENGTH
from agentdyno.show.table import Cell, Column, Table
from agentdyno.show.wording import one_line, when


class ShownBaseline(Protocol):
    """One line; ``set_at`` is UTC milliseconds."""

    @property
    def agent(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def suite_id(self) -> str: ...
    @property
    def run_id(self) -> str: ...
    @property
    def set_at(self) -> int: ...
    @property
    def note(self) -> str: ...


def baseline_table(rows: Sequence[ShownBaseline]) -> Table:
    columns = (
        Column("agent", wrap=True),
        Column("version", wrap=True),
        Column("suite", wrap=True),
        Column("run"),
        Column("set", priority=1),
        Column("note", priority=2, wrap=True, below=True),
    )
    cells = tuple(
        (
            Cell(one_line(row.agent)),
            Cell(one_line(row.version)),
            Cell(one_line(row.suite_id)),
            Cell(row.run_id[:RUN_ID_LENGTH] or "its newest"),
            Cell(when(row.set_at)),
            Cell(one_line(row.note)),
        )
        for row in rows
    )
    notes = () if rows else ("No baseline is set. `dyno baseline set AGENT@VERSION` chooses one.",)
    return Table("Baselines", columns, cells, notes)
