"""Trends over time: the Theil-Sen slope with Sen's interval and the Mann-Kendall test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..distributions import normal_quantile, two_sided_p
from ..intervals import Interval
from ..samples import Array, Values, median_of, require_inside_unit, to_array
from ..significance import rank_with_ties

_FEWEST_POINTS = 4
_MOST_POINTS = 500


@dataclass(frozen=True, slots=True)
class Trend:
    """A line through the values: `slope` and its interval in value units per time unit.

    `intercept` is the line's value at time zero; `p_value` is Mann-Kendall's, two-sided.
    """

    slope: float
    interval: Interval
    p_value: float
    intercept: float

    @property
    def is_growing(self) -> bool:
        """Whether the whole interval of the slope is above zero."""
        return self.interval.low > 0.0


def theil_sen(values: Values, times: Values | None = None, confidence: float = 0.95) -> Trend | None:
    """The median slope over all pairs of points; None under 4 points.

    `times` defaults to the positions 0, 1, 2, ... and may be in any unit and order, but not all equal. Where
    the points are too few for the confidence the interval is unbounded. Above 500 points, 500 of them
    evenly spread over time are used.
    """
    y = to_array(values)
    require_inside_unit(confidence, "confidence")
    x = np.arange(y.size, dtype=np.float64) if times is None else to_array(times, "times")
    if x.size != y.size:
        raise ValueError(f"values and times must pair up, got {y.size} and {x.size}")
    if y.size < _FEWEST_POINTS:
        return None
    if np.ptp(x) == 0.0:
        raise ValueError("times are all equal: a trend needs time to pass")
    order = np.argsort(x, kind="stable")
    if order.size > _MOST_POINTS:
        order = order[np.rint(np.linspace(0, order.size - 1, _MOST_POINTS)).astype(np.int64)]
    x, y = x[order], y[order]
    slopes, score = _pair_slopes(x, y)
    deviation = math.sqrt(_score_variance(x, y))
    slope = median_of(slopes)
    # One less for continuity: the score moves in steps of two.
    p = two_sided_p((abs(score) - 1.0) / deviation) if score and deviation > 0.0 else 1.0
    interval = _sen_interval(np.sort(slopes), deviation, confidence)
    return Trend(slope, interval, p, median_of(y) - slope * median_of(x))


def _pair_slopes(x: Array, y: Array) -> tuple[Array, float]:
    """Slopes of all pairs at different times (x ascending), and Kendall's score: rises minus falls."""
    first, second = np.triu_indices(x.size, k=1)
    rise, run = y[second] - y[first], x[second] - x[first]
    apart = run > 0.0
    rise, run = rise[apart], run[apart]
    return rise / run, float(np.sign(rise).sum())


def _sen_interval(slopes: Array, deviation: float, confidence: float) -> Interval:
    """Sen's (1968) order-statistic interval, with the rounding of `scipy.stats.theilslopes`."""
    reach = normal_quantile(0.5 + confidence / 2.0) * deviation
    low = round((slopes.size - reach) / 2.0) - 1
    high = round((slopes.size + reach) / 2.0)
    if deviation == 0.0:
        low, high = (slopes.size - 1) // 2, slopes.size // 2
    return Interval(
        float(slopes[low]) if low >= 0 else -math.inf,
        float(slopes[high]) if high < slopes.size else math.inf,
        confidence,
    )


def _score_variance(x: Array, y: Array) -> float:
    """Variance of Kendall's score when there is no trend, with ties in values and in times."""
    n = float(x.size)

    def terms(counts: npt.NDArray[np.int64]) -> tuple[float, float, float]:
        t = counts.astype(np.float64)
        pairs = t * (t - 1.0)
        return float((pairs * (2.0 * t + 5.0)).sum()), float((pairs * (t - 2.0)).sum()), float(pairs.sum())

    x_main, x_triples, x_pairs = terms(rank_with_ties(x)[1])
    y_main, y_triples, y_pairs = terms(rank_with_ties(y)[1])
    main = (n * (n - 1.0) * (2.0 * n + 5.0) - x_main - y_main) / 18.0
    triples = x_triples * y_triples / (9.0 * n * (n - 1.0) * (n - 2.0))
    return max(0.0, main + triples + x_pairs * y_pairs / (2.0 * n * (n - 1.0)))
