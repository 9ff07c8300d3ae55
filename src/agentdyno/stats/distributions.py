"""Reference distributions: normal, Student t, binomial, and the exact null laws of the rank tests.

`scipy.special` is imported where nothing here is precise: importing it costs more than most of what is computed.
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
_LARGEST_T = 1e100


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
    """The t below which `probability` of Student's t with `df` degrees of freedom lies."""
    from . import student

    outside = min(probability, 1.0 - probability)
    if outside >= student.SMALLEST_TAIL and student.FEWEST <= df <= student.MOST:
        return math.copysign(student.quantile_of_tail(outside, df), probability - 0.5)
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def t_cdf(t: float, df: float) -> float:
    """Probability that Student's t with `df` degrees of freedom is at most t."""
    from . import student

    if student.FEWEST <= df <= student.MOST and abs(t) < _LARGEST_T:
        outside = student.tail(abs(t), df)
        return outside if t < 0.0 else 1.0 - outside
    from scipy.special import stdtr

    return float(stdtr(df, t))


@lru_cache(maxsize=256)
def noncentral_t_shift(probability: float, df: float, t: float) -> float:
    """The noncentrality with which noncentral t with `df` degrees of freedom is at most `t` with `probability`."""
    from . import student

    if student.FEWEST <= df <= student.MOST and 0.0 < probability < 1.0:
        found = student.noncentral_shift(probability, df, t)
        if math.isfinite(found):
            return found
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
