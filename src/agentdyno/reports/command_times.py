"""Times of commands as files that hyperfine's users know: JSON, CSV and a Markdown table."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from io import StringIO
from statistics import fmean, median, stdev

from agentdyno.model import ArmResult, RunResult, Sample
from agentdyno.show.wording import one_line

_FIGURES = ("mean", "stddev", "median", "user", "system", "min", "max")


@dataclass(frozen=True, slots=True)
class _Row:
    """A command as hyperfine's files have it; seconds."""

    command: str
    mean: float
    stddev: float | None
    median: float
    user: float
    system: float
    min: float
    max: float
    times: list[float]
    memory_usage_byte: list[int]
    exit_codes: list[object]
    parameters: dict[str, str]


def json_text(result: RunResult) -> str:
    """As ``hyperfine --export-json`` writes it, with the memory of each run; ``dyno import`` reads it too."""
    rows = [asdict(row) for row in _rows(result)]
    for row in rows:
        if len(row["memory_usage_byte"]) < len(row["times"]):  # not known of every run
            del row["memory_usage_byte"]
        if not row["parameters"]:
            del row["parameters"]
    return json.dumps({"results": rows}, indent=2) + "\n"


def csv_text(result: RunResult) -> str:
    """One line for each command: mean, stddev, median, user, system, min and max in seconds, and its parameters."""
    rows = _rows(result)
    names = list(dict.fromkeys(name for row in rows for name in row.parameters))
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["command", *_FIGURES, *(f"parameter_{name}" for name in names)])
    for row in rows:
        given = [row.parameters.get(name, "") for name in names]
        writer.writerow([row.command, *(getattr(row, key) for key in _FIGURES), *given])
    return text.getvalue()


def markdown_text(result: RunResult) -> str:
    """A table with the times in milliseconds or seconds, relative to the fastest."""
    rows = _rows(result)
    fastest = min((row.mean for row in rows), default=0.0)
    scale, unit = (1.0, "s") if fastest >= 1 else (1e3, "ms")
    lines = [f"| Command | Mean [{unit}] | Min [{unit}] | Max [{unit}] | Relative |", "|:---|---:|---:|---:|---:|"]
    for row in rows:
        name = one_line(row.command).replace("|", "\\|")
        spread = f" ± {row.stddev * scale:.1f}" if row.stddev is not None else ""
        relative = f"{row.mean / fastest:.2f}" if fastest > 0 else "-"
        lines.append(
            f"| `{name}` | {row.mean * scale:.1f}{spread} | {row.min * scale:.1f} | {row.max * scale:.1f} "
            f"| {relative} |"
        )
    return "\n".join(lines) + "\n"


EXPORTS: Mapping[str, Callable[[RunResult], str]] = {"json": json_text, "csv": csv_text, "markdown": markdown_text}
"""By the name of the option that asks for them."""


def _rows(result: RunResult) -> list[_Row]:
    return [_row(arm) for arm in result.arms if _times(arm)]


def _times(arm: ArmResult) -> list[float]:
    return [sample.readings["duration_s"] for sample in _timed(arm)]


def _timed(arm: ArmResult) -> list[Sample]:
    """A run in which the bench stood still has no time of its own."""
    return [sample for sample in arm.samples if sample.usable and "duration_s" in sample.readings]


def _row(arm: ArmResult) -> _Row:
    times, metrics, usable = _times(arm), arm.metrics, _timed(arm)
    memory = [sample.readings.get("peak_rss_bytes") for sample in usable]
    parameters = arm.params.get("parameters")
    return _Row(
        command=arm.name,
        mean=fmean(times),
        stddev=stdev(times) if len(times) > 1 else None,
        median=median(times),
        user=metrics["user_s"].mean,
        system=metrics["system_s"].mean,
        min=min(times),
        max=max(times),
        times=times,
        memory_usage_byte=[round(value) for value in memory if value is not None],
        exit_codes=[sample.details.get("exit_code", 0) for sample in usable],
        parameters={str(name): str(value) for name, value in parameters.items()}
        if isinstance(parameters, Mapping)
        else {},
    )
