"""Reference distributions: normal, Student t, binomial, and the exact null laws of the rank tests.

`scipy.special` is imported on first use: importing it costs more than most of what is computed here.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from .samples import Array

_NORMAL = NormalDist()
_EXACT_SMALL_SIDE = 8
_EXACT_PAIRS = 1_000_000
_EXACT_TOSSES = 5_000
_MANY = 1_000.0
_LEAST_TAIL = 1e-9
_LEAST_TAIL_OF_SERIES = 1e-3
_MOST_STEPS = 60
_MOST_TERMS = 1_000
_PRECISE = 1e-16
_TINY = 1e-300
_DIRECT_GAMMA = 60.0


def normal_quantile(probability: float) -> float:
    """The z below which `probability` of a standard normal lies."""
    return _NORMAL.inv_cdf(probability)


def normal_cdf(z: float) -> float:
    """Probability that a standard normal is at most z, precise in both tails."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def two_sided_p(z: float) -> float:
    """Probability that a standard normal is at least as far from zero as z."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def t_quantile(probability: float, df: float) -> float:
    """The t below which `probability` of Student's t with `df` degrees of freedom lies.

    Worked out here for all that intervals ask for, to 12 digits at least: importing `scipy.special` takes longer than
    all else that a run of a suite computes.
    """
    if (own := own_t_quantile(probability, df)) is not None:
        return own
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


# Student's t without SciPy. The probability beyond t is half of the regularised incomplete beta function at
# df / (df + t²), which a continued fraction gives to 15 digits (DiDonato and Morris 1992, TOMS 708); Newton's method
# turns it round.


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
    return math.sqrt(df) * math.pow(2.0 * math.sqrt(df) * tail * _beta_half(df / 2.0), -1.0 / df)


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


def t_cdf(t: float, df: float) -> float:
    """Probability that Student's t with `df` degrees of freedom is at most t."""
    from scipy.special import stdtr

    return float(stdtr(df, t))


def noncentral_t_shift(probability: float, df: float, t: float) -> float:
    """The noncentrality with which noncentral t with `df` degrees of freedom is at most `t` with `probability`."""
    from scipy.special import nctdtrinc

    return float(nctdtrinc(df, probability, t))


@lru_cache(maxsize=256)
def fair_coin_cdf(heads: int, n: int) -> float:
    """Probability of at most `heads` heads in n fair tosses.

    Counted in whole numbers up to 5,000 tosses: that takes milliseconds at the most, where importing `scipy.special`
    takes hundreds, and the median of every run has an interval that asks for nothing else.
    """
    if heads < 0:
        return 0.0
    if heads >= n:
        return 1.0
    if n > _EXACT_TOSSES:
        from scipy.special import betainc

        return float(betainc(n - heads, heads + 1, 0.5))
    ways = total = 1
    for count in range(1, heads + 1):
        ways = ways * (n - count + 1) // count
        total += ways
    return total / (1 << n)


def use_exact_rank_sum(n: int, m: int) -> bool:
    """Whether the exact Mann-Whitney law is used: one side of at most 8, at most a million pairs."""
    return min(n, m) <= _EXACT_SMALL_SIDE and n * m <= _EXACT_PAIRS


@lru_cache(maxsize=64)
def rank_sum_cdf(n: int, m: int) -> Array:
    """Exact P(U <= u) without ties, for u = 0 .. floor(nm/2); the rest follows by symmetry. Read-only.

    The counts are the coefficients of the Gaussian binomial, the product of (1 - q^(m+i)) / (1 - q^i) over
    i = 1..n, kept as whole numbers because the alternating signs would ruin floats.
    """
    n, m = min(n, m), max(n, m)
    total = math.comb(n + m, n)
    size = n * m // 2 + 1
    counts: npt.NDArray[np.object_] = np.zeros(size, dtype=np.object_)
    counts[0] = 1
    for i in range(1, n + 1):
        if m + i < size:
            counts[m + i :] -= counts[: size - (m + i)].copy()
        # Dividing by 1 - q^i is a running sum in steps of i.
        padded = np.concatenate([counts, np.zeros(-size % i, dtype=np.object_)])
        counts = np.cumsum(padded.reshape(-1, i), axis=0, dtype=np.object_).reshape(-1)[:size]
    cdf: Array = np.asarray(np.cumsum(counts, dtype=np.object_) / total, dtype=np.float64)
    cdf.flags.writeable = False
    return cdf


@lru_cache(maxsize=64)
def signed_rank_cdf(n: int) -> Array:
    """Exact P(W <= w) of the signed-rank sum of n untied differences, for w = 0 .. n(n+1)/2. Read-only."""
    if n > 50:
        raise ValueError(f"the exact signed-rank law is kept to n <= 50, got {n}")
    counts = np.zeros(n * (n + 1) // 2 + 1, dtype=np.float64)
    counts[0] = 1.0
    for rank in range(1, n + 1):
        counts[rank:] += counts[:-rank].copy()
    cdf = np.cumsum(counts) / 2.0**n
    cdf.flags.writeable = False
    return cdf
