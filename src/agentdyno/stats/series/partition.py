"""Optimal partitioning of a series into stretches of constant mean: exact, and linear in practice.

Minimises the squared distances from the mean of each stretch plus a penalty for every change. In the dynamic
programme over the last change, a candidate leaves when no final mean is left for which it could still win:
PELT's inequality (Killick, Fearnhead, Eckley 2012), and the functional pruning of FPOP (Maidstone et al. 2017)
for series with few changes, where that inequality prunes nothing. Work is done in blocks, which numpy likes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..samples import Array, Values, require_count, to_array

_BLOCK = 128
_STRIDE = 8
"""Every eighth end of a block's prefixes prunes: using fewer leaves more candidates, never a wrong answer."""
_ROUNDING = 1e-9

Indices = npt.NDArray[np.int64]


def partition(values: Values, penalty: float, min_size: int = 4) -> list[int]:
    """First index of every stretch but the first, ascending; each stretch has at least `min_size` values.

    `penalty` is the price of one change, in squared units of the values; it must be above zero.
    """
    array = to_array(values, at_least=0)
    require_count(min_size, "min_size", at_least=1)
    if not penalty > 0.0:
        raise ValueError(f"penalty must be above zero, got {penalty}")
    if array.size < 2 * min_size:
        return []
    # In units of the penalty's root, so that one tolerance fits all series.
    scaled = (array - array.mean()) / math.sqrt(penalty)
    last = _Search(scaled, min_size).run()
    changes: list[int] = []
    end = int(last[array.size])
    while end > 0:
        changes.append(end)
        end = int(last[end])
    return changes[::-1]


@dataclass(slots=True)
class _Candidates:
    """Positions that may still be the last change, ascending, each with the range of final means it may win."""

    at: Indices
    low: Array
    high: Array

    def keep(self, alive: npt.NDArray[np.bool_]) -> None:
        self.at, self.low, self.high = self.at[alive], self.low[alive], self.high[alive]


class _Search:
    """The dynamic programme, for a penalty of 1.

    `gain[t]` is what the best partition of the first t values saves over none (sum of squares minus cost), so
    gain[t] = max over s of gain[s] - 1 + (sum of values s..t)^2 / (t - s), starting from gain[0] = 1.
    """

    def __init__(self, values: Array, min_size: int) -> None:
        self.size = values.size
        self.min_size = min_size
        self.sums = np.concatenate([[0.0], np.cumsum(values)])
        self.gain = np.full(values.size + 1, -math.inf)
        self.gain[0] = 1.0
        self.last = np.zeros(values.size + 1, dtype=np.int64)
        self.bounds = (float(values.min()), float(values.max()))
        rows = np.arange(_BLOCK)
        self.spans = (rows[:, None] - rows).astype(np.float64)
        self.too_close = self.spans < min_size
        self.spans[self.too_close] = 1.0

    def run(self) -> Indices:
        """For each prefix length the start of its last stretch."""
        candidates = _Candidates(np.zeros(1, dtype=np.int64), *(np.array([bound]) for bound in self.bounds))
        for start in range(self.min_size, self.size + 1, _BLOCK):
            stop = min(start + _BLOCK, self.size + 1)
            self._extend(candidates.at, start, stop)
            ends = np.arange(start, stop)
            candidates.at = np.concatenate([candidates.at, ends])
            candidates.low = np.concatenate([candidates.low, np.full(ends.size, self.bounds[0])])
            candidates.high = np.concatenate([candidates.high, np.full(ends.size, self.bounds[1])])
            self._narrow(candidates, start, stop)
            self._drop_covered(candidates, stop)
        return self.last

    def _extend(self, at: Indices, start: int, stop: int) -> None:
        """Gains of the prefixes that end in this block: last change before the block, then inside it."""
        ends, sums = np.arange(start, stop), self.sums[start:stop]
        rows = np.arange(ends.size)
        spans = ends[:, None] - at
        saved = sums[:, None] - self.sums[at]
        saved *= saved
        saved /= spans
        saved += self.gain[at]
        first_close = int(np.searchsorted(at, start - self.min_size, side="right"))
        saved[:, first_close:][spans[:, first_close:] < self.min_size] = -math.inf
        best = saved.argmax(axis=1)
        gain, last = saved[rows, best] - 1.0, at[best]

        inside = sums[:, None] - sums
        inside *= inside
        inside /= self.spans[: ends.size, : ends.size]
        inside[self.too_close[: ends.size, : ends.size]] = -math.inf
        inside -= 1.0
        # A gain inside the block may rest on another one there; each round settles one more change.
        while True:
            saved = inside + gain
            best = saved.argmax(axis=1)
            found = saved[rows, best]
            better = found > gain
            if not better.any():
                break
            gain, last = np.where(better, found, gain), np.where(better, ends[best], last)
        self.gain[start:stop], self.last[start:stop] = gain, last

    def _narrow(self, candidates: _Candidates, start: int, stop: int) -> None:
        """Bounds the final means for which a candidate s beats a change at t, for some t of this block.

        With that mean m both pay alike after t, so s must satisfy (t-s) m^2 - 2 m D + gain[t] - gain[s] <= 0
        with D the sum of values s..t. A change at t counts for prefixes of at least t + min_size values only,
        hence the end of the range: what comes next starts at `stop`.
        """
        t = np.arange(start + _STRIDE - 1, stop - self.min_size + 1, _STRIDE)
        if t.size == 0:
            return
        spans = (t[:, None] - candidates.at).astype(np.float64)
        ahead = spans <= 0.0
        spans[ahead] = 1.0
        sums = self.sums[t][:, None] - self.sums[candidates.at]
        room = sums * sums - spans * (self.gain[t][:, None] - self.gain[candidates.at])
        room[ahead] = math.inf
        possible = (room >= -_ROUNDING * spans).all(axis=0)
        root = np.sqrt(np.maximum(room, 0.0))
        candidates.low = np.maximum(candidates.low, ((sums - root) / spans).max(axis=0))
        candidates.high = np.minimum(candidates.high, ((sums + root) / spans).min(axis=0))
        candidates.keep(possible & (candidates.low <= candidates.high + _ROUNDING))

    def _drop_covered(self, candidates: _Candidates, stop: int) -> None:
        """Drops a candidate when an older one is cheaper at both ends of its range of means.

        The older one has the more points, so their difference is convex in the mean: cheaper at both ends is
        cheaper in between, now and, as both pay alike from here on, for ever.
        """
        now = stop - self.min_size
        settled = int(np.searchsorted(candidates.at, now))
        at = candidates.at[:settled]
        spans, sums, gain = (now - at).astype(np.float64), self.sums[now] - self.sums[at], self.gain[at]
        covered = np.ones((settled, settled), dtype=np.bool_)
        for means in (candidates.low[:settled], candidates.high[:settled]):
            costs = spans[:, None] * (means * means) - 2.0 * sums[:, None] * means - gain[:, None]
            covered &= costs < np.diagonal(costs) - _ROUNDING
        alive = np.ones(candidates.at.size, dtype=np.bool_)
        alive[:settled] = ~np.triu(covered, k=1).any(axis=0)
        candidates.keep(alive)
