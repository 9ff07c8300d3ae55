"""How a program kept to the protocol of agents that answer in lines."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.show.table import Cell, Column, Table, Tone
from agentdyno.show.wording import one_line


def conformance_table(checks: Sequence[tuple[str, str | None]]) -> Table:
    """From the name of each check and what was wrong, ``None`` where nothing was."""
    rows = tuple(
        (
            Cell(name),
            Cell("yes", Tone.GOOD) if problem is None else Cell("no", Tone.BAD),
            Cell(one_line(problem or "", 500)),
        )
        for name, problem in checks
    )
    kept = sum(problem is None for _, problem in checks)
    return Table(
        f"{kept} of {len(checks)} kept", (Column("the program", wrap=True), Column(""), Column("", wrap=True)), rows
    )
