"""What was read from the files of other tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentdyno.model import RunResult
from agentdyno.show.listings import RUN_ID_LENGTH
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import one_line, when


class Taken(Protocol):
    """One run of a file; ``known`` where the store had it already."""

    @property
    def path(self) -> str: ...
    @property
    def importer(self) -> str: ...
    @property
    def result(self) -> RunResult: ...
    @property
    def known(self) -> bool: ...


def import_table(rows: Sequence[Taken]) -> Table:
    columns = (
        Column("run"),
        Column("from"),
        Column("name", wrap=True),
        Column("measured", priority=1),
        Column("arms", Align.RIGHT),
        Column("samples", Align.RIGHT),
        Column("", priority=0),
        Column("file", priority=2, wrap=True, below=True),
    )
    cells = tuple(
        (
            Cell(row.result.run_id[:RUN_ID_LENGTH]),
            Cell(row.importer),
            Cell(one_line(row.result.name)),
            Cell(when(row.result.started_at)),
            Cell(f"{len(row.result.arms):,}"),
            Cell(f"{sum(arm.samples_total for arm in row.result.arms):,}"),
            Cell("known" if row.known else "new", Tone.MUTED if row.known else Tone.GOOD),
            Cell(one_line(row.path)),
        )
        for row in rows
    )
    return Table("Imported", columns, cells)
