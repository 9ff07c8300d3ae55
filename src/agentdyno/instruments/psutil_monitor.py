"""CPU, memory, threads and I/O of the measured process and its children, sampled by a thread."""

from __future__ import annotations

import math
import resource
import threading
import time
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from agentdyno.contracts import Instrument
from agentdyno.errors import PluginError
from agentdyno.instruments.series import Snapshot, SnapshotSeries

if TYPE_CHECKING:
    import psutil

SHORTEST_INTERVAL_S = 0.001


class PsutilMonitor(Instrument):
    """CPU, memory, threads and I/O of the process and its children over time.

    A thread takes a reading every ``interval_s`` seconds, beside one at the start and one at the end. Reads
    ``rss_peak_bytes``, ``rss_mean_bytes``, ``rss_delta_bytes``, ``cpu_percent_mean`` (100 is one CPU),
    ``read_bytes``, ``write_bytes`` (what reached storage), ``threads_peak`` (the sampling thread left out), and
    ``series`` with one list per quantity over ``t_s``. Memory that processes share is counted for each. A peak
    between two readings is missed. Series above 2,000 points are thinned by doubling the interval.
    """

    name = "psutil"
    perturbs = True

    def __init__(self, interval_s: float = 0.05) -> None:
        if not isinstance(interval_s, (int, float)) or isinstance(interval_s, bool) or not math.isfinite(interval_s):
            raise ValueError(f"interval_s must be a number of seconds, got {interval_s!r}")
        if interval_s < SHORTEST_INTERVAL_S:
            raise ValueError(f"interval_s must be at least {SHORTEST_INTERVAL_S:g} seconds, got {interval_s!r}")
        self.interval_s = float(interval_s)
        self._psutil = _load_psutil()

    def watch(self, readings: dict[str, Any], artifacts_dir: Path) -> _ResourceWatch:  # noqa: ARG002
        return _ResourceWatch(ProcessTree(self._psutil), readings, self.interval_s)


def _load_psutil() -> ModuleType:
    try:
        import psutil
    except ImportError:
        raise PluginError(
            "the instrument psutil needs the package psutil in the interpreter that is measured",
            remedy="Install it there with `pip install psutil`, or take psutil out of the spec's instruments.",
        ) from None
    return psutil


class ProcessTree:
    """This process and all below it. CPU time and I/O of children that have ended stay counted."""

    def __init__(self, library: ModuleType) -> None:
        self._library = library
        self._own: psutil.Process = library.Process()

    def snapshot(self, own_threads: int = 0) -> Snapshot:
        """The present state; ``own_threads`` of this process are the observer's and are not counted."""
        gone = (self._library.NoSuchProcess, self._library.AccessDenied)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        # The process clock is finer than the kernel's ticks of 10 ms, which matters for short blocks.
        cpu_s = time.process_time() + ended.ru_utime + ended.ru_stime
        t_s = time.perf_counter()
        rss_bytes = self._own.memory_info().rss
        threads = self._own.num_threads() - own_threads
        read_bytes, write_bytes = self._stored(self._own)
        for child in self._own.children(recursive=True):
            try:
                with child.oneshot():
                    times = child.cpu_times()
                    rss = child.memory_info().rss
                    count = child.num_threads()
                    read, write = self._stored(child)
            except gone:
                continue
            cpu_s += times.user + times.system + times.children_user + times.children_system
            rss_bytes += rss
            threads += count
            read_bytes = None if read_bytes is None else read_bytes + (read or 0)
            write_bytes = None if write_bytes is None else write_bytes + (write or 0)
        return Snapshot(t_s, rss_bytes, cpu_s, threads, read_bytes, write_bytes)

    def _stored(self, process: psutil.Process) -> tuple[int | None, int | None]:
        try:
            counters = process.io_counters()
        except (self._library.AccessDenied, AttributeError, NotImplementedError, OSError):
            return None, None
        return counters.read_bytes, counters.write_bytes


class _ResourceWatch:
    def __init__(self, tree: ProcessTree, readings: dict[str, Any], interval_s: float) -> None:
        self._tree = tree
        self._readings = readings
        self._interval_s = interval_s
        self._done = threading.Event()
        self._failure: Exception | None = None
        self._sampling: tuple[SnapshotSeries, threading.Thread] | None = None

    def __enter__(self) -> None:
        series = SnapshotSeries(self._tree.snapshot(), self._interval_s)
        thread = threading.Thread(target=self._sample, args=(series,), name="dyno-psutil", daemon=True)
        self._sampling = series, thread
        thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._sampling is None:
            return
        series, thread = self._sampling
        self._done.set()
        thread.join()
        if self._failure is not None:
            raise self._failure
        series.add(self._tree.snapshot())
        self._readings.update(series.numbers())
        self._readings["series"] = series.columns()

    def _sample(self, series: SnapshotSeries) -> None:
        try:
            while not self._done.wait(series.interval_s):
                series.add(self._tree.snapshot(own_threads=1))
        except Exception as failure:  # noqa: BLE001 - raised again where the block ends
            self._failure = failure
