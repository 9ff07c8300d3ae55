"""Which tests start processes or browsers, or read a clock: those that a busy machine could break.

They carry the marker ``timed`` (``scripts/repeat_timed.sh`` repeats them). Nobody writes it down: a test carries it
when it, a fixture that it has, or a function or class of the tests that one of these uses, uses a module that starts
something, waits for it, or reads a clock.
"""

from __future__ import annotations

import ast
import dis
import inspect
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest

ROOT = Path(__file__).parents[1]
CLOCKS_AND_PROCESSES = (
    *("time", "subprocess", "multiprocessing", "threading", "_thread", "concurrent", "signal", "psutil"),
    *("socket", "socketserver", "uvicorn", "playwright"),
    # Ours that start something or measure:
    *(f"agentdyno.{name}" for name in ("servers", "sandbox", "workers", "jobs", "load.client", "load.calls")),
    *(f"agentdyno.runner.{name}" for name in ("executors", "bench.arm", "bench.function", "bench.timing")),
    *(f"agentdyno.runner.bench.{name}" for name in ("describe", "worker")),
    *(f"agentdyno.agents.{name}.agent" for name in ("hosting", "commands")),
    *(f"agentdyno.workbench.{name}" for name in ("running", "evaluate", "calibrate", "try_agent", "check_spec")),
    *("agentdyno.runs.pipeline", "agentdyno.scorers.code", "agentdyno_workloads.simulation.storage"),
)
"""Modules, with all that is below them, that a test uses in order to start something, to wait, or to read a clock."""


def mark_timed(items: Iterable[pytest.Item]) -> None:
    """Gives the marker ``timed`` to the tests that are so."""
    for item in items:
        known = item.get_closest_marker("timed") is not None  # by the other folder of tests
        if not known and isinstance(item, pytest.Function) and any(map(_is_timed_use, _parts(item))):
            item.add_marker(pytest.mark.timed)


def is_timed(path: Path) -> bool:
    """Whether a file of the tests itself imports one of these modules."""
    return any(_is_timed_name(name) for name in _imported(path))


def _parts(item: pytest.Function) -> Iterator[object]:
    """The test and its fixtures."""
    yield inspect.unwrap(item.function)
    for fixtures in item._fixtureinfo.name2fixturedefs.values():
        yield from (fixture.func for fixture in fixtures)


_UNTIMED: set[int] = set()
"""Ids of what has been looked through and found to be harmless; all of it lives as long as its module."""


@cache
def _is_timed_use(value: object) -> bool:
    """Whether a function, a class or a module that a test uses has to do with clocks or processes."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or id(one) in _UNTIMED:
            continue
        seen.add(id(one))
        file = _file_in_tests(one)
        if file is None:
            if _is_timed_name(_module_of(one)):
                return True
        elif isinstance(one, ModuleType):
            if is_timed(file):
                return True
        elif isinstance(one, FunctionType):
            if any(_is_timed_name(name) for name in _imported_by(one.__code__)):
                return True
            waiting += [one.__globals__[name] for name in _names(one.__code__) if name in one.__globals__]
        elif isinstance(one, type):
            waiting += [*one.__bases__, *map(_function_of, vars(one).values())]
    _UNTIMED.update(seen)
    return False


def _module_of(value: object) -> str:
    if isinstance(value, ModuleType):
        return value.__name__
    return str(getattr(value, "__module__", None) or type(value).__module__)


def _file_in_tests(value: object) -> Path | None:
    """The file of the tests that defines it; ``None`` where it comes from elsewhere."""
    if isinstance(value, FunctionType):
        file: str | None = value.__code__.co_filename
    else:
        file = getattr(sys.modules.get(_module_of(value)), "__file__", None)
    path = Path(file or "")
    return path if ROOT in path.parents and "tests" in path.relative_to(ROOT).parts else None


def _function_of(member: object) -> object:
    """The function that a method, a property or a decorated function is made of."""
    if isinstance(member, property):
        return member.fget
    member = getattr(member, "__func__", member)
    return inspect.unwrap(member) if isinstance(member, FunctionType) else None


def _is_timed_name(name: str) -> bool:
    return any(name == known or name.startswith(f"{known}.") for known in CLOCKS_AND_PROCESSES)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _names(code: CodeType) -> set[str]:
    return {name for part in _codes(code) for name in part.co_names}


def _imported_by(code: CodeType) -> Iterator[str]:
    """Modules that are imported inside of a function; of those alone that may be timed, since to look takes long."""
    for part in _codes(code):
        if not any(map(_is_timed_name, part.co_names)):
            continue
        for step in dis.get_instructions(part):
            if step.opname == "IMPORT_NAME":
                yield str(step.argval)


@cache
def _imported(path: Path) -> frozenset[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)
