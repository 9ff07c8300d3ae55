"""What a load run shows while it goes on."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from agentdyno.cli.progress import duration

if TYPE_CHECKING:
    from agentdyno.model import Progress, Sample
    from agentdyno.model.load import Window

WIDTH = 79
EVERY_S = 10.0
"""Where nobody watches a terminal, a line comes no more often than this."""


class LoadView:
    """On a terminal two lines that are drawn over: where the run is, and its last window. Elsewhere a line every ten
    seconds. ``scenarios`` are those of the run, in their order; ``planned_s`` is how long each takes, ``None`` where
    nobody knows: a search goes on until it has found what it looks for."""

    def __init__(self, scenarios: Sequence[str], planned_s: Sequence[float | None] = ()) -> None:
        self._scenarios = tuple(scenarios)
        self._planned_s = tuple(planned_s)
        self._done, self._began_s = 0, 0.0
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

    def __call__(self, progress: Progress) -> None:
        if progress.done >= len(self._scenarios):
            return
        if progress.done != self._done:  # the time shown is that of the scenario
            self._done, self._began_s = progress.done, progress.elapsed_s
        elapsed_s = progress.elapsed_s - self._began_s
        place = f"{self._scenarios[self._done]} ({self._done + 1}/{len(self._scenarios)})"
        planned_s = self._planned_s[self._done] if self._done < len(self._planned_s) else None
        lines = render(place, elapsed_s, progress.sample, planned_s)
        if self._live:
            self._clear()
            self._stream.write("\n".join(lines))
            self._drawn = len(lines)
        elif elapsed_s - self._told_s >= EVERY_S:
            self._told_s = elapsed_s
            self._stream.write("  ".join(lines) + "\n")
        self._stream.flush()

    def _clear(self) -> None:
        if self._live and self._drawn:
            up = f"\x1b[{self._drawn - 1}A" if self._drawn > 1 else ""
            self._stream.write(f"\r{up}\x1b[J")
            self._stream.flush()
        self._drawn = 0


def render(place: str, elapsed_s: float, sample: Sample | None, planned_s: float | None = None) -> list[str]:
    """Two lines of at most 79 columns; one before the first window. ``place`` says which scenario it is."""
    window = None if sample is None else _window(sample)
    head = [place, window.step if window is not None else "starting"]
    if window is not None and window.stage != window.step:
        head.append(window.stage)
    head.append(duration(elapsed_s))
    if planned_s:
        # The time of a window is what has been measured; waiting for the last answers is no part of what is planned.
        past_s = elapsed_s if window is None else min(window.starts_s + window.duration_s, planned_s)
        head.append(f"{bar(past_s / planned_s)} {duration(max(planned_s - past_s, 0.0))} left")
    lines = ["  ".join(head)[:WIDTH]]
    if sample is not None and window is not None:
        readings = sample.readings
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


def bar(share: float, width: int = 16) -> str:
    """``[#####-----------]``."""
    filled = round(min(max(share, 0.0), 1.0) * width)
    return f"[{'#' * filled}{'-' * (width - filled)}]"


def _window(sample: Sample) -> Window:
    from agentdyno.model.codec import from_plain
    from agentdyno.model.load import Window

    return from_plain(Window, sample.details["window"])


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _time(value: float | None) -> str:
    from agentdyno.model.metric import format_value

    return format_value(value, "s")


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
