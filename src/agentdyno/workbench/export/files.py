"""Rows in files: CSV that is safe to open in a spreadsheet, and Parquet."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from agentdyno.errors import PluginError
from agentdyno.model import RunResult
from agentdyno.reports.csv_files import guarded
from agentdyno.workbench.export.frames import NEEDS
from agentdyno.workbench.export.rows import SAMPLES, Row, rows_of


def write_rows(results: Sequence[RunResult], file: Path, *, format_name: str, what: str = SAMPLES) -> int:
    """Writes rows of ``samples``, ``cases`` or ``arms`` as ``csv`` or ``parquet``; returns how many there are."""
    if format_name == "parquet" and find_spec("pyarrow") is None:
        raise PluginError("Parquet needs pyarrow, which is not installed", where="--format parquet", remedy=NEEDS)
    rows = rows_of(results, what)
    file.parent.mkdir(parents=True, exist_ok=True)
    if format_name == "parquet":
        _write_parquet(rows, file)
    else:
        _write_csv(rows, file)
    return len(rows)


def _write_csv(rows: Sequence[Row], file: Path) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(rows[0] if rows else ())
        for row in rows:
            writer.writerow(
                guarded(value) if isinstance(value, (str, int, float)) else value for value in row.values()
            )


def _write_parquet(rows: Sequence[Row], file: Path) -> None:
    """One type a column: a whole number that stands among fractions becomes one of them."""
    import pyarrow
    from pyarrow import parquet

    columns: dict[str, list[object]] = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    for name, values in columns.items():
        known = [value for value in values if value is not None]
        if any(isinstance(value, float) for value in known):
            columns[name] = [None if value is None else float(str(value)) for value in values]
    parquet.write_table(pyarrow.table(columns), file)
