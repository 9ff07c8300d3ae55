"""Tests by ranks never contradict their intervals, however coarse the values are."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.stats import inversion_ranks, mann_whitney
from agentdyno.stats.inversion import Inversion
from agentdyno.stats.inversion_ranks import invert_rank_sum, invert_signed_rank

from ..properties import examples

ALPHAS = st.sampled_from([0.01, 0.05, 0.2])
TICKS = st.sampled_from([0.0, 0.1, 1.0])


def agrees(found: Inversion, alpha: float) -> bool:
    return (found.p_value < alpha) == (not found.low <= 0.0 <= found.high)


def coarse(values: np.ndarray, tick: float) -> np.ndarray:
    return np.round(values / tick) * tick if tick else values


@given(st.lists(st.floats(-3, 3).map(lambda value: round(value, 1)), min_size=2, max_size=70), ALPHAS)
@examples(80)
def test_signed_ranks_never_contradict_their_interval(values: list[float], alpha: float) -> None:
    centre, found = invert_signed_rank(np.array(values), alpha=alpha)
    assert agrees(found, alpha)
    assert found.low <= centre <= found.high


@pytest.mark.parametrize("count", [8, 20, 50])
def test_signed_ranks_without_ties_are_wilcoxons_exact_test(count: int) -> None:
    values = np.random.default_rng(count).normal(0.3, 1.0, count)
    centre, found = invert_signed_rank(values, alpha=0.05)
    assert found.p_value == pytest.approx(scipy.stats.wilcoxon(values).pvalue)
    walsh = [(a + b) / 2 for i, a in enumerate(values) for b in values[i:]]
    assert centre == pytest.approx(np.median(walsh))


def test_thousands_of_signed_ranks_are_counted_without_keeping_their_averages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(1).normal(0.02, 1.0, 400)
    kept = invert_signed_rank(values, alpha=0.05)
    monkeypatch.setattr(inversion_ranks, "_MOST_WALSH", 10)
    counted = invert_signed_rank(values, alpha=0.05)
    assert counted[1].p_value == kept[1].p_value
    assert (counted[0], counted[1].low, counted[1].high) == pytest.approx((kept[0], kept[1].low, kept[1].high))
    expected = scipy.stats.wilcoxon(values, correction=True, method="approx").pvalue
    assert kept[1].p_value == pytest.approx(expected, rel=1e-6)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(-1, 1), TICKS, ALPHAS)
@examples(120)
def test_rank_sums_never_contradict_their_interval(
    n: int, m: int, seed: int, shift: float, tick: float, alpha: float
) -> None:
    random = np.random.default_rng(seed)
    first, second = coarse(random.normal(0, 0.5, n), tick), coarse(random.normal(shift, 0.5, m), tick)
    centre, found = invert_rank_sum(first, second, alpha=alpha)
    assert agrees(found, alpha)
    assert found.low <= centre <= found.high
    back = invert_rank_sum(second, first, alpha=alpha)[1]
    assert (back.p_value, back.low, back.high) == pytest.approx((found.p_value, -found.high, -found.low))


@pytest.mark.parametrize(("n", "m"), [(5, 7), (8, 40), (30, 25)])
def test_rank_sums_without_ties_are_the_test_of_mann_and_whitney(n: int, m: int) -> None:
    random = np.random.default_rng(n)
    first, second = random.normal(0, 1, n), random.normal(0.7, 1, m)
    centre, found = invert_rank_sum(first, second, alpha=0.05)
    if n <= 8:
        expected = scipy.stats.mannwhitneyu(first, second, method="exact").pvalue
    else:
        expected = scipy.stats.mannwhitneyu(first, second, method="asymptotic").pvalue
    assert found.p_value == pytest.approx(expected, rel=1e-6)
    assert centre == pytest.approx(np.median(np.subtract.outer(second, first)))


def test_thousands_of_differences_are_counted_without_keeping_them(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    first, second = random.normal(0, 1, 150), random.normal(0.2, 1, 180)
    kept = invert_rank_sum(first, second, alpha=0.05)
    monkeypatch.setattr(inversion_ranks, "_MOST_DIFFERENCES", 10)
    counted = invert_rank_sum(first, second, alpha=0.05)
    assert counted[1].p_value == kept[1].p_value
    assert (counted[0], counted[1].low, counted[1].high) == pytest.approx((kept[0], kept[1].low, kept[1].high))


@pytest.mark.parametrize("most", [10, 10**6])
def test_values_so_coarse_that_an_end_is_no_difference_are_decided_by_the_test_with_ties(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inversion_ranks, "_MOST_DIFFERENCES", most)
    first, second = np.array([3.0] * 14 + [4.0] * 6), np.array([3.0] * 4 + [4.0] * 16)
    found = invert_rank_sum(first, second, alpha=0.01)[1]
    assert found.p_value == mann_whitney(first, second).p_value < 0.01
    assert 0.0 < found.low < 1e-300
    assert found.high == pytest.approx(1.0)
    less = invert_rank_sum(first, np.array([3.0] * 9 + [4.0] * 11), alpha=0.01)[1]
    assert less.p_value == mann_whitney(first, [3.0] * 9 + [4.0] * 11).p_value > 0.01
    assert less.low <= 0.0 <= less.high


def test_values_that_are_all_equal_are_no_difference() -> None:
    same = np.full(9, 2.0)
    assert invert_rank_sum(same, same, alpha=0.05) == (0.0, Inversion(1.0, 0.0, 0.0, "mann-whitney normal"))
    assert invert_signed_rank(same - same, alpha=0.05)[1].p_value == 1.0
    assert math.isinf(invert_rank_sum(same[:2], same[:2] + 1, alpha=0.05)[1].low)
