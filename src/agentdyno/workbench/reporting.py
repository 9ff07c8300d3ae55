"""Writing reports by name."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentdyno.contracts import Report
from agentdyno.errors import PluginError, SpecError, nearest
from agentdyno.registry import registered
from agentdyno.registry.installed import installed, load


def check_formats(text: str | None) -> tuple[str, ...]:
    """``md,html`` as names, each known; asked before measuring, so that a typo costs nothing."""
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    known = {*installed("reporters"), *registered("reporters")}
    for name in names:
        if name not in known:
            raise SpecError(f"no report format {name!r}", where="--format", remedy=nearest(name, known))
    return names


def write_reports(report: Report, formats: Sequence[str], folder: Path) -> list[Path]:
    """Writes each format into ``folder`` and returns the files."""
    written: list[Path] = []
    for name in formats:
        reporter = load("reporters", name)
        written += [Path(path) for path in _write(name, reporter, report, folder) or ()]
    return written


def _write(name: str, reporter: Any, report: Report, folder: Path) -> Sequence[Path] | None:
    """A class or an object with ``write``, or a plain function of the results and a folder."""
    made = reporter() if inspect.isclass(reporter) else reporter
    folder.mkdir(parents=True, exist_ok=True)
    if hasattr(made, "write"):
        return made.write(report, folder)  # type: ignore[no-any-return]
    if callable(made):
        return made(list(report.results), str(folder))  # type: ignore[no-any-return]
    raise PluginError(
        f"the reporter {name} can neither write nor be called",
        remedy="Give it write(report, output_dir) -> paths.",
    )
