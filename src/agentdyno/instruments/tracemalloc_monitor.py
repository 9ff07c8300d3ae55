"""Python memory allocated in the timed block, by the line that allocated it."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from types import TracebackType
from typing import Any

from agentdyno.contracts import Instrument
from agentdyno.instruments.series import short_path

_PACKAGE = Path(__file__).parent.parent
_OWN_FILES = (
    tracemalloc.__file__,
    *(str(_PACKAGE / name / "*.py") for name in ("instruments", "registry", "runner")),
)


class Tracemalloc(Instrument):
    """Peak and remaining Python memory, and the lines that allocated it.

    Reads ``peak_bytes`` and ``current_bytes`` (what is still held at the end), both beyond what was held at the
    start, and ``top``: the ``top`` places that hold most at the end, each with ``where``, ``size_bytes`` and
    ``count`` of blocks. ``frames`` is how many callers tell places apart. A ``tracemalloc`` that was already on
    stays on with its own number of frames and its traces; only its peak is reset.
    """

    name = "tracemalloc"
    perturbs = True

    def __init__(self, top: int = 10, frames: int = 1) -> None:
        for option, value in (("top", top), ("frames", frames)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{option} must be a whole number of at least 1, got {value!r}")
        self.top = top
        self.frames = frames

    def watch(self, readings: dict[str, Any], artifacts_dir: Path) -> _MemoryWatch:  # noqa: ARG002
        return _MemoryWatch(self, readings)


class _MemoryWatch:
    def __init__(self, options: Tracemalloc, readings: dict[str, Any]) -> None:
        self._options = options
        self._readings = readings
        self._earlier: tracemalloc.Snapshot | None = None
        self._held_bytes = 0

    def __enter__(self) -> None:
        if tracemalloc.is_tracing():
            self._earlier = tracemalloc.take_snapshot()
            tracemalloc.reset_peak()
        else:
            tracemalloc.start(self._options.frames)
        self._held_bytes = tracemalloc.get_traced_memory()[0]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            current, peak = tracemalloc.get_traced_memory()
            snapshot = tracemalloc.take_snapshot()
        finally:
            if self._earlier is None:
                tracemalloc.stop()
        self._readings["peak_bytes"] = max(peak - self._held_bytes, 0)
        self._readings["current_bytes"] = max(current - self._held_bytes, 0)
        self._readings["top"] = self._top(snapshot)

    def _top(self, snapshot: tracemalloc.Snapshot) -> list[dict[str, object]]:
        filters = [tracemalloc.Filter(False, pattern) for pattern in _OWN_FILES]
        key = "lineno" if self._options.frames == 1 else "traceback"
        later = snapshot.filter_traces(filters)
        if self._earlier is None:
            rows = [(one.traceback, one.size, one.count) for one in later.statistics(key)]
        else:
            changes = later.compare_to(self._earlier.filter_traces(filters), key)
            rows = [(one.traceback, one.size_diff, one.count_diff) for one in changes if one.size_diff > 0]
        rows.sort(key=lambda row: -row[1])
        return [
            {"where": _where(traceback), "size_bytes": size, "count": count}
            for traceback, size, count in rows[: self._options.top]
        ]


def _where(traceback: tracemalloc.Traceback) -> str:
    """The allocating line first, then its callers."""
    return " < ".join(f"{short_path(frame.filename)}:{frame.lineno}" for frame in reversed(traceback))
