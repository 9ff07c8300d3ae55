"""Dividing the CPU time of a shared model server among the calls that it serves."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field


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
