"""How noisy a series is over long stretches, when neighbouring points resemble each other and levels shift.

The mean of k correlated points varies by about long_run_variance / k, not variance / k: what looks like a change
must be held against the former.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..samples import Array, medians_of, quantiles_of

_MOST_CORRELATION = 0.97
_TRIM_SIGMAS = 2.5
_GREEDY_SPLITS = 3
_HIGHEST_ORDER = 4


@dataclass(frozen=True, slots=True)
class Noise:
    """Scatter around the levels: `variance` and `long_run_variance` in squared units of the values.

    `correlation` is that of neighbouring points (0..0.97, negative taken as 0). The long-run variance errs on the
    large side: it supposes a correlation one standard error above the estimate.
    """

    variance: float
    correlation: float
    long_run_variance: float

    @property
    def inflation(self) -> float:
        """How many correlated points tell as much as one independent one, at least 1."""
        return max(1.0, self.long_run_variance / self.variance) if self.variance > 0.0 else 1.0


def residuals(values: Array, changes: Sequence[int]) -> Array:
    """Distances from the mean of each stretch between the changes."""
    bounds = np.array([0, *changes], dtype=np.int64)
    lengths = np.diff(np.append(bounds, values.size))
    return values - np.repeat(np.add.reduceat(values, bounds) / lengths, lengths)


def estimate_noise(values: Array, changes: Sequence[int]) -> Noise:
    """Noise around the levels that these changes leave.

    Taking the mean off a stretch of length k lowers every covariance by long_run_variance / k, which is put back.
    The larger of the autoregressive and the Bartlett-weighted estimate counts.
    """
    n, stretches = values.size, len(changes) + 1
    left = residuals(values, changes)
    at_0 = _dot(left, left) / n
    if at_0 <= 0.0:
        return Noise(0.0, 0.0, 0.0)
    at_1 = _dot(left[1:], left[:-1]) / n
    long_run = at_0
    variance, correlation = at_0, 0.0
    for _ in range(4):
        taken = long_run * stretches / n
        variance = at_0 + taken
        correlation = _bounded((at_1 + taken) / variance)
        long_run = min(_autoregressive(variance, correlation), at_0 * n / stretches)
    cautious = _autoregressive(variance, _bounded(correlation + 1.0 / math.sqrt(n)))
    return Noise(variance, correlation, max(cautious, _bartlett(left, at_0)))


def starting_variance(values: Array) -> float:
    """A first long-run variance, before any change is known: the least of several, each too large with many changes.

    One comes from differences of points one and two apart, in which a change shows only at its own place; the
    others from the series after no, one, two and three splits at the largest step.
    """
    found = [_difference_variance(values), estimate_noise(values, []).long_run_variance]
    changes: list[int] = []
    for _ in range(_GREEDY_SPLITS):
        bounds = [0, *changes, values.size]
        splits = [(_best_split(values[a:b]), a) for a, b in pairwise(bounds)]
        (saved, at), offset = max(splits)
        if saved <= 0.0:
            break
        changes = sorted([*changes, offset + at])
        found.append(estimate_noise(values, changes).long_run_variance)
    return min(found)


def description_cost(values: Array, changes: Sequence[int], price: float) -> float:
    """What it costs to describe the values by these changes, `price` each, and autoregressive noise around them.

    Minus twice the log-likelihood with the order (up to 4) of least Bayesian information criterion. It tells a
    series that jumps from one that wanders: a jump surprises once, at its own place.
    """
    n = values.size
    left = residuals(values, changes)
    covariances = [_dot(left[k:], left[: n - k]) / n for k in range(min(_HIGHEST_ORDER, n - 1) + 1)]
    variance = covariances[0]
    if variance <= 0.0:
        return -math.inf
    cost, weights = n * math.log(variance), np.empty(0)
    for order in range(1, len(covariances)):
        # Levinson and Durbin: the fit of each order follows from the one below it.
        reflection = (covariances[order] - float(weights @ covariances[order - 1 : 0 : -1])) / variance
        weights = np.append(weights - reflection * weights[::-1], reflection)
        variance *= max(1.0 - reflection * reflection, 1e-12)
        cost = min(cost, n * math.log(variance) + order * math.log(n))
    return cost + price * len(changes)


def _dot(x: Array, y: Array) -> float:
    # The matrix product would start threads, whose number sways time and the last digits.
    return float(np.einsum("i,i->", x, y))


def _bounded(correlation: float) -> float:
    return min(max(correlation, 0.0), _MOST_CORRELATION)


def _autoregressive(variance: float, correlation: float) -> float:
    return variance * (1.0 + correlation) / (1.0 - correlation)


def _bartlett(left: Array, variance: float) -> float:
    """Sum of the autocovariances with linearly falling weights, over twice the cube root of n lags."""
    n = left.size
    lags = min(int(2.0 * n ** (1.0 / 3.0)), n - 1)
    terms = (2.0 * (1.0 - k / (lags + 1.0)) * _dot(left[k:], left[:-k]) / n for k in range(1, lags + 1))
    return variance + sum(terms)


def _difference_variance(values: Array) -> float:
    """Long-run variance of a first-order autoregression, from the growth of differences with their distance."""
    trimmed = []
    for distance in (1, 2):
        steps = np.abs(values[distance:] - values[:-distance])
        inner = steps[steps <= _TRIM_SIGMAS * robust_sigma(steps)]
        trimmed.append(_dot(inner, inner) / max(inner.size, 1))
    growth = trimmed[1] / trimmed[0] - 1.0 if trimmed[0] > 0.0 else 0.0
    correlation = _bounded(growth)
    steps = np.diff(values)
    variance = _dot(steps, steps) / (2.0 * steps.size) / (1.0 - correlation)
    return _autoregressive(variance, _bounded(growth + 1.0 / math.sqrt(values.size)))


def _best_split(values: Array, min_size: int = 4) -> tuple[float, int]:
    """What the best single split saves in squared distances, and its place; nothing when too short."""
    n = values.size
    if n < 2 * min_size:
        return -1.0, 0
    sums = np.cumsum(values - values.mean())[min_size - 1 : n - min_size]
    sizes = np.arange(min_size, n - min_size + 1, dtype=np.float64)
    saved = sums * sums * n / (sizes * (n - sizes))
    best = int(saved.argmax())
    return float(saved[best]), best + min_size


_HALF_WINDOW = 8
"""A window of 17 follows a new level after 9 points and is not carried away by 8 spikes in a row."""
_REACH = 3.0
"""How many robust sigmas a point may lie from the running median."""
_NORMAL_QUANTILES = ((0.5, 0.67449), (0.75, 1.15035), (0.9, 1.64485), (0.95, 1.95996))


def running_median(values: Array) -> Array:
    """Median of the 17 points around each one; the first and last windows serve the ends.

    A series shorter than that gets the widest odd window that fits.
    """
    half = min(_HALF_WINDOW, (values.size - 1) // 2)
    windows = np.lib.stride_tricks.sliding_window_view(values, 2 * half + 1)
    medians = medians_of(windows)
    missing = values.size - medians.size - half
    return np.concatenate([np.full(half, medians[0]), medians, np.full(missing, medians[-1])])


def robust_sigma(deviations: Array) -> float:
    """Sigma of deviations from zero: the scaled median of their sizes, in their unit.

    When over half are zero (rounded values) the next quantiles up to the 95 % one serve; 0.0 when all those are.
    """
    sizes = np.abs(deviations)
    quantiles = quantiles_of(sizes, [q for q, _ in _NORMAL_QUANTILES])
    for found, (_, normal) in zip(quantiles, _NORMAL_QUANTILES, strict=True):
        if found > 0.0:
            return found / normal
    return 0.0


def clip_spikes(values: Array) -> Array:
    """The values, none further than three robust sigmas from its running median."""
    centre = running_median(values)
    reach = _REACH * robust_sigma(values - centre)
    return np.clip(values, centre - reach, centre + reach)
