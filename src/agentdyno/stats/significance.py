"""Significance tests. Every p-value is two-sided, except that of the equivalence test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .distributions import (
    fair_coin_cdf,
    rank_sum_cdf,
    signed_rank_cdf,
    t_cdf,
    two_sided_p,
    use_exact_rank_sum,
)
from .intervals import Interval
from .samples import Array, Values, require_count, require_finite, to_array

_EXACT_SIGNED_RANK = 50
_EXACT_TIED_SIGNED_RANK = 13
_EXACT_MCNEMAR = 25


@dataclass(frozen=True, slots=True)
class Significance:
    """Outcome of a test: its statistic, its p-value (0..1), and in words how the p-value was reached."""

    statistic: float
    p_value: float
    method: str


def mann_whitney(x: Values, y: Values) -> Significance:
    """Whether two independent samples differ in location; the statistic is U of x.

    Exact without ties when one side has at most 8 values (and there are at most a million pairs);
    otherwise the normal approximation with tie and continuity corrections. All values equal gives p = 1.
    """
    first, second = to_array(x, "x"), to_array(y, "y")
    n, m = first.size, second.size
    u, counts = rank_sum_u(first, second)
    if counts.max() == 1 and use_exact_rank_sum(n, m):
        smaller = min(u, n * m - u)
        p = min(1.0, 2.0 * float(rank_sum_cdf(n, m)[round(smaller)]))
        return Significance(u, p, "mann-whitney exact")
    total = n + m
    variance = n * m / 12.0 * ((total + 1) - tie_term(counts) / (total * (total - 1)))
    if counts.size == 1 or variance <= 0.0:
        return Significance(u, 1.0, "mann-whitney all equal")
    z = (abs(u - n * m / 2.0) - 0.5) / math.sqrt(variance)
    return Significance(u, two_sided_p(max(z, 0.0)), "mann-whitney normal")


def wilcoxon_signed_rank(differences: Values) -> Significance:
    """Whether paired differences centre on zero; the statistic is the smaller signed rank sum.

    Zeros are dropped. Exact up to 50 differences without ties or zeros, and up to 13 with them (by the
    permutation law of the tied ranks); otherwise normal with tie correction. All zero gives p = 1.
    """
    array = to_array(differences, "differences")
    nonzero = array[array != 0.0]
    n = nonzero.size
    if n == 0:
        return Significance(0.0, 1.0, "wilcoxon all zero")
    ranks, counts = rank_with_ties(np.abs(nonzero))
    positive = float(ranks[nonzero > 0].sum())
    smaller = min(positive, n * (n + 1) / 2.0 - positive)
    plain = n == array.size and counts.max() == 1
    if plain and n <= _EXACT_SIGNED_RANK:
        p = min(1.0, 2.0 * float(signed_rank_cdf(n)[round(smaller)]))
        return Significance(smaller, p, "wilcoxon exact")
    if array.size <= _EXACT_TIED_SIGNED_RANK:
        p = min(1.0, 2.0 * _tied_signed_rank_cdf(ranks, smaller))
        return Significance(smaller, p, "wilcoxon exact with ties")
    variance = (n * (n + 1) * (2 * n + 1) - tie_term(counts) / 2.0) / 24.0
    z = (smaller - n * (n + 1) / 4.0) / math.sqrt(variance)
    return Significance(smaller, two_sided_p(z), "wilcoxon normal")


def sign_test(positive: int, negative: int) -> Significance:
    """Exact test that two outcomes are equally likely (ties left out); the statistic is `positive`."""
    positive = require_count(positive, "positive")
    negative = require_count(negative, "negative")
    return Significance(float(positive), _fair_coin_p(positive, negative), "sign exact")


def mcnemar(only_first: int, only_second: int) -> Significance:
    """Whether two paired yes/no outcomes differ, from the pairs where only one of the two said yes.

    Under 25 such pairs: exact binomial, the statistic is the smaller count. From 25: chi-square with
    continuity correction, the statistic is chi-square with one degree of freedom.
    """
    first = require_count(only_first, "only_first")
    second = require_count(only_second, "only_second")
    total = first + second
    if total < _EXACT_MCNEMAR:
        return Significance(float(min(first, second)), _fair_coin_p(first, second), "mcnemar exact")
    chi_square = max(abs(first - second) - 1, 0) ** 2 / total
    return Significance(chi_square, two_sided_p(math.sqrt(chi_square)), "mcnemar chi-square")


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: compare each with the family-wide alpha.

    An empty family gives an empty list.
    """
    for i, p in enumerate(p_values):
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p_values[{i}] must lie between 0 and 1, got {p}")
    count = len(p_values)
    adjusted = [0.0] * count
    running = 0.0
    for place, i in enumerate(sorted(range(count), key=lambda j: p_values[j])):
        running = max(running, min(1.0, float(p_values[i]) * (count - place)))
        adjusted[i] = running
    return adjusted


def equivalent(interval: Interval, margin_low: float, margin_high: float) -> bool:
    """Whether the whole interval lies within the margins (ends included), so the effect is negligible."""
    if not margin_low <= margin_high:
        raise ValueError(f"margin_low must not exceed margin_high, got {margin_low} and {margin_high}")
    return margin_low <= interval.low and interval.high <= margin_high


def tost_t(values: Values, low: float, high: float) -> Significance:
    """Two one-sided t-tests that the mean lies between `low` and `high`; a small p says equivalent.

    Give paired differences for the paired test. Needs at least 2 values. The statistic is the t of the
    side with the larger p, infinite when the values are all equal.
    """
    array = to_array(values, at_least=2)
    if not require_finite(low, "low") < require_finite(high, "high"):
        raise ValueError(f"low must be below high, got {low} and {high}")
    mean = float(array.mean())
    if array.min() == array.max():
        inside = low < float(array[0]) < high
        return Significance(math.inf if inside else -math.inf, 0.0 if inside else 1.0, "tost all equal")
    error = float(array.std(ddof=1)) / math.sqrt(array.size)
    t = min((mean - low) / error, (high - mean) / error)
    return Significance(t, t_cdf(-t, array.size - 1), "tost t")


def _fair_coin_p(first: int, second: int) -> float:
    return min(1.0, 2.0 * fair_coin_cdf(min(first, second), first + second))


def _tied_signed_rank_cdf(ranks: Array, smaller: float) -> float:
    """P(W <= smaller) over all sign patterns of these ranks; doubling makes mean ranks whole numbers."""
    doubled = np.rint(ranks * 2.0).astype(np.int64)
    counts = np.zeros(int(doubled.sum()) + 1)
    counts[0] = 1.0
    for rank in doubled:
        counts[rank:] += counts[:-rank].copy()
    return float(counts[: round(smaller * 2.0) + 1].sum()) / 2.0**ranks.size


def rank_with_ties(values: Array) -> tuple[Array, npt.NDArray[np.int64]]:
    """Ranks from 1, tied values sharing their mean rank, and the size of every group of equal values."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    counts = counts.astype(np.int64)
    last = np.cumsum(counts)
    mean_rank = last - (counts - 1) / 2.0
    return mean_rank[inverse], counts


def tie_term(counts: npt.NDArray[np.int64]) -> float:
    """Sum of t^3 - t over the groups of tied values: the tie correction of the rank tests."""
    sizes = counts.astype(np.float64)
    return float((sizes**3 - sizes).sum())


def rank_sum_u(x: Array, y: Array) -> tuple[float, npt.NDArray[np.int64]]:
    """Mann-Whitney U of x (pairs with x > y, ties counting half) and the pooled tie group sizes."""
    ranks, counts = rank_with_ties(np.concatenate([x, y]))
    u = float(ranks[: x.size].sum()) - x.size * (x.size + 1) / 2.0
    return u, counts
