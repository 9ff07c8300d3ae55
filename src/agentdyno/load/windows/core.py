"""How much of a core a client had, and for how long it had work and no core."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agentdyno.model.load import Window

_QUEUE = "/proc/thread-self/schedstat"
_BYTES = 128
_NS = 1_000_000_000


class HeldTime:
    """How long the thread that makes this has waited for a core, as Linux counts it; always 0 where nobody does."""

    def __init__(self) -> None:
        try:
            self._fd = os.open(_QUEUE, os.O_RDONLY)
        except OSError:
            self._fd = -1

    def so_far_ns(self) -> int:
        try:
            told = os.pread(self._fd, _BYTES, 0).split() if self._fd >= 0 else []
        except OSError:
            return 0
        return int(told[1]) if len(told) > 1 else 0

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class CoreShare(NamedTuple):
    """Shares of a time: in which it had a core, and in which it waited for one."""

    used: float
    held: float

    @property
    def wanted(self) -> float:
        return self.used + self.held


class CoreTimes:
    """What a client said of itself from time to time: when, its CPU time and its waiting for a core until then (ns).
    It is asked about one window after the other; what came long before the last of them is forgotten."""

    def __init__(self) -> None:
        self._seen: list[tuple[int, int, int]] = []

    def add(self, at_ns: int, used_ns: int, held_ns: int) -> None:
        self._seen.append((at_ns, used_ns, held_ns))

    def between(self, begin_ns: float, end_ns: float) -> CoreShare | None:
        """``None`` where nothing is known of that time."""
        if len(self._seen) < 2:
            return None
        at, used, held = zip(*self._seen, strict=True)
        low, high = max(begin_ns, at[0]), min(end_ns, at[-1])
        self._seen = [one for one in self._seen if one[0] > end_ns - _NS]
        if high <= low:
            return None
        shares = [float(np.diff(np.interp([low, high], at, values))[0]) / (high - low) for values in (used, held)]
        return CoreShare(shares[0], shares[1])


def with_core(window: Window, shares: Iterable[CoreShare | None]) -> Window:
    """With the share of the client that needed most of a core."""
    known = [share for share in shares if share is not None]
    if not known:
        return window
    busiest = max(known, key=lambda share: share.wanted)
    return replace(window, client_cpu=busiest.used, client_held=busiest.held)
