"""How many calls an agent gets at once: fewer when the other side says that it is too much, more when it copes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0


@dataclass(slots=True)
class Allowance:
    """The policy alone: halves on "too many requests", grows by one after as many good calls as are allowed."""

    most: int
    limit: int = field(init=False)
    open_at: float = 0.0
    _good: int = 0

    def __post_init__(self) -> None:
        self.limit = self.most

    def refused(self, now: float, wait_s: float) -> None:
        """No call before ``now + wait_s``, and fewer at once afterwards."""
        if now >= self.open_at:  # calls that were on their way when the first was refused tell nothing new
            self.limit = max(1, self.limit // 2)
        self._good = 0
        self.open_at = max(self.open_at, now + wait_s)

    def served(self) -> None:
        self._good += 1
        if self._good >= self.limit and self.limit < self.most:
            self.limit += 1
            self._good = 0


class Throttle:
    """An ``Allowance`` that coroutines of one event loop wait for."""

    def __init__(self, most: int, clock: Callable[[], float] | None = None) -> None:
        self.allowance = Allowance(most)
        self._clock = clock
        self._in_flight = 0
        self._waiting: asyncio.Condition | None = None

    def now(self) -> float:
        return self._clock() if self._clock is not None else asyncio.get_running_loop().time()

    def closed_for_s(self) -> float:
        """Seconds until the other side wants to hear from us again."""
        return max(0.0, self.allowance.open_at - self.now()) if self.allowance.open_at else 0.0

    async def acquire(self) -> None:
        if self._in_flight < self.allowance.limit and self.allowance.open_at <= self.now():
            self._in_flight += 1
            return
        condition = self._waiting = self._waiting or asyncio.Condition()
        async with condition:
            while True:
                pause = self.allowance.open_at - self.now()
                if pause <= 0 and self._in_flight < self.allowance.limit:
                    self._in_flight += 1
                    return
                try:
                    await asyncio.wait_for(condition.wait(), pause if pause > 0 else None)
                except TimeoutError:
                    continue

    async def release(self) -> None:
        self._in_flight -= 1
        if self._waiting is not None:
            async with self._waiting:
                self._waiting.notify_all()

    def refused(self, wait_s: float) -> None:
        self.allowance.refused(self.now(), wait_s)

    def served(self) -> None:
        self.allowance.served()


def wait_before(attempt: int, asked_s: float | None, luck: float) -> float:
    """Seconds to wait before attempt number ``attempt`` (2 is the first repeat).

    What the other side asked for counts; else a wait that doubles, less up to half of it by ``luck`` in 0..1, so that
    calls which failed together do not come back together.
    """
    if asked_s is not None:
        return max(0.0, asked_s)
    longest = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (attempt - 2))
    return longest * (1.0 - 0.5 * luck)


@dataclass(slots=True)
class CpuShare:
    """``read`` gives the server's CPU seconds so far. What it uses while k calls are open goes to each by 1/k.

    The shares of all calls add up to what the server used while any call was open.
    """

    read: Callable[[], float]
    _open: dict[Hashable, float] = field(default_factory=dict)
    _last: float = 0.0

    def enter(self, call: Hashable) -> None:
        self._settle()
        self._open[call] = 0.0

    def leave(self, call: Hashable) -> float:
        """The call's CPU seconds."""
        self._settle()
        return self._open.pop(call, 0.0)

    def _settle(self) -> None:
        now = self.read()
        used, self._last = now - self._last, now
        if self._open and used > 0:
            share = used / len(self._open)
            for call in self._open:
                self._open[call] += share
