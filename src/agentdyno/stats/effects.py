"""How large a difference is: Hodges-Lehmann shifts and ratios with intervals, and standardised effects."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .intervals import Interval
from .inversion import Inversion
from .inversion_ranks import invert_rank_sum, invert_signed_rank
from .samples import Values, require_inside_unit, to_array, to_logs
from .significance import rank_sum_u

_DIGITS = 12
"""Of a level: 1 - 0.99 is a little more than 0.01 to a computer."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point with the interval that says how far it can be trusted."""

    point: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Contrast:
    """An estimate of a difference or a ratio, and the p-value of there being none.

    The interval inverts the test: it leaves no difference out exactly where the p-value is below 1 - confidence.
    """

    point: float
    interval: Interval
    p_value: float


def hodges_lehmann_shift(x: Values, y: Values, confidence: float = 0.99) -> Contrast:
    """How far y lies above x: the median of all differences y - x, in the unit of the values.

    The test is that of Mann and Whitney, exact where one side has at most 8 values, and cautious where values of both
    sides are equal; the interval is (-inf, inf) when the samples are too small for the confidence.
    """
    first, second = to_array(x, "x"), to_array(y, "y")
    centre, found = invert_rank_sum(first, second, alpha=level_of(confidence))
    return Contrast(centre, Interval(found.low, found.high, confidence), found.p_value)


def hodges_lehmann_ratio(baseline: Values, candidate: Values, confidence: float = 0.99) -> Contrast:
    """How many times the baseline the candidate is (1.03: 3 % more), all values above zero.

    The exponential of the Hodges-Lehmann shift of the logarithms; see `hodges_lehmann_shift` for test and interval,
    which is (0, inf) when the samples are too small.
    """
    first, second = to_logs(baseline, "baseline"), to_logs(candidate, "candidate")
    return _as_ratio(*invert_rank_sum(first, second, alpha=level_of(confidence)), confidence)


def paired_ratio(baseline: Values, candidate: Values, confidence: float = 0.99) -> Contrast:
    """How many times the baseline the candidate is, for values paired by position, all above zero.

    The exponential of the median of the Walsh averages of log(candidate / baseline), with the signed-rank test (exact
    up to 50 pairs, cautious where pairs are equal) and its interval; (0, inf) when there are too few pairs.
    """
    first, second = to_logs(baseline, "baseline"), to_logs(candidate, "candidate")
    if first.size != second.size:
        raise ValueError(f"baseline and candidate must pair up, got {first.size} and {second.size}")
    return _as_ratio(*invert_signed_rank(second - first, alpha=level_of(confidence)), confidence)


def level_of(confidence: float) -> float:
    """The level of a test whose interval has this confidence."""
    return round(1.0 - require_inside_unit(confidence, "confidence"), _DIGITS)


def ratio_of(log: float) -> float:
    """A ratio from its logarithm; infinite where no number is so large."""
    with np.errstate(over="ignore"):
        return float(np.exp(log))


def ratio_interval(low: float, high: float) -> tuple[float, float]:
    """The ends of a ratio from those of its logarithm; it leaves 1 exactly where they leave 0."""
    ends = ratio_of(low), ratio_of(high)
    # The exponential of next to nothing is 1, and would say that there may be no difference.
    return (
        math.nextafter(1.0, 2.0) if low > 0.0 and ends[0] <= 1.0 else ends[0],
        math.nextafter(1.0, 0.0) if high < 0.0 and ends[1] >= 1.0 else ends[1],
    )


def _as_ratio(log: float, found: Inversion, confidence: float) -> Contrast:
    interval = Interval(*ratio_interval(found.low, found.high), confidence)
    return Contrast(ratio_of(log), interval, found.p_value)


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
