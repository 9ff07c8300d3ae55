"""Bootstrap intervals: bias-corrected and accelerated (BCa), and two-level for grouped values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .distributions import normal_cdf, normal_quantile
from .intervals import Interval
from .samples import Array, Values, medians_of, require_count, require_inside_unit, to_array

Statistic: TypeAlias = Literal["mean", "median"] | Callable[..., npt.ArrayLike]
"""A name, or a function called as `f(array, axis=...)` that reduces that axis, as `np.mean` does."""

_CHUNK_VALUES = 2_000_000
"""Most values resampled at once: 16 MB, whatever the size of the sample."""


def bca(
    values: Values,
    statistic: Statistic = "mean",
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Bias-corrected and accelerated interval of a statistic, in the statistic's unit.

    Needs at least 2 values; values that are all equal give a zero-width interval. The same seed gives the
    same interval.
    """
    array = to_array(values, at_least=2)
    require_inside_unit(confidence, "confidence")
    require_count(resamples, "resamples", at_least=1)
    observed = float(_reduce(array[np.newaxis, :], statistic)[0])
    if array.min() == array.max():
        return Interval(observed, observed, confidence)
    replicates = _resample(array, statistic, resamples, seed)
    levels = _bca_levels(observed, replicates, _jackknife(array, statistic), confidence)
    low, high = np.quantile(replicates, levels)
    return Interval(float(low), float(high), confidence)


def hierarchical(
    groups: Sequence[Values],
    statistic: Statistic = "median",
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Percentile interval of a statistic of all values pooled, when values within a group are alike.

    Each resample draws groups, then values within every drawn group, both with replacement: for samples
    within processes, or repeats within cases. With a single group the interval speaks of that group only.
    """
    arrays = [to_array(group, f"groups[{i}]") for i, group in enumerate(groups)]
    if not arrays:
        raise ValueError("groups needs at least 1 group, got 0")
    require_inside_unit(confidence, "confidence")
    require_count(resamples, "resamples", at_least=1)
    pooled = np.concatenate(arrays)
    sizes = np.array([a.size for a in arrays])
    starts = np.cumsum(sizes) - sizes
    rng = np.random.default_rng(seed)
    replicates = np.empty(resamples)
    for i in range(resamples):
        drawn = rng.integers(sizes.size, size=sizes.size)
        spans = np.repeat(sizes[drawn], sizes[drawn])
        picks = np.repeat(starts[drawn], sizes[drawn]) + (rng.random(spans.size) * spans).astype(np.int64)
        replicates[i] = _reduce(pooled[picks][np.newaxis, :], statistic)[0]
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(replicates, [tail, 1.0 - tail])
    return Interval(float(low), float(high), confidence)


def _reduce(rows: Array, statistic: Statistic) -> Array:
    """The statistic of every row."""
    if statistic == "mean":
        return np.asarray(rows.mean(axis=-1))
    if statistic == "median":
        return medians_of(rows)
    if isinstance(statistic, str):
        raise ValueError(f"statistic must be 'mean', 'median' or a function, got {statistic!r}")
    result = np.asarray(statistic(rows, axis=-1), dtype=np.float64)
    if result.shape != (rows.shape[0],):
        raise ValueError(f"statistic must reduce the given axis: {rows.shape} became {result.shape}")
    if not np.isfinite(result).all():
        raise ValueError("statistic gave NaN or infinity on resampled values")
    return result


def _resample(array: Array, statistic: Statistic, resamples: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK_VALUES // array.size)
    chunks = []
    for start in range(0, resamples, rows):
        shape = (min(rows, resamples - start), array.size)
        chunks.append(_reduce(array[rng.integers(array.size, size=shape)], statistic))
    return np.concatenate(chunks)


def _jackknife(array: Array, statistic: Statistic) -> Array:
    """The statistic with each value left out in turn."""
    n = array.size
    if statistic == "mean":
        return np.asarray((array.sum() - array) / (n - 1))
    if statistic == "median":
        ordered = np.sort(array)
        left_out = np.arange(n)
        middle = [np.where(j < left_out, ordered[j], ordered[j + 1]) for j in ((n - 2) // 2, (n - 1) // 2)]
        return np.asarray((middle[0] + middle[1]) / 2.0)
    rows = max(1, _CHUNK_VALUES // n)
    keep = np.arange(n - 1)
    chunks = []
    for start in range(0, n, rows):
        left_out = np.arange(start, min(n, start + rows))[:, np.newaxis]
        chunks.append(_reduce(array[keep + (keep >= left_out)], statistic))
    return np.concatenate(chunks)


def _bca_levels(observed: float, replicates: Array, jackknife: Array, confidence: float) -> list[float]:
    """The two quantile levels of the replicates that bound the interval (Efron 1987)."""
    below = float((replicates < observed).mean() + (replicates <= observed).mean()) / 2.0
    # A replicate distribution wholly on one side has no finite bias correction.
    edge = 0.5 / replicates.size
    bias = normal_quantile(min(max(below, edge), 1.0 - edge))
    pull = jackknife.mean() - jackknife
    spread = float((pull**2).sum())
    acceleration = float((pull**3).sum()) / (6.0 * spread**1.5) if spread > 0.0 else 0.0
    levels = []
    for probability in ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0):
        shifted = bias + normal_quantile(probability)
        denominator = 1.0 - acceleration * shifted
        # Past the pole the correction has left its range of validity: take the end of the replicates.
        z = bias + shifted / denominator if denominator > 0.0 else np.copysign(np.inf, shifted)
        levels.append(normal_cdf(z))
    return levels
