"""A driver whose windows also say what the target's process used meanwhile."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace

from agentdyno.load.driver import Driver
from agentdyno.load.target.process import TargetWatch
from agentdyno.model.load import Step, Window

_NS = 1_000_000_000


class WatchedDriver:
    """Fills ``target_cpu`` and ``target_rss_bytes`` of every window; else it does what ``driver`` does."""

    def __init__(self, driver: Driver, pid: int) -> None:
        self.name, self.simulated = driver.name, driver.simulated
        self.began_ns: int | None = None
        self._driver = driver
        self._watch = TargetWatch(pid)

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
