"""Writing reports by name."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentdyno.contracts import Report
from agentdyno.errors import DynoError, PluginError, SpecError, nearest
from agentdyno.registry import registered
from agentdyno.registry.installed import installed, load, package_to_install
from agentdyno.registry.local import load_import, load_target, parse_reference
from agentdyno.registry.names import register


def check_formats(text: str | None, imports: Sequence[str] = ()) -> tuple[str, ...]:
    """``md,html`` as names, each known; asked before measuring, so that a typo costs nothing.

    A reporter in a local file is named ``file.py@name``, or by its name where ``imports`` (a spec's) or files of the
    project register it.
    """
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if not names:
        return ()  # looking for the reporters of every package takes longer than most commands
    if any(name not in installed("reporters") for name in names):
        for item in imports:
            load_import(item)
        _load_of_project(names)
    known = {*installed("reporters"), *registered("reporters")}
    names = tuple(_load_local(name) if "@" in name else name for name in names)
    known |= set(registered("reporters"))
    for name in names:
        if name not in known:
            package = package_to_install("reporters", name)
            remedy = nearest(name, known) if package is None else f"It comes with {package}: pip install {package}"
            raise SpecError(f"no report format {name!r}", where="--format", remedy=remedy)
    return names


def _load_of_project(names: Sequence[str]) -> None:
    """Loads the files that dyno.yaml imports, or in ``experiments``, where they register one of the names."""
    from agentdyno.registry.project import project_objects
    from agentdyno.specs.workspace.load import load_workspace, project_files

    known = {*installed("reporters"), *registered("reporters")}
    found = project_objects("reporters", project_files(load_workspace(Path.cwd())))
    for file in {item.file for name, item in found.items() if name in names and name not in known}:
        load_import(str(file.resolve()))


def _load_local(reference: str) -> str:
    """Loads ``file.py@name`` and registers it under its name."""
    target = parse_reference(reference, Path.cwd())
    if target is None:
        raise SpecError(f"no report format {reference!r}", where="--format", remedy="Write file.py@NAME.")
    found = load_target("reporters", target)
    if target.name not in registered("reporters"):
        register("reporters", target.name, found)
    return target.name


def write_reports(report: Report, formats: Sequence[str], folder: Path) -> list[Path]:
    """Writes each format into ``folder`` and returns the files."""
    written: list[Path] = []
    for name in formats:
        reporter = load("reporters", name)
        try:
            written += [Path(path) for path in _write(name, reporter, report, folder) or ()]
        except (DynoError, OSError):
            raise
        except Exception as error:
            run = report.results[0].run_id[:13] if len(report.results) == 1 else "RUN"
            raise PluginError(
                f"the reporter {name} failed: {type(error).__name__}: {error}{_place(error)}",
                remedy=f"The run is kept. Mend the reporter, then: `dyno report {run}` with the same --format.",
            ) from error
    return written


def _place(error: BaseException) -> str:
    """Where the reporter's own code raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""


def _write(name: str, reporter: Any, report: Report, folder: Path) -> Sequence[Path] | None:
    """A class or an object with ``write``, or a plain function of the results, one for each arm, and a folder."""
    made = reporter() if inspect.isclass(reporter) else reporter
    folder.mkdir(parents=True, exist_ok=True)
    if hasattr(made, "write"):
        return made.write(report, folder)  # type: ignore[no-any-return]
    if callable(made):
        return made([item for result in report.results for item in result.by_arm()], str(folder))  # type: ignore[no-any-return]
    raise PluginError(
        f"the reporter {name} can neither write nor be called",
        remedy="Give it write(report, output_dir) -> paths.",
    )
