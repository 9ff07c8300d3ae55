"""The baselines that are set, and the targets of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentdyno.findings.baseline.model import TargetMove, TargetRow
from agentdyno.model import known_metric
from agentdyno.show.table import Align, Cell, Column, Table
from agentdyno.show.wording import NOTHING, RUN_ID_LENGTH, count, one_line, show, when


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


def targets_table(suite_id: str, rows: Sequence[TargetRow]) -> Table:
    """What is in force, and where it comes from."""
    title = f"Targets of {one_line(suite_id)}"
    if not rows:
        note = "None yet: the rubric sets them, else the first whole run of the agent under `baseline_scores`."
        return Table(title, (), (), (note,))
    columns = (
        Column("benchmark", wrap=True),
        Column("metric"),
        Column("scores 1", Align.RIGHT),
        Column("scores 0", Align.RIGHT),
        Column("from", wrap=True),
        Column("since", priority=1),
    )
    cells = tuple(
        (
            Cell(one_line(row.benchmark)),
            Cell(one_line(row.metric)),
            *(Cell(_value(row.metric, value)) for value in (row.target, row.bound)),
            Cell(f"{one_line(row.agent)}, run {row.run_id[:13]}" if row.agent else "rubric"),
            Cell(when(row.set_at)),
        )
        for row in rows
    )
    return Table(title, columns, cells, ("They stay until `dyno baseline targets SUITE --from AGENT` moves them.",))


def move_table(move: TargetMove) -> Table:
    """What was moved, from where to where, and what that did to boards."""
    runs = ", ".join(run_id[:13] for run_id in move.run_ids)
    title = f"Targets of {one_line(move.suite_id)} from {one_line(move.agent)}, run {runs}"
    if not move.moved:
        return Table(title, (), (), ("Nothing moved: these targets are in force already.",))
    columns = (
        Column("benchmark", wrap=True),
        Column("metric"),
        Column("scored 1 … 0", Align.RIGHT),
        Column("scores 1 … 0 now", Align.RIGHT),
    )
    cells = tuple(
        (
            Cell(one_line(item.benchmark)),
            Cell(one_line(item.metric)),
            Cell(NOTHING if item.before is None else _between(item.metric, item.before)),
            Cell(_between(item.metric, item.after)),
        )
        for item in move.moved
    )
    notes = [f"{count(move.scored_again, 'execution')} scored again; what the runs themselves say stays."]
    if move.left_out:
        said = count(move.left_out, "imported total")
        notes.append(f"{said} cannot be scored again: boards show them without speed, efficiency and cost.")
    return Table(title, columns, cells, tuple(notes))


def _between(metric: str, pair: tuple[float, float]) -> str:
    return " … ".join(_value(metric, value) for value in pair)


def _value(metric: str, value: float) -> str:
    return show(value, known_metric(metric).unit)
