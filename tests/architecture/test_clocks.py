"""No test asserts that something was fast: what a test shows comes from given figures."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..timed import is_timed
from .clock_readings import ClockReadings
from .source import ROOT

OF_A_MODEL = {"tests/load/test_running.py": "its windows are those of a queue that is computed, without a clock"}
"""Files whose durations nobody has measured, and why."""
MAY_READ = re.compile(r"\b(import time|from time|datetime|time\(\)|harness_overhead_s)")
"""Without any of these, a file has no clock to read."""


def _files() -> Iterator[Path]:
    for folder in (ROOT / "tests", *sorted((ROOT / "packages").glob("*/tests"))):
        yield from sorted(folder.rglob("*.py"))


def _measures(path: Path) -> bool:
    return is_timed(path) and str(path.relative_to(ROOT)) not in OF_A_MODEL


def _bounded_above(tree: ast.Module, *, measuring: bool) -> list[ast.Assert]:
    found = {node.lineno: node for node in ClockReadings(tree).bounded_above()}
    if measuring:
        found |= {node.lineno: node for node in ClockReadings(tree, measuring=True).bounded_above()}
    return [found[line] for line in sorted(found)]


def test_no_assert_bounds_a_clock_reading_from_above() -> None:
    """A busy machine is slow, not wrong. ``benchmarks/`` show speed; for waiting there is ``tests.waiting``."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node.test)}"
        for path in _files()
        if (measuring := _measures(path)) or MAY_READ.search(path.read_text())  # to follow every value takes long
        for node in _bounded_above(ast.parse(path.read_text()), measuring=measuring)
    ]
    assert not found, "\n".join(found)


def _says(*lines: str) -> ast.Module:
    return ast.parse("\n".join(["import time", "from time import perf_counter_ns", "def test():", *lines]))


@pytest.mark.parametrize(
    "lines",
    [
        ("    start = time.monotonic()", "    work()", "    assert time.monotonic() - start < 1.0"),
        ("    start = perf_counter_ns()", "    took = perf_counter_ns() - start", "    assert took <= LIMIT_NS"),
        ("    start = time.time()", "    assert 2 > time.time() - start"),
        ("    start = time.time()", "    assert 0 < time.time() - start < 2"),
        ("    took = [time.perf_counter() for _ in range(3)]", "    assert max(took) - min(took) < 0.5"),
        ("    seen = []", "    seen.append(time.perf_counter())", "    for at in seen:", "        assert at < 3.0"),
        ("    give_up = time.monotonic() + 5", "    assert time.monotonic() < give_up"),
        ("    took = time.process_time()", "    assert took == pytest.approx(0.3)"),
        ("    assert took() < 0.1", "def took():", "    start = time.time()", "    return time.time() - start"),
    ],
)
def test_upper_bounds_on_clocks_are_found(lines: tuple[str, ...]) -> None:
    assert len(_bounded_above(_says(*lines), measuring=False)) == 1


@pytest.mark.parametrize(
    "line",
    ["assert sample.readings['duration_s'] < 0.5", "assert timing.wall_ns / 1e9 <= 2", "assert 1 > run.elapsed_s"],
)
def test_measured_readings_are_found_where_the_file_measures(line: str) -> None:
    assert len(_bounded_above(_says(f"    {line}"), measuring=True)) == 1
    assert _bounded_above(_says(f"    {line}"), measuring=False) == []


@pytest.mark.parametrize(
    "lines",
    [
        ("    start = time.monotonic()", "    time.sleep(0.1)", "    assert time.monotonic() - start >= 0.1"),
        ("    assert sample.readings['duration_s'] > 0",),
        ("    sent_ns = perf_counter_ns()", "    assert sent_ns <= served.received_ns"),
        ("    start = time.monotonic()", "    assert len(found) < 3"),
        ("    now_ns = perf_counter_ns()", "    assert watch.between(0, now_ns) == NOTHING"),
    ],
)
def test_lower_bounds_and_the_order_of_readings_may_be_asserted(lines: tuple[str, ...]) -> None:
    assert _bounded_above(_says(*lines), measuring=True) == []
