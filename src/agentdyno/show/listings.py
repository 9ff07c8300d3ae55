"""Tables that are not about one run: runs in the store, registered names, checks, a calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from agentdyno.model import Calibration, Check, Level, Parameter, RunResult, RunStatus
from agentdyno.model.form import WHOLE
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, RUN_ID_LENGTH, one_line, percent, took, when

_STATUS_TONES = {"complete": Tone.GOOD, "partial": Tone.WARN, "failed": Tone.BAD, "running": Tone.PLAIN}
_LEVELS = {Level.OK: ("✓ ok", Tone.GOOD), Level.NOTE: ("· note", Tone.PLAIN), Level.WARN: ("! warn", Tone.WARN)}


class ListedRun(Protocol):
    """One run of the store; times are UTC milliseconds."""

    @property
    def run_id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def status(self) -> RunStatus | str: ...
    @property
    def started_at(self) -> int: ...
    @property
    def finished_at(self) -> int | None: ...
    @property
    def paused_ms(self) -> int: ...
    @property
    def arms(self) -> int: ...
    @property
    def samples(self) -> int: ...
    @property
    def errors(self) -> int: ...
    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def form(self) -> str: ...


class Described(Protocol):
    """Something with a name that ``dyno list`` can show; ``ExperimentInfo`` is one."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> Sequence[Parameter]: ...
    @property
    def origin(self) -> str: ...


def runs(rows: Sequence[ListedRun], title: str = "Runs") -> Table:
    """The runs in the order given."""
    columns = (
        Column("run"),
        Column("name", wrap=True),
        Column("kind", priority=5),
        Column("status"),
        Column("started (UTC)"),
        Column("took", Align.RIGHT, 3),
        Column("arms", Align.RIGHT, 4),
        Column("samples", Align.RIGHT, 1),
        Column("errors", Align.RIGHT, 2),
        Column("tags", priority=6, wrap=True),
    )
    return Table(title, columns, tuple(_run_row(row) for row in rows), () if rows else ("No runs yet.",))


def _run_row(row: ListedRun) -> tuple[Cell, ...]:
    status = row.status.value if isinstance(row.status, RunStatus) else row.status
    return (
        Cell(row.run_id[:RUN_ID_LENGTH]),
        Cell(one_line(row.name)),
        Cell(one_line(row.kind), Tone.MUTED),
        Cell(_with_form(status, row.form), _STATUS_TONES.get(status, Tone.PLAIN)),
        Cell(when(row.started_at)),
        Cell(took(row.started_at, row.finished_at, row.paused_ms)),
        Cell(str(row.arms)),
        Cell(str(row.samples)),
        Cell(str(row.errors), Tone.BAD if row.errors else Tone.MUTED),
        Cell(one_line(", ".join(row.tags)) or NOTHING, Tone.MUTED),
    )


def _with_form(status: str, form: str) -> str:
    """``complete, quick``: a run that is no whole run of its suite says so."""
    return f"{status}, {one_line(form)}" if form and form not in WHOLE else status


def listing(infos: Sequence[Described], title: str = "") -> Table:
    """Name, one line, parameters with their defaults where anything has some, and where each comes from."""
    takes_parameters = any(info.parameters for info in infos)
    columns = (
        Column("name"),
        Column("what it does", wrap=True),
        *((Column("parameters", wrap=True, priority=1, below=True),) if takes_parameters else ()),
        Column("origin", wrap=True, priority=2),
    )
    rows = tuple(
        (
            Cell(one_line(info.name)),
            Cell(one_line((info.description.strip() or NOTHING).splitlines()[0])),
            *((Cell(", ".join(map(_parameter, info.parameters))),) if takes_parameters else ()),
            Cell(one_line(info.origin) or NOTHING, Tone.MUTED),
        )
        for info in infos
    )
    return Table(title, columns, rows, () if rows else ("None are registered here.",))


def _parameter(parameter: Parameter) -> str:
    name = one_line(parameter.name)
    if parameter.required:
        return f"{name} (required)"
    return f"{name}={one_line(repr(parameter.default), 40)}"


def checks(values: Sequence[Check], title: str = "Checks") -> Table:
    """One row per check of this machine; a remedy where there is one."""
    columns = (
        Column("check"),
        Column("result"),
        Column("seen", wrap=True),
        Column("what to do", wrap=True, priority=1, below=True),
    )
    rows = []
    for check in values:
        word, tone = _LEVELS[check.level]
        rows.append((Cell(one_line(check.name)), Cell(word, tone), Cell(one_line(check.seen)), Cell(check.remedy)))
    return Table(title, columns, tuple(rows))


def calibration(value: Calibration) -> Table:
    """What comparing this machine with itself showed."""
    facts = (
        ("noise floor", percent(value.noise_floor)),
        ("comparisons of equal code", str(value.comparisons)),
        ("samples per side", str(value.samples_per_side)),
        ("false alarms", f"{value.false_alarms} ({percent(value.false_alarm_rate)})"),
        ("measured (UTC)", when(value.measured_at)),
        ("machine", one_line(value.machine_id)),
    )
    rows = tuple((Cell(name), Cell(text)) for name, text in facts)
    return Table(
        "Calibration",
        (Column("figure"), Column("value", wrap=True)),
        rows,
        ("Changes below the noise floor are never called better or worse on this machine.",),
    )


def run_spread(log_sd: Mapping[str, float], runs: int) -> Table:
    """How far the figures of a short subject wander between runs on this host."""
    rows = tuple((Cell(one_line(name)), Cell(percent(math.expm1(value)))) for name, value in log_sd.items())
    return Table(
        "Between runs",
        (Column("figure"), Column("standard deviation", Align.RIGHT)),
        rows,
        (f"Medians of {runs} fresh processes that do the same. An agent's own runs tell more, once it has five.",),
    )


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
