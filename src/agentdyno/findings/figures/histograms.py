"""Histograms of durations: made, added up, and asked for quantiles. Seconds outside, nanoseconds inside."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from agentdyno.model.load import Histogram
from agentdyno.stats.histogram import GROWTH, Counts, Indices, LogCounts, bucket_of, bucket_quantile, middle_of

_NS = 1e9


def histogram(values_ns: NDArray[np.int64]) -> Histogram:
    """Of durations in whole nanoseconds; what is below 1 ns counts in the first bucket."""
    counts = LogCounts()
    counts.add(np.asarray(values_ns, dtype=np.int64))
    return from_counts(counts)


def from_counts(counts: LogCounts) -> Histogram:
    """Of counted nanoseconds."""
    indices, numbers = counts.filled()
    buckets = {str(index): number for index, number in zip(indices.tolist(), numbers.tolist(), strict=True)}
    return Histogram(buckets, counts.count, counts.total / _NS, counts.maximum / _NS)


def merged(histograms: Iterable[Histogram]) -> Histogram:
    """All values of all of them."""
    buckets: dict[str, int] = {}
    count, total, maximum = 0, 0.0, 0.0
    for one in histograms:
        for name, number in one.buckets.items():
            buckets[name] = buckets.get(name, 0) + number
        count += one.count
        total += one.total
        maximum = max(maximum, one.maximum)
    return Histogram({name: buckets[name] for name in sorted(buckets, key=int)}, count, total, maximum)


def quantile(h: Histogram, q: float) -> float | None:
    """Seconds, right to half a percent; ``None`` where nothing was counted."""
    found = bucket_quantile(*_arrays(h), q)
    # The middle of the last bucket may lie above everything that was seen.
    return None if found is None else min(found / _NS, h.maximum)


def mean(h: Histogram) -> float | None:
    """Seconds; exact. ``None`` where nothing was counted."""
    return h.total / h.count if h.count else None


def share_above(h: Histogram, seconds: float) -> float | None:
    """The share of values above ``seconds``; the bucket that ``seconds`` is in counts in proportion.

    ``None`` where nothing was counted.
    """
    if not h.count:
        return None
    if seconds >= h.maximum:
        return 0.0
    if seconds <= 0.0:
        return 1.0
    indices, counts = _arrays(h)
    at = float(max(seconds * _NS, 1.0))
    bucket = int(bucket_of(np.array([at]))[0])
    above = int(counts[indices > bucket].sum())
    inside = int(counts[indices == bucket].sum())
    low, high = GROWTH**bucket, GROWTH ** (bucket + 1)
    part = min(max((high - at) / (high - low), 0.0), 1.0)
    return (above + inside * part) / h.count


def spread(h: Histogram) -> tuple[tuple[float, int], ...]:
    """What a picture of the distribution is drawn from: the middle of each bucket in seconds, and its count."""
    indices, counts = _arrays(h)
    return tuple(zip((middle_of(indices) / _NS).tolist(), counts.tolist(), strict=True))


def _arrays(h: Histogram) -> tuple[Indices, Counts]:
    indices = np.fromiter((int(name) for name in h.buckets), dtype=np.int64, count=len(h.buckets))
    counts = np.fromiter(h.buckets.values(), dtype=np.int64, count=len(h.buckets))
    order = np.argsort(indices, kind="stable")
    return indices[order], counts[order]
