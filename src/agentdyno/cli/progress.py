"""A line that moves on stderr while a run goes on, drawn between trials only."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from agentdyno.model import Progress

REFRESH_S = 0.1


class ProgressLine:
    """On a terminal one line that is drawn over; elsewhere a line every ten seconds."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._stream = sys.stderr
        self._live = self._stream.isatty()
        self._quiet = quiet
        self._drawn_at = 0.0
        self._width = 0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live and self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        wait_s = REFRESH_S if self._live else 10.0
        if not self._live and not self._drawn_at:
            self._drawn_at = now
        if self._quiet or now - self._drawn_at < wait_s:
            return
        self._drawn_at = now
        self._draw(render(progress, bar=self._live))

    def step(self, text: str) -> None:
        """A progress line of another kind, such as a calibration's."""
        if not self._quiet:
            self._draw(text)

    def _draw(self, text: str) -> None:
        if self._live:
            self._stream.write("\r" + text.ljust(self._width)[:200])
        else:
            self._stream.write(text + "\n")
        self._width = len(text)
        self._stream.flush()


def render(progress: Progress, *, bar: bool) -> str:
    """``████░░ 40/200  20 %  12 s, 48 s left  80% right  9,120 tokens  $0.02  2 failed  arm``, cut to 79 columns."""
    share = progress.done / progress.planned if progress.planned else 1.0
    parts = [f"{progress.done}/{progress.planned}", f"{share:.0%}"]
    if bar:
        filled = round(16 * min(1.0, share))
        parts.insert(0, "█" * filled + "░" * (16 - filled))
    if progress.elapsed_s:
        left = f", {duration(progress.remaining_s)} left" if progress.remaining_s is not None else ""
        parts.append(f"{duration(progress.elapsed_s)}{left}")
    if progress.pass_rate is not None:
        parts.append(f"{progress.pass_rate:.0%} right")
    if progress.tokens:
        parts.append(f"{progress.tokens:,} tokens")
    if progress.cost_usd:
        parts.append(f"${progress.cost_usd:.3g}")
    if progress.errors:
        parts.append(f"{progress.errors} failed")
    parts.append(progress.doing)
    return "  ".join(parts)[:79]


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, without false precision."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"
