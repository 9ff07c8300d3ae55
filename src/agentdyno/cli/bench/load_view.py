"""What a load run shows while it goes on."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING

from agentdyno.cli.progress import duration

if TYPE_CHECKING:
    from agentdyno.runs.load.kind import LoadProgress

WIDTH = 79
EVERY_S = 10.0
"""Where nobody watches a terminal, a line comes no more often than this."""


class LoadView:
    """On a terminal two lines that are drawn over: where the run is, and its last window. Elsewhere a line every ten
    seconds."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._live = self._stream.isatty()
        self._drawn = 0
        self._told_s = 0.0

    def __enter__(self) -> LoadView:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clear()

    def __call__(self, progress: LoadProgress) -> None:
        lines = render(progress)
        if self._live:
            self._clear()
            self._stream.write("\n".join(lines))
            self._drawn = len(lines)
        elif progress.elapsed_s - self._told_s >= EVERY_S:
            self._told_s = progress.elapsed_s
            self._stream.write("  ".join(lines) + "\n")
        self._stream.flush()

    def _clear(self) -> None:
        if self._live and self._drawn:
            up = f"\x1b[{self._drawn - 1}A" if self._drawn > 1 else ""
            self._stream.write(f"\r{up}\x1b[J")
            self._stream.flush()
        self._drawn = 0


def render(progress: LoadProgress) -> list[str]:
    """Two lines of at most 79 columns."""
    window = progress.window
    share = min(1.0, progress.elapsed_s / progress.planned_s) if progress.planned_s else None
    place = f"{progress.scenario} ({progress.number}/{progress.total})"
    head = [place, window.step if window is not None else "starting"]
    if window is not None and window.stage != window.step:
        head.append(window.stage)
    head.append(duration(progress.elapsed_s) + (f" of {duration(progress.planned_s)}" if progress.planned_s else ""))
    if share is not None:
        filled = round(16 * share)
        head.insert(0, "█" * filled + "░" * (16 - filled))
    lines = ["  ".join(head)[:WIDTH]]
    if window is not None:
        readings = progress.readings
        parts = [
            f"asked {_count(readings.get('asked_per_s'))}/s",
            f"sent {_count(readings.get('delivered_per_s'))}/s",
            f"in flight {window.in_flight:,}",
            f"p50 {_time(readings.get('latency_p50_s'))}",
            f"p99 {_time(readings.get('latency_p99_s'))}",
            f"errors {_share(readings.get('error_rate'))}",
        ]
        lines.append("  ".join(parts)[:WIDTH])
    return lines


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _time(value: float | None) -> str:
    from agentdyno.model.metric import format_value

    return format_value(value, "s")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
