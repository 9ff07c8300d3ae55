"""Resources over time: real processes, and exact arithmetic on given snapshots."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from agentdyno.errors import PluginError
from agentdyno.instruments.psutil_monitor import PsutilMonitor
from agentdyno.instruments.series import Snapshot, SnapshotSeries
from agentdyno.registry.adapt import adapt


def snapshot(t_s: float, rss: int = 100, cpu_s: float = 0.0, written: int | None = None) -> Snapshot:
    return Snapshot(t_s, rss, cpu_s, threads=1, read_bytes=written, write_bytes=written)


def test_an_empty_block_still_has_a_first_and_a_last_point(tmp_path: Path) -> None:
    instrument = adapt(PsutilMonitor, "psutil", {"interval_s": 60})
    readings: dict[str, Any] = {}
    with instrument.watch(readings, tmp_path):
        pass
    series = readings["series"]
    assert instrument.perturbs
    assert len(series["t_s"]) == len(series["rss_bytes"]) == len(series["cpu_percent"]) == 2
    assert series["t_s"][0] == 0.0
    assert readings["rss_peak_bytes"] >= readings["rss_mean_bytes"] > 0
    assert readings["rss_peak_bytes"] == max(series["rss_bytes"])
    assert readings["threads_peak"] >= 1


def test_the_sampling_thread_lives_for_the_block_only(tmp_path: Path) -> None:
    def samplers() -> int:
        return sum(thread.name == "dyno-psutil" for thread in threading.enumerate())

    with PsutilMonitor(interval_s=0.001).watch({}, tmp_path):
        assert samplers() == 1
    assert samplers() == 0


def test_memory_that_the_block_keeps_shows_in_the_difference(tmp_path: Path) -> None:
    readings: dict[str, Any] = {}
    gc.collect()  # what others left behind is not to be freed meanwhile
    with PsutilMonitor().watch(readings, tmp_path):
        kept = bytearray(os.urandom(1024)) * (128 * 1024)
    assert len(kept) == 128 * 1024 * 1024
    assert readings["rss_delta_bytes"] > 24 * 1024 * 1024


def _hold(ready: Any, done: Any) -> None:
    block = bytearray(b"x") * (48 * 1024 * 1024)
    ready.set()
    done.wait(60)
    assert block


def test_children_of_the_process_are_included(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    readings: dict[str, Any] = {}
    child = context.Process(target=_hold, args=(ready, done))
    with PsutilMonitor().watch(readings, tmp_path):
        child.start()
        assert ready.wait(60)
    done.set()
    child.join()
    assert readings["rss_delta_bytes"] > 40 * 1024 * 1024
    assert readings["threads_peak"] >= 2


def test_work_shows_as_cpu_time_even_in_a_block_shorter_than_the_kernels_tick(tmp_path: Path) -> None:
    readings: dict[str, Any] = {}
    with PsutilMonitor(interval_s=60).watch(readings, tmp_path):
        sum(range(20_000))
    assert readings["cpu_percent_mean"] > 0


def test_means_are_weighted_by_time_and_peaks_survive_thinning() -> None:
    series = SnapshotSeries(snapshot(0.0, rss=100), interval_s=1.0, cap=4)
    for second in range(1, 9):
        series.add(snapshot(float(second), rss=900 if second == 3 else 100, cpu_s=second / 2, written=None))
    numbers = series.numbers()
    assert series.interval_s == 8.0
    assert numbers["rss_peak_bytes"] == 900
    assert numbers["rss_mean_bytes"] == pytest.approx((7 * 100 + 900) / 8)
    assert numbers["rss_delta_bytes"] == 0
    assert numbers["cpu_percent_mean"] == pytest.approx(50.0)
    assert "read_bytes" not in numbers
    columns = series.columns()
    assert columns["t_s"][0] == 0.0
    assert columns["t_s"][-1] == 8.0
    assert len(columns["t_s"]) <= 4
    assert columns["cpu_percent"] == [None, *[pytest.approx(50.0)] * (len(columns["t_s"]) - 1)]
    assert "read_bytes" not in columns


def test_a_long_series_never_exceeds_two_thousand_points() -> None:
    series = SnapshotSeries(snapshot(0.0), interval_s=0.05)
    for number in range(1, 10_001):
        series.add(snapshot(number * 0.05))
        assert len(series.columns()["t_s"]) <= 2_000 if number % 1_000 == 0 else True
    assert series.columns()["t_s"][-1] == pytest.approx(500.0)


def test_io_counts_from_the_start_of_the_block() -> None:
    series = SnapshotSeries(snapshot(5.0, written=1_000), interval_s=1.0)
    series.add(snapshot(6.0, written=1_500))
    assert series.columns()["write_bytes"] == [0, 500]
    assert series.columns()["t_s"] == [0.0, 1.0]
    assert series.numbers()["read_bytes"] == 500


@pytest.mark.parametrize("value", [0, -1, 0.0001, float("nan"), float("inf"), "fast", True])
def test_an_interval_that_makes_no_sense_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="interval_s"):
        PsutilMonitor(interval_s=value)


def test_an_interpreter_without_psutil_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    with pytest.raises(PluginError, match="pip install psutil"):
        PsutilMonitor()
