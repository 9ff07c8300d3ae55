"""Student's t without SciPy: what is asked of it in nearly every run is one quantile, and that is quickly found.

The probability beyond t is half of the regularised incomplete beta function at df / (df + t²), which a continued
fraction gives to 15 digits (DiDonato and Morris 1992, TOMS 708). Newton's method turns it round.
"""

from __future__ import annotations

import math
from statistics import NormalDist

_NORMAL = NormalDist()
_MANY = 1_000.0
_LEAST_TAIL = 1e-9
_LEAST_TAIL_OF_SERIES = 1e-3
_MOST_STEPS = 60
_MOST_TERMS = 1_000
_PRECISE = 1e-16
_TINY = 1e-300
_DIRECT_GAMMA = 60.0


def own_t_quantile(probability: float, df: float) -> float | None:
    """The t below which `probability` of Student's t lies, to 12 digits; ``None`` where that takes more than this."""
    tail = min(probability, 1.0 - probability)
    if not (df >= 1.0 and tail >= _LEAST_TAIL) or (df > _MANY and (tail < _LEAST_TAIL_OF_SERIES or df == math.inf)):
        return None
    if tail == 0.5:
        return 0.0
    z = -_NORMAL.inv_cdf(tail)
    t = _series(z, df) if df > _MANY else _by_newton(tail, df, z)
    return t if probability > 0.5 else -t


def _series(z: float, df: float) -> float:
    """Cornish and Fisher's series (Abramowitz and Stegun 26.7.5), for many degrees of freedom."""
    square, x = z * z, 1.0 / df
    first = (square + 1.0) / 4.0
    second = ((5.0 * square + 16.0) * square + 3.0) / 96.0
    third = (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0
    fourth = ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0) / 92160.0
    return z + z * x * (first + x * (second + x * (third + x * fourth)))


def _by_newton(tail: float, df: float, z: float) -> float:
    t = _power_law(tail, df) if df < 3.0 and tail < 0.1 else z + (z**3 + z) / (4.0 * df)
    for _ in range(_MOST_STEPS):
        # In the logarithm of the tail, which is nearly straight far out: no step goes too far.
        beyond = _beyond(t, df)
        step = beyond * math.log(beyond / tail) / _density(t, df)
        moved = t + step if t + step > 0.0 else t / 2.0
        if abs(moved - t) <= 4e-16 * moved:
            break
        t = moved
    return t


def _power_law(tail: float, df: float) -> float:
    """What the tail of few degrees of freedom comes to look like."""
    return math.sqrt(df) * (df * tail * 2.0 * _beta_half(df / 2.0) / math.sqrt(df)) ** (-1.0 / df)


def _density(t: float, df: float) -> float:
    return math.exp(-(df + 1.0) / 2.0 * math.log1p(t * t / df)) / (math.sqrt(df) * _beta_half(df / 2.0))


def _beyond(t: float, df: float) -> float:
    """The probability of more than t, for a t above 0."""
    square = t * t
    a, x, rest = df / 2.0, df / (df + square), square / (df + square)
    # x^a (1 - x)^(1/2) / B(a, 1/2)
    front = math.exp(-a * math.log1p(square / df)) * math.sqrt(rest) / _beta_half(a)
    if x < (a + 1.0) / (a + 2.5):
        return 0.5 * front * _fraction(a, 0.5, x) / a
    return 0.5 - front * _fraction(0.5, a, rest)


def _beta_half(a: float) -> float:
    """B(a, 1/2), in which the two large gammas of a large `a` must not cancel."""
    if a < _DIRECT_GAMMA:
        return math.gamma(a) * math.sqrt(math.pi) / math.gamma(a + 0.5)
    # Stirling's series of Γ(a + 1/2) / Γ(a), whose next term is below 1e-17 from here on.
    x = 1.0 / a
    series = 1.0 + x * (
        -1 / 8 + x * (1 / 128 + x * (5 / 1024 + x * (-21 / 32768 + x * (-399 / 262144 + x * 869 / 4194304))))
    )
    return math.sqrt(math.pi / a) / series


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        change = 1.0
        for term in (even, odd):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > _TINY else _TINY)
            c = 1.0 + term / c
            c = c if abs(c) > _TINY else _TINY
            change = c * d
            value *= change
        if abs(change - 1.0) < _PRECISE:
            break
    return value
