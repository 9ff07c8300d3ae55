"""What the garbage collector does during a timed block."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from agentdyno.contracts import Instrument

_KEYS = ("collections", "collected", "uncollectable")


class GcMonitor(Instrument):
    """Garbage collections and the objects they free, with their pauses on demand.

    Reads ``collections``, ``collected`` and ``uncollectable`` (numbers of objects) and the same per generation
    in ``generations``. With ``pauses`` it also reads ``pause_total_s`` and ``pause_max_s``, both 0 when nothing
    was collected; a callback then runs inside every collection, so the instrument perturbs.
    """

    name = "gc"
    perturbs = False

    def __init__(self, pauses: bool = False) -> None:
        if not isinstance(pauses, bool):
            raise ValueError(f"pauses must be true or false, got {pauses!r}")
        self.pauses = pauses
        self.perturbs = pauses

    def watch(self, readings: dict[str, Any], artifacts_dir: Path) -> _GcWatch:  # noqa: ARG002
        return _GcWatch(readings, self.pauses)


class Pauses:
    """Adds up the time between the start and the stop of each collection, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.total_s = 0.0
        self.max_s = 0.0
        self._clock = clock
        self._started: float | None = None

    def __call__(self, phase: str, info: dict[str, int]) -> None:  # noqa: ARG002
        now = self._clock()
        if phase == "start":
            self._started = now
        elif self._started is not None:
            pause = now - self._started
            self._started = None
            self.total_s += pause
            self.max_s = max(self.max_s, pause)


class _GcWatch:
    def __init__(self, readings: dict[str, Any], pauses: bool) -> None:
        self._readings = readings
        self._pauses = Pauses() if pauses else None
        self._before: list[dict[str, int]] = []

    def __enter__(self) -> None:
        self._before = gc.get_stats()
        if self._pauses is not None:
            gc.callbacks.append(self._pauses)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._pauses is not None:
            gc.callbacks.remove(self._pauses)
        generations = [
            {key: after[key] - before[key] for key in _KEYS}
            for before, after in zip(self._before, gc.get_stats(), strict=True)
        ]
        for key in _KEYS:
            self._readings[key] = sum(generation[key] for generation in generations)
        self._readings["generations"] = generations
        if self._pauses is not None:
            self._readings["pause_total_s"] = self._pauses.total_s
            self._readings["pause_max_s"] = self._pauses.max_s
