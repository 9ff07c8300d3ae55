"""Student's t without SciPy, whose import takes longer than everything that a command asks of it.

The tail is the regularised incomplete beta function, by the continued fraction of Numerical Recipes (6.4), whose
factor in front is taken from the gamma function itself or from the series of its ratio: differences of logarithms
would lose digits. Agrees with SciPy to eleven digits (``tests/stats/test_student.py``).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

FEWEST, MOST = 1.0, 100_000.0
"""Degrees of freedom between which this is precise and quick."""
SMALLEST_TAIL = 1e-100
_TINY = 1e-300
_STEPS = 2_000
_ROUNDS = 60
_DIRECT = 100.0
"""Up to here the gamma function of ``a`` and ``a + 1/2`` is itself a float."""
_ROUNDED = 1e-12
_FEWEST_POINTS, _WIDEST_STEP = 300, 0.02
_NOTHING = 36.0
"""A density that is smaller by this power of e adds nothing that a float could hold."""
_FAR_OUT = 0.05
"""Below this probability the tail is nearly a straight line of logarithms, and solved as one."""


def tail(t: float, df: float) -> float:
    """Probability that Student's t is more than ``t``, which is not negative."""
    if t == 0.0:
        return 0.5
    square = t * t / df
    a = df / 2.0
    # x^a (1 - x)^b / B(a, b) with b = 1/2 and x = df / (df + t²)
    front = math.exp(-a * math.log1p(square)) * math.sqrt(square / (1.0 + square)) * _gamma_ratio(a)
    front /= math.sqrt(math.pi)
    x = 1.0 / (1.0 + square)
    if x < (a + 1.0) / (a + 2.5):
        return 0.5 * front * _fraction(a, 0.5, x) / a
    return 0.5 * (1.0 - front * _fraction(0.5, a, square / (1.0 + square)) / 0.5)


@lru_cache(maxsize=1024)  # comparisons of many agents ask for the same few again and again
def quantile_of_tail(probability: float, df: float) -> float:
    """The t that is exceeded with ``probability``, which is more than 0 and at most 1/2."""
    t = max(-NormalDist().inv_cdf(probability), 0.0)  # too small, as tails of t are heavier: so steps never overshoot
    before = math.inf
    for _ in range(_ROUNDS):
        found, density = tail(t, df), _density(t, df)
        if probability < _FAR_OUT:
            step = t * math.expm1(math.log(found / probability) * found / (t * density))
        else:
            step = (found - probability) / density
        t += step
        # Steps become small at a stroke. Then rounding takes over, and they go back and forth by a last digit.
        if abs(step) <= 1e-15 * t or before <= abs(step) < _ROUNDED * t:
            break
        before = abs(step)
    return t


def noncentral_shift(probability: float, df: float, t: float) -> float:
    """The noncentrality with which noncentral t is at most ``t`` with ``probability``; of neither 0 nor 1.

    Given the spread s that a sample happened to have, t is normal: P = E Φ(t s - shift), a sum over ``log s`` in
    which the trapezoidal rule is as precise as floats, since its terms die out on both sides.
    """
    normal = NormalDist()
    wanted, points = normal.inv_cdf(probability), _spreads(df)
    shift = t - wanted
    for _ in range(_ROUNDS):
        found = sum(weight * normal.cdf(t * spread - shift) for spread, weight in points)
        slope = sum(weight * normal.pdf(t * spread - shift) for spread, weight in points)
        if not 0.0 < found < 1.0 or not slope:
            return math.nan
        reached = normal.inv_cdf(found)  # nearly a straight line of the shift, where the probability is none
        step = (reached - wanted) * normal.pdf(reached) / slope
        shift += step
        if abs(step) <= 1e-13 * max(1.0, abs(shift)):
            break
    return shift


def _spreads(df: float) -> list[tuple[float, float]]:
    """Values of the square root of chi-squared by its degrees of freedom, with weights that add up to 1."""

    def log_density(log_spread: float) -> float:
        return df * (log_spread - math.expm1(2.0 * log_spread) / 2.0)

    low, high = -(_NOTHING / df + 0.5), 1.0
    while log_density(high) > -_NOTHING:
        high *= 1.5
    while log_density(low / 1.1) < -_NOTHING:
        low /= 1.1
    while log_density(high / 1.1) < -_NOTHING:
        high /= 1.1
    points = max(_FEWEST_POINTS, math.ceil((high - low) / _WIDEST_STEP))
    grid = [low + (high - low) * number / points for number in range(points + 1)]
    weights = [math.exp(log_density(item)) for item in grid]
    total = sum(weights)
    return [(math.exp(item), weight / total) for item, weight in zip(grid, weights, strict=True)]


def _density(t: float, df: float) -> float:
    return _gamma_ratio(df / 2.0) / math.sqrt(df * math.pi) * math.exp(-(df + 1.0) / 2.0 * math.log1p(t * t / df))


def _gamma_ratio(a: float) -> float:
    """Γ(a + 1/2) / Γ(a)."""
    if a <= _DIRECT:
        return math.gamma(a + 0.5) / math.gamma(a)
    terms = (1.0, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144)
    return math.sqrt(a) * sum(term / a**power for power, term in enumerate(terms))


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, _STEPS):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)),
        ):
            d = 1.0 + factor * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + factor / c
            c = c if abs(c) > _TINY else _TINY
            value *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return value
