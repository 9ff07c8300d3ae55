"""cProfile, tracemalloc and the garbage collector as instruments."""

from __future__ import annotations

import ast
import gc
import inspect
import pstats
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentdyno.contracts import Instrument
from agentdyno.instruments.cprofile import CProfile
from agentdyno.instruments.gc_monitor import GcMonitor, Pauses
from agentdyno.instruments.pressure import Pressure
from agentdyno.instruments.psutil_monitor import PsutilMonitor
from agentdyno.instruments.series import short_path
from agentdyno.instruments.timing import Timing
from agentdyno.instruments.tracemalloc_monitor import Tracemalloc
from agentdyno.registry.adapt import adapt

BUILT_IN = (Timing, PsutilMonitor, CProfile, Tracemalloc, GcMonitor, Pressure)


@pytest.fixture(autouse=True)
def _the_collector_runs_only_when_a_test_says_so() -> Iterator[None]:
    """By itself it would run what other tests left (finalizers, callbacks) in the middle of a watched block."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def leaf(number: int) -> int:
    return sum(range(number))


def work() -> int:
    return leaf(10) + leaf(20)


class Loop:
    """An object that only the collector can free."""

    def __init__(self) -> None:
        self.itself = self


def test_a_profile_lists_the_functions_of_the_block_and_nothing_of_the_harness(tmp_path: Path) -> None:
    readings: dict[str, Any] = {}
    with adapt(CProfile, "cprofile", {}).watch(readings, tmp_path):
        work()
    rows = {row["function"]: row for row in readings["top"]}
    names = {name.rpartition("(")[2].rstrip(")") for name in rows if name.endswith(")")}
    assert names == {"work", "leaf"}
    assert rows["{built-in method builtins.sum}"]["calls"] == 2
    assert readings["calls"] == 5
    assert readings["total_s"] > 0
    assert next(iter(rows)).endswith("(work)")


def test_function_names_hold_two_path_parts_and_no_home_folder(tmp_path: Path) -> None:
    readings: dict[str, Any] = {}
    with CProfile().watch(readings, tmp_path):
        work()
    first = readings["top"][0]["function"]
    assert first.startswith("instruments/test_python_instruments.py:")
    assert short_path("/home/ann/project/src/app.py") == "src/app.py"
    assert short_path("app.py") == "app.py"
    assert short_path("<string>") == "<string>"


def test_every_pass_writes_a_profile_of_its_own_that_pstats_reads(tmp_path: Path) -> None:
    folder = tmp_path / "artifacts"
    names = []
    for _ in range(3):
        readings: dict[str, Any] = {}
        with CProfile().watch(readings, folder):
            work()
        names.append(readings["file"])
    assert names == ["profile.prof", "profile-2.prof", "profile-3.prof"]
    loaded: Any = pstats.Stats(str(folder / "profile-2.prof"))
    assert {name for _, _, name in loaded.stats} >= {"work", "leaf"}


def test_the_profile_file_writes_the_home_folder_as_a_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    source = tmp_path / "project" / "subject.py"
    namespace: dict[str, Any] = {}
    exec(compile("def inner():\n    pass\ndef outer():\n    inner()\n", str(source), "exec"), namespace)
    with CProfile().watch({}, tmp_path / "out"):
        namespace["outer"]()
    content = (tmp_path / "out" / "profile.prof").read_bytes()
    assert b"~/project/subject.py" in content
    assert str(tmp_path).encode() not in content


def test_the_table_is_cut_and_sorted_as_asked(tmp_path: Path) -> None:
    readings: dict[str, Any] = {}
    with CProfile(top=1, sort="calls").watch(readings, tmp_path):
        for _ in range(5):
            len("x")
        work()
    assert [(row["function"], row["calls"]) for row in readings["top"]] == [("{built-in method builtins.len}", 5)]


def test_the_profile_is_kept_when_the_measured_code_raises(tmp_path: Path) -> None:
    readings: dict[str, Any] = {}
    with pytest.raises(ZeroDivisionError), adapt(CProfile, "cprofile", {}).watch(readings, tmp_path):
        1 / leaf(0)
    assert readings["calls"] == 2
    assert sys.getprofile() is None


def test_memory_held_and_memory_at_the_peak_are_told_apart(tmp_path: Path) -> None:
    readings: dict[str, Any] = {}
    with adapt(Tracemalloc, "tracemalloc", {"top": 3}).watch(readings, tmp_path):
        passing = bytearray(4_000_000)
        del passing
        kept = bytearray(1_000_000)
    assert len(kept) == 1_000_000
    assert 4_000_000 <= readings["peak_bytes"] < 5_000_000
    assert 1_000_000 <= readings["current_bytes"] < 1_500_000
    assert readings["top"][0]["where"].startswith("instruments/test_python_instruments.py:")
    assert readings["top"][0]["size_bytes"] >= 1_000_000
    assert len(readings["top"]) <= 3
    assert not tracemalloc.is_tracing()


def test_callers_tell_places_apart_when_more_frames_are_asked_for(tmp_path: Path) -> None:
    def allocate() -> bytearray:
        return bytearray(500_000)

    readings: dict[str, Any] = {}
    with Tracemalloc(frames=2).watch(readings, tmp_path):
        kept = allocate()
    assert len(kept) == 500_000
    assert readings["top"][0]["where"].count("test_python_instruments.py:") == 2


def test_a_tracemalloc_that_was_on_stays_on_and_its_memory_is_not_counted(tmp_path: Path) -> None:
    tracemalloc.start(5)
    try:
        earlier = bytearray(3_000_000)
        readings: dict[str, Any] = {}
        with Tracemalloc().watch(readings, tmp_path):
            kept = bytearray(1_000_000)
        assert (len(earlier), len(kept)) == (3_000_000, 1_000_000)
        assert tracemalloc.is_tracing()
        assert tracemalloc.get_traceback_limit() == 5
        assert tracemalloc.get_object_traceback(earlier) is not None
    finally:
        tracemalloc.stop()
    assert 1_000_000 <= readings["peak_bytes"] < 2_000_000
    assert readings["top"][0]["size_bytes"] < 2_000_000


def test_collections_are_counted_without_perturbing(tmp_path: Path) -> None:
    instrument = adapt(GcMonitor, "gc", {})
    gc.collect()
    readings: dict[str, Any] = {}
    with instrument.watch(readings, tmp_path):
        for _ in range(10):
            Loop()
        gc.collect()
    assert not instrument.perturbs
    assert readings["collections"] >= 1
    assert readings["collected"] >= 10
    assert readings["uncollectable"] == 0
    assert sum(row["collected"] for row in readings["generations"]) == readings["collected"]
    assert "pause_total_s" not in readings


def test_pauses_are_measured_on_demand_and_then_perturb(tmp_path: Path) -> None:
    instrument = adapt(GcMonitor, "gc", {"pauses": True})
    before = list(gc.callbacks)
    readings: dict[str, Any] = {}
    with instrument.watch(readings, tmp_path):
        gc.collect()
    assert instrument.perturbs
    assert 0 < readings["pause_max_s"] <= readings["pause_total_s"]
    assert gc.callbacks == before


def test_pauses_add_up_from_start_to_stop() -> None:
    ticks = iter((1.0, 1.5, 7.0, 7.25))
    pauses = Pauses(lambda: next(ticks))
    for phase in ("start", "stop", "start", "stop"):
        pauses(phase, {})
    assert (pauses.total_s, pauses.max_s) == (0.75, 0.5)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (CProfile, {"top": 0}),
        (CProfile, {"top": True}),
        (CProfile, {"sort": "alphabet"}),
        (Tracemalloc, {"top": 0}),
        (Tracemalloc, {"frames": 1.5}),
        (GcMonitor, {"pauses": "yes"}),
    ],
)
def test_options_that_make_no_sense_are_refused(kind: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        kind(**options)


@pytest.mark.parametrize("kind", BUILT_IN)
def test_each_built_in_describes_itself_in_one_line_of_its_source(kind: type[Instrument]) -> None:
    source = Path(inspect.getfile(kind)).read_text()
    node = next(n for n in ast.parse(source).body if isinstance(n, ast.ClassDef) and n.name == kind.__name__)
    first = (ast.get_docstring(node) or "").splitlines()[0]
    assert first.endswith((".", ")."))
    assert 20 < len(first) < 100
    assert kind.name


def test_the_modules_need_nothing_beyond_the_standard_library() -> None:
    modules = ("timing", "psutil_monitor", "cprofile", "tracemalloc_monitor", "gc_monitor", "pressure")
    program = "\n".join(
        [
            "import sys",
            *(f"import agentdyno.instruments.{name}" for name in modules),
            "outside = {n.partition('.')[0] for n in sys.modules} - set(sys.stdlib_module_names)",
            "print(sorted(n for n in outside if not n.startswith('_') and n != 'agentdyno'))",
        ]
    )
    source = Path(inspect.getfile(Instrument)).parents[1]
    out = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(source)!r})\n{program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert out.stdout.strip() == "[]"
