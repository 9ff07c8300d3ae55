"""What processes use of the GPUs of this machine, where NVIDIA's library is there to tell."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from time import perf_counter_ns
from typing import Any, NamedTuple

WATCH_EVERY_S = 0.25
"""The driver itself averages its utilisation over up to a second."""
MOST_KEPT = 4_000


class GpuReading(NamedTuple):
    """Memory in bytes, and the mean utilisation (0 to 1) of the GPUs that it is on."""

    memory_bytes: float
    utilisation: float


class GpuProbe:
    """Asks NVML; ``open_gpu_probe`` makes one."""

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml
        self._devices = [nvml.nvmlDeviceGetHandleByIndex(place) for place in range(nvml.nvmlDeviceGetCount())]

    def read(self, pids: Container[int]) -> GpuReading | None:
        """``None`` where none of these processes is on a GPU, or NVML does not say."""
        used, shares = 0.0, []
        for device in self._devices:
            try:
                mine = [found for found in self._running(device) if found.pid in pids]
                if mine:
                    used += sum(found.usedGpuMemory or 0 for found in mine)
                    shares.append(self._nvml.nvmlDeviceGetUtilizationRates(device).gpu / 100)
            except self._nvml.NVMLError:
                continue
        return GpuReading(used, sum(shares) / len(shares)) if shares else None

    def close(self) -> None:
        self._nvml.nvmlShutdown()

    def _running(self, device: Any) -> Iterator[Any]:
        yield from self._nvml.nvmlDeviceGetComputeRunningProcesses(device)


def open_gpu_probe(nvml: Any = None) -> GpuProbe | None:
    """A probe, or ``None`` where there is no package ``pynvml``, no driver or no GPU."""
    if nvml is None:
        try:
            nvml = import_module("pynvml")
        except ImportError:
            return None
    try:
        nvml.nvmlInit()
        return GpuProbe(nvml) if nvml.nvmlDeviceGetCount() else None
    except nvml.NVMLError:
        return None


class GpuWatch:
    """Reads what a process and those it started use of the GPUs, in a thread of its own, while somebody is inside.

    ``members`` gives the processes for a pid; the package psutil by default.
    """

    def __init__(self, probe: GpuProbe, members: Callable[[int], Container[int]] | None = None) -> None:
        self._probe, self._members = probe, members or process_tree
        self._watched: dict[int, deque[tuple[int, GpuReading]]] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def used_by(self, pid: int) -> Iterator[Callable[[], dict[str, float]]]:
        """What it yields tells the readings since the block began: ``gpu_percent`` and ``gpu_memory_bytes``, as
        means, and nothing where the process is on no GPU."""
        since_ns = self._begin(pid)
        try:
            yield lambda: self._readings(pid, since_ns)
        finally:
            with self._lock:
                self._watched.pop(pid, None)

    def _begin(self, pid: int) -> int:
        with self._lock:
            self._watched.setdefault(pid, deque(maxlen=MOST_KEPT))
            if self._thread is None:
                self._thread = threading.Thread(target=self._go_on, daemon=True)
                self._thread.start()
        self._wake.set()
        return perf_counter_ns()

    def _readings(self, pid: int, since_ns: int) -> dict[str, float]:
        self._look(pid)
        with self._lock:
            found = [one for at_ns, one in self._watched.get(pid, ()) if at_ns >= since_ns]
        if not found:
            return {}
        return {
            "gpu_percent": 100 * sum(one.utilisation for one in found) / len(found),
            "gpu_memory_bytes": sum(one.memory_bytes for one in found) / len(found),
        }

    def _look(self, pid: int) -> None:
        reading = self._probe.read(self._members(pid))
        with self._lock:
            if reading is not None and pid in self._watched:
                self._watched[pid].append((perf_counter_ns(), reading))

    def _go_on(self) -> None:
        while True:
            self._wake.wait()
            with self._lock:
                watched = list(self._watched)
                if not watched:
                    self._wake.clear()
            for pid in watched:
                self._look(pid)
            threading.Event().wait(WATCH_EVERY_S)


@cache
def shared_watch() -> GpuWatch | None:
    """One watch for all; ``None`` on a machine without a GPU."""
    probe = open_gpu_probe()
    return None if probe is None else GpuWatch(probe)


def process_tree(pid: int) -> Container[int]:
    """A process and everything that it has started; itself alone where that is not known."""
    psutil = import_module("psutil")
    try:
        return {pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))}
    except psutil.Error:
        return {pid}
