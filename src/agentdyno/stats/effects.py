"""How large a difference is: Hodges-Lehmann shifts and ratios with intervals, and standardised effects."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .distributions import normal_quantile, rank_sum_cdf, signed_rank_cdf, use_exact_rank_sum
from .intervals import Interval
from .samples import Array, Values, require_inside_unit, thin_to_quantiles, to_array, to_logs
from .significance import rank_sum_u

_MOST_PAIRS = 4_000_000
_MOST_PER_SIDE = 2_000
_MOST_WALSH_VALUES = 2_800
_EXACT_SIGNED_RANK = 50


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point with the interval that says how far it can be trusted."""

    point: float
    interval: Interval


def hodges_lehmann_shift(x: Values, y: Values, confidence: float = 0.99) -> Estimate:
    """How far y lies above x: the median of all differences y - x, in the unit of the values.

    The interval inverts the Mann-Whitney test (exact where that test is, ties ignored); it is
    (-inf, inf) when the samples are too small for the confidence. Above 4,000,000 pairs each side is first
    thinned to its evenly spaced quantiles; the interval still uses the true sample sizes.
    """
    return _shift(to_array(x, "x"), to_array(y, "y"), confidence)


def hodges_lehmann_ratio(baseline: Values, candidate: Values, confidence: float = 0.99) -> Estimate:
    """How many times the baseline the candidate is (1.03: 3 % more), all values above zero.

    The exponential of the Hodges-Lehmann shift of the logarithms; see `hodges_lehmann_shift` for the
    interval, which is (0, inf) when the samples are too small, and for what happens to large samples.
    """
    return _exp(_shift(to_logs(baseline, "baseline"), to_logs(candidate, "candidate"), confidence))


def paired_ratio(baseline: Values, candidate: Values, confidence: float = 0.99) -> Estimate:
    """How many times the baseline the candidate is, for values paired by position, all above zero.

    The exponential of the median of the Walsh averages of log(candidate / baseline), with the interval
    that inverts the signed-rank test (exact up to 50 pairs); (0, inf) when there are too few pairs. Above
    2,800 pairs the log-ratios are first thinned to their evenly spaced quantiles.
    """
    first, second = to_logs(baseline, "baseline"), to_logs(candidate, "candidate")
    if first.size != second.size:
        raise ValueError(f"baseline and candidate must pair up, got {first.size} and {second.size}")
    n = first.size
    total = n * (n + 1) // 2
    order = _signed_rank_order(n, (1.0 - require_inside_unit(confidence, "confidence")) / 2.0)
    logs = thin_to_quantiles(second - first, _MOST_WALSH_VALUES)
    walsh = np.concatenate([(logs[i:] + logs[i]) / 2.0 for i in range(logs.size)])
    return _exp(_estimate(walsh, order, total, confidence))


def cliffs_delta(x: Values, y: Values) -> float:
    """P(x > y) - P(x < y) over all pairs, from -1 to 1: positive when x tends to be the larger."""
    first, second = to_array(x, "x"), to_array(y, "y")
    u, _ = rank_sum_u(first, second)
    return 2.0 * u / (first.size * second.size) - 1.0


def cohens_d(x: Values, y: Values) -> float:
    """(mean of x - mean of y) in pooled standard deviations; needs at least 2 values on each side.

    Without any spread it is 0.0 for equal means and infinite otherwise.
    """
    first, second = to_array(x, "x", at_least=2), to_array(y, "y", at_least=2)
    difference = float(first.mean() - second.mean())
    if np.ptp(first) == 0.0 and np.ptp(second) == 0.0:
        return 0.0 if first[0] == second[0] else math.copysign(math.inf, difference)
    squares = (first.size - 1) * first.var(ddof=1) + (second.size - 1) * second.var(ddof=1)
    return difference / math.sqrt(float(squares) / (first.size + second.size - 2))


def _shift(x: Array, y: Array, confidence: float) -> Estimate:
    tail = (1.0 - require_inside_unit(confidence, "confidence")) / 2.0
    order = _rank_sum_order(x.size, y.size, tail)
    total = x.size * y.size
    if total > _MOST_PAIRS:
        smaller = min(x.size, y.size, _MOST_PER_SIDE)
        # The larger side keeps whatever room the smaller one leaves.
        sizes = (smaller, _MOST_PAIRS // smaller) if x.size <= y.size else (_MOST_PAIRS // smaller, smaller)
        x, y = thin_to_quantiles(x, sizes[0]), thin_to_quantiles(y, sizes[1])
    return _estimate(np.subtract.outer(y, x).ravel(), order, total, confidence)


def _rank_sum_order(n: int, m: int, tail: float) -> int:
    """Largest k with P(U < k) <= tail: the k-th smallest and largest differences bound the shift."""
    if use_exact_rank_sum(n, m):
        return int(np.searchsorted(rank_sum_cdf(n, m), tail, side="right"))
    deviation = math.sqrt(n * m * (n + m + 1) / 12.0)
    return max(0, math.floor(n * m / 2.0 + 0.5 + normal_quantile(tail) * deviation))


def _signed_rank_order(n: int, tail: float) -> int:
    """Largest k with P(W < k) <= tail: the k-th smallest and largest Walsh averages bound the centre."""
    if n <= _EXACT_SIGNED_RANK:
        return int(np.searchsorted(signed_rank_cdf(n), tail, side="right"))
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24.0)
    return max(0, math.floor(n * (n + 1) / 4.0 + 0.5 + normal_quantile(tail) * deviation))


def _estimate(differences: Array, order: int, total: int, confidence: float) -> Estimate:
    """Median and order-statistic interval; `order` counts from either end of `total` differences.

    After thinning there are fewer differences than `total`, and the order shrinks in proportion.
    """
    size = differences.size
    middle = [(size - 1) // 2, size // 2]
    if order == 0:
        ordered = np.partition(differences, middle)
        interval = Interval(-math.inf, math.inf, confidence)
    else:
        place = order - 1 if size == total else min(int((order - 1) / total * size), (size - 1) // 2)
        ordered = np.partition(differences, [place, *middle, size - 1 - place])
        interval = Interval(float(ordered[place]), float(ordered[size - 1 - place]), confidence)
    return Estimate(float(ordered[middle[0]] + ordered[middle[1]]) / 2.0, interval)


def _exp(logs: Estimate) -> Estimate:
    with np.errstate(over="ignore"):
        point, low, high = np.exp([logs.point, logs.interval.low, logs.interval.high])
    return Estimate(float(point), Interval(float(low), float(high), logs.interval.confidence))
