"""What perturbing instruments saw, read from the details of samples. Details are data from outside: each
field is checked, and what does not fit is left out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentdyno.findings.run.tables import arm_name
from agentdyno.model import ArmResult
from agentdyno.show.table import Align, Cell, Column, Table
from agentdyno.show.wording import one_line, show

TOP = 15
"""Rows of a profile that are shown."""


@dataclass(frozen=True, slots=True)
class ProfileSeries:
    """Memory in bytes and CPU use in per cent against seconds since the start of one sample."""

    arm: str
    t_s: tuple[float, ...]
    rss_bytes: tuple[float, ...]
    cpu_percent: tuple[float, ...]


def instrument_tables(arm: ArmResult) -> tuple[Table, ...]:
    """The hottest functions (cprofile) and the largest allocations (tracemalloc) of the arm."""
    tables = (_functions(arm), _allocations(arm))
    return tuple(table for table in tables if table is not None)


def resource_series(arm: ArmResult) -> ProfileSeries | None:
    """The longest psutil series of the arm, null when no sample has two points of one."""
    found = [series for sample in arm.samples if (series := _series(arm, sample.details.get("psutil")))]
    return max(found, key=lambda series: len(series.t_s), default=None)


def _functions(arm: ArmResult) -> Table | None:
    rows = tuple(
        (
            Cell(one_line(str(row.get("function", "?")))),
            Cell(show(_number(row.get("calls")), "")),
            Cell(show(_number(row.get("total_s")), "s")),
            Cell(show(_number(row.get("cumulative_s")), "s")),
        )
        for row in _top(arm, "cprofile")
    )
    columns = (
        Column("function", wrap=True),
        Column("calls", Align.RIGHT),
        Column("own time", Align.RIGHT),
        Column("with callees", Align.RIGHT),
    )
    notes = ("Times under the profiler; they are not the measured durations.",)
    return Table(f"{arm_name(arm)}: where time goes (cprofile)", columns, rows, notes) if rows else None


def _allocations(arm: ArmResult) -> Table | None:
    rows = tuple(
        (
            Cell(one_line(str(row.get("where", "?")))),
            Cell(show(_number(row.get("size_bytes")), "bytes")),
            Cell(show(_number(row.get("count")), "")),
        )
        for row in _top(arm, "tracemalloc")
    )
    columns = (Column("where", wrap=True), Column("size", Align.RIGHT), Column("blocks", Align.RIGHT))
    return Table(f"{arm_name(arm)}: where memory goes (tracemalloc)", columns, rows) if rows else None


def _top(arm: ArmResult, instrument: str) -> list[Mapping[str, object]]:
    for sample in arm.samples:
        details = sample.details.get(instrument)
        top = details.get("top") if isinstance(details, Mapping) else None
        if isinstance(top, Sequence) and not isinstance(top, str):
            rows = [row for row in top if isinstance(row, Mapping)]
            if rows:
                return rows[:TOP]
    return []


def _series(arm: ArmResult, details: object) -> ProfileSeries | None:
    series = details.get("series") if isinstance(details, Mapping) else None
    if not isinstance(series, Mapping):
        return None
    times = _numbers(series.get("t_s"))
    memory, cpu = _numbers(series.get("rss_bytes")), _numbers(series.get("cpu_percent"))
    if len(times) < 2 or not (memory or cpu):
        return None
    if any(column and len(column) != len(times) for column in (memory, cpu)):
        return None
    return ProfileSeries(arm_name(arm), times, memory, cpu)


def _numbers(value: object) -> tuple[float, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    numbers = [_number(item) for item in value]
    return tuple(math.nan if number is None else number for number in numbers)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None
