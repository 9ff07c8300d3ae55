"""Counts of positive values in buckets of equal relative width: bucket ``i`` holds values from ``1.01**i`` up to, but
not including, ``1.01**(i+1)``. A bucket stands for its geometric middle, which is within 0.5 % of all its values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GROWTH = 1.01
_LOG_GROWTH = float(np.log(GROWTH))

Indices = NDArray[np.int64]
Counts = NDArray[np.int64]


def bucket_of(values: NDArray[np.int64] | NDArray[np.float64]) -> Indices:
    """The bucket of each value; what is below 1 is in bucket 0."""
    positive = np.maximum(np.asarray(values, dtype=np.float64), 1.0)
    return np.floor(np.log(positive) / _LOG_GROWTH).astype(np.int64)


def middle_of(indices: Indices) -> NDArray[np.float64]:
    """The geometric middle of each bucket."""
    return np.asarray(np.exp((indices + 0.5) * _LOG_GROWTH), dtype=np.float64)


def bucket_quantile(indices: Indices, counts: Counts, q: float) -> float | None:
    """The quantile ``q`` (0 to 1) of counted values, between order statistics as ``numpy.quantile`` has it.

    ``indices`` ascend. ``None`` where nothing was counted.
    """
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"a quantile is between 0 and 1, not {q}")
    ends = np.cumsum(counts)
    if not ends.size or ends[-1] <= 0:
        return None
    rank = q * (int(ends[-1]) - 1)
    below = int(np.floor(rank))
    around = np.searchsorted(ends, [below, min(below + 1, int(ends[-1]) - 1)], side="right")
    low, high = middle_of(indices[around])
    return float(low + (high - low) * (rank - below))


class LogCounts:
    """A histogram that is being filled. ``total`` and ``maximum`` are in the unit of the values."""

    __slots__ = ("_counts", "count", "maximum", "total")

    def __init__(self) -> None:
        self._counts: Counts = np.zeros(0, dtype=np.int64)
        self.count = 0
        self.total = 0
        self.maximum = 0

    def add(self, values: NDArray[np.int64]) -> None:
        """Whole numbers (nanoseconds); what is below 1 counts in bucket 0, and as 0 in the sum where negative."""
        if not values.size:
            return
        counted = np.bincount(bucket_of(values))
        if counted.size > self._counts.size:
            grown = np.zeros(counted.size, dtype=np.int64)
            grown[: self._counts.size] = self._counts
            self._counts = grown
        self._counts[: counted.size] += counted
        self.count += int(values.size)
        self.total += int(np.maximum(values, 0).sum())
        self.maximum = max(self.maximum, int(values.max()))

    def filled(self) -> tuple[Indices, Counts]:
        """The buckets that hold something, ascending, and how many values each holds."""
        indices = np.flatnonzero(self._counts).astype(np.int64)
        return indices, self._counts[indices]
