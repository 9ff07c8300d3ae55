"""The clock of one attempt at a case, which stands still while the bench restarts what the agent runs in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class CaseClock:
    """Starts at once, with the clock ``now_ns``. ``deadline`` is the time limit of the attempt."""

    def __init__(self, deadline: asyncio.Timeout, now_ns: Callable[[], int]) -> None:
        self._deadline = deadline
        self._now_ns = now_ns
        self._ours_ns = 0
        self._started_ns = now_ns()

    def seconds(self) -> float:
        """The time so far that is the agent's."""
        return max(0, self._now_ns() - self._started_ns - self._ours_ns) / 1e9

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Neither the time nor the limit goes on inside. Not to be entered twice at the same time."""
        began_ns, when = self._now_ns(), self._deadline.when()
        self._limit(None)
        try:
            yield
        finally:
            passed_ns = self._now_ns() - began_ns
            self._ours_ns += passed_ns
            self._limit(None if when is None else when + passed_ns / 1e9)

    def _limit(self, when: float | None) -> None:
        if not self._deadline.expired():  # then it is over, and cannot be moved
            self._deadline.reschedule(when)
