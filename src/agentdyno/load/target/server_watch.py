"""What a server's process used while something was asked of it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from time import perf_counter_ns
from types import TracebackType

from agentdyno.load.driver import Driver
from agentdyno.load.target.process import TargetWatch, listening_pid
from agentdyno.model.load import Step, Window
from agentdyno.sandbox.gpu import GpuProbe, open_gpu_probe


class ServerWatch:
    """``with ServerWatch(url) as watch: …`` then ``watch.figures()``.

    The process is the one that listens at ``url`` on this machine, or ``pid``; elsewhere there are no figures.
    """

    def __init__(self, url: str, *, pid: int | None = None) -> None:
        self.pid = pid or listening_pid(url)
        self._watch: TargetWatch | None = None
        self._gpu: GpuProbe | None = None
        self._from_ns = self._to_ns = 0

    def __enter__(self) -> ServerWatch:
        if self.pid is not None:
            self._gpu = open_gpu_probe()
            self._watch = TargetWatch(self.pid, gpu=self._gpu)
            self._watch.start()
        self._from_ns = perf_counter_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._to_ns = perf_counter_ns()
        if self._watch is not None:
            self._watch.stop()
        if self._gpu is not None:
            self._gpu.close()
            self._gpu = None

    def figures(self) -> dict[str, float]:
        """``server_cpu`` (cores), ``server_rss_bytes``, and on a GPU ``gpu_memory_bytes`` and ``gpu_utilisation``;
        what is unknown is left out."""
        if self._watch is None:
            return {}
        use = self._watch.between(self._from_ns, self._to_ns)
        gpu = self._watch.gpu_between(self._from_ns, self._to_ns)
        known = {
            "server_cpu": use.cpu,
            "server_rss_bytes": use.rss_bytes,
            "gpu_memory_bytes": gpu.memory_bytes,
            "gpu_utilisation": gpu.utilisation,
        }
        return {name: value for name, value in known.items() if value is not None}


_NS = 1_000_000_000


class WatchedDriver:
    """Fills ``target_cpu`` and ``target_rss_bytes`` of every window; else it does what ``driver`` does."""

    def __init__(self, driver: Driver, pid: int, *, children_only: bool = False) -> None:
        self.name, self.simulated = driver.name, driver.simulated
        self.began_ns: int | None = None
        self._driver = driver
        self._watch = TargetWatch(pid, children_only=children_only)

    def open(self) -> None:
        self._driver.open()
        self.simulated = self._driver.simulated
        self._watch.start()

    def run(self, step: Step) -> Generator[Window, None, None]:
        windows: Iterator[Window] = self._driver.run(step)
        try:
            for window in windows:
                yield self._with_use(window)
        finally:
            if isinstance(windows, Generator):
                windows.close()

    def observed(self) -> Mapping[str, object]:
        return self._driver.observed()

    def close(self) -> None:
        self._driver.close()
        self._watch.stop()

    def _with_use(self, window: Window) -> Window:
        self.began_ns, self.simulated = self._driver.began_ns, self._driver.simulated
        if self.began_ns is None:
            return window
        start_ns = self.began_ns + round(window.starts_s * _NS)
        use = self._watch.between(start_ns, start_ns + round(window.duration_s * _NS))
        return replace(window, target_cpu=use.cpu, target_rss_bytes=use.rss_bytes)
