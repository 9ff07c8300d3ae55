"""A deterministic profile of the timed block."""

from __future__ import annotations

import cProfile
import marshal
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeAlias, cast

from agentdyno.contracts import Instrument
from agentdyno.instruments.series import short_path

Function: TypeAlias = tuple[str, int, str]
Cost: TypeAlias = tuple[int, int, float, float, Mapping[Function, object]]
_COLUMNS = {"calls": 1, "total": 2, "cumulative": 3}
_PACKAGE = Path(__file__).parent.parent
_HARNESS = tuple(str(_PACKAGE / name) + os.sep for name in ("instruments", "registry", "runner"))
_PROFILER = "'_lsprof.Profiler' objects"


class CProfile(Instrument):
    """Time per function, measured by Python's deterministic profiler.

    Reads ``calls`` and ``total_s`` of the whole block, and ``top``: the ``top`` most expensive functions, each
    with ``function``, ``calls``, ``total_s`` (itself) and ``cumulative_s`` (with what it calls). ``sort`` is the
    order of the table. The full profile goes into a ``.prof`` file among the artifacts, which ``file`` names.
    """

    name = "cprofile"
    perturbs = True

    def __init__(self, top: int = 20, sort: Literal["cumulative", "total", "calls"] = "cumulative") -> None:
        if not isinstance(top, int) or isinstance(top, bool) or top < 1:
            raise ValueError(f"top must be a whole number of at least 1, got {top!r}")
        if sort not in _COLUMNS:
            raise ValueError(f"sort must be one of cumulative, total, calls, got {sort!r}")
        self.top = top
        self.sort = sort

    def watch(self, readings: dict[str, Any], artifacts_dir: Path) -> _ProfileWatch:
        return _ProfileWatch(self, readings, artifacts_dir)


class _ProfileWatch:
    """A class of its own, since a generator's frames would appear in the profile."""

    def __init__(self, options: CProfile, readings: dict[str, Any], artifacts_dir: Path) -> None:
        self._options = options
        self._readings = readings
        self._artifacts_dir = artifacts_dir
        self._profile = cProfile.Profile()

    def __enter__(self) -> None:
        self._profile.enable()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._profile.disable()
        self._profile.create_stats()
        costs = cast(dict[Function, Cost], self._profile.stats)
        costs = {function: cost for function, cost in costs.items() if not _is_ours(function)}
        column = _COLUMNS[self._options.sort]
        ranked = sorted(costs.items(), key=lambda item: (-cast(float, item[1][column]), item[0]))
        self._readings["calls"] = sum(cost[1] for cost in costs.values())
        self._readings["total_s"] = sum(cost[2] for cost in costs.values())
        self._readings["top"] = [
            {"function": _label(function), "calls": cost[1], "total_s": cost[2], "cumulative_s": cost[3]}
            for function, cost in ranked[: self._options.top]
        ]
        self._readings["file"] = _save(costs, self._artifacts_dir).name


def _is_ours(function: Function) -> bool:
    return function[0].startswith(_HARNESS) or _PROFILER in function[2]


def _label(function: Function) -> str:
    file, line, name = function
    if file == "~":  # how the profiler writes functions that have no source
        return f"{{{name[1:-1]}}}" if name.startswith("<") and name.endswith(">") else name
    return f"{short_path(file)}:{line}({name})"


def _save(costs: Mapping[Function, Cost], folder: Path) -> Path:
    """Writes a file that ``pstats`` reads, under a name that no earlier pass or other worker has taken."""
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        path = folder / ("profile.prof" if number == 1 else f"profile-{number}.prof")
        try:
            with path.open("xb") as file:
                marshal.dump({_homeless(function): _homeless_callers(cost) for function, cost in costs.items()}, file)
            return path
        except FileExistsError:
            number += 1


def _homeless_callers(cost: Cost) -> Cost:
    return (*cost[:4], {_homeless(caller): value for caller, value in cost[4].items() if not _is_ours(caller)})


def _homeless(function: Function) -> Function:
    """The function with the user's home folder written ``~``: profiles are shared with others."""
    home = str(Path.home())
    file = function[0]
    return ("~" + file[len(home) :] if home != "/" and file.startswith(home + "/") else file, *function[1:])
