"""Confidence intervals of a mean, a proportion, a median and a clustered mean."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from .distributions import fair_coin_cdf, normal_quantile, t_quantile
from .samples import Values, require_count, require_inside_unit, to_array


@dataclass(frozen=True, slots=True)
class Interval:
    """A range believed to hold the true value with probability `confidence` (0..1); ends may be infinite."""

    low: float
    high: float
    confidence: float


def t_interval(values: Values, confidence: float = 0.95) -> Interval:
    """Student's interval of the mean, in the unit of the values; needs at least 2 values."""
    array = to_array(values, at_least=2)
    require_inside_unit(confidence, "confidence")
    mean = float(array.mean())
    if array.min() == array.max():
        return Interval(float(array[0]), float(array[0]), confidence)
    standard_error = float(array.std(ddof=1)) / math.sqrt(array.size)
    half = t_quantile(0.5 + confidence / 2.0, array.size - 1) * standard_error
    return Interval(mean - half, mean + half, confidence)


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a proportion (0..1), for `successes` out of `n` >= 1 trials."""
    n = require_count(n, "n", at_least=1)
    successes = require_count(successes, "successes")
    if successes > n:
        raise ValueError(f"successes must not exceed n, got {successes} of {n}")
    return share_interval(successes / n, n, confidence)


def share_interval(share: float, n: float, confidence: float = 0.95) -> Interval:
    """Wilson's interval of a `share` (0..1) that is as certain as one of `n` > 0 trials, which may be a fraction."""
    if not 0.0 <= share <= 1.0 or not n > 0:
        raise ValueError(f"share must be 0..1 of more than 0 trials, got {share} of {n}")
    z = normal_quantile(0.5 + require_inside_unit(confidence, "confidence") / 2.0)
    denominator = 1.0 + z * z / n
    centre = (share + z * z / (2.0 * n)) / denominator
    half = z * math.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n)) / denominator
    low = 0.0 if share == 0.0 else max(0.0, centre - half)
    high = 1.0 if share == 1.0 else min(1.0, centre + half)
    return Interval(low, high, confidence)


def median_interval(values: Values, confidence: float = 0.95) -> Interval | None:
    """Distribution-free interval of the median, between two of the values themselves.

    The binomial law is exact, so the true confidence is at least the one asked for. None when even the
    whole range of the sample falls short of it: under 6 values at 95 %, under 8 at 99 %.
    """
    array = np.sort(to_array(values))
    require_inside_unit(confidence, "confidence")
    rank = _median_rank(array.size, (1.0 - confidence) / 2.0)
    if rank == 0:
        return None
    return Interval(float(array[rank - 1]), float(array[array.size - rank]), confidence)


def clustered_mean_interval(
    values: Values, clusters: Sequence[Hashable], confidence: float = 0.95
) -> Interval | None:
    """Interval of the mean when values that share a cluster label are not independent.

    Cluster-robust standard error with the G / (G - 1) correction and Student's t with G - 1 degrees of
    freedom, for G clusters. None for one cluster: nothing is then known about how clusters differ.
    """
    array = to_array(values)
    require_inside_unit(confidence, "confidence")
    if len(clusters) != array.size:
        raise ValueError(f"values and clusters must pair up, got {array.size} and {len(clusters)}")
    codes: dict[Hashable, int] = {}
    membership = [codes.setdefault(label, len(codes)) for label in clusters]
    count = len(codes)
    if count < 2:
        return None
    mean = float(array.mean())
    sums = np.bincount(membership, weights=array - mean, minlength=count)
    variance = count / (count - 1) * float((sums**2).sum()) / array.size**2
    half = t_quantile(0.5 + confidence / 2.0, count - 1) * math.sqrt(variance)
    return Interval(mean - half, mean + half, confidence)


def _median_rank(n: int, tail: float) -> int:
    """Largest k such that fewer than k of n values fall below the median with probability <= tail."""
    rank = max(0, int(n / 2.0 + normal_quantile(tail) * math.sqrt(n) / 2.0))
    while rank > 0 and fair_coin_cdf(rank - 1, n) > tail:
        rank -= 1
    while rank < n // 2 and fair_coin_cdf(rank, n) <= tail:
        rank += 1
    return rank
