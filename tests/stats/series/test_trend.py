"""Trends against SciPy, published critical values and false-alarm rates."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from agentdyno.stats import theil_sen

from ..properties import quick


@pytest.mark.parametrize("n", [6, 15, 80])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_slope_interval_and_intercept_equal_scipys(n: int, confidence: float) -> None:
    rng = np.random.default_rng(n)
    x, y = np.sort(rng.random(n)), rng.normal(size=n).round(1)
    expected = scipy_stats.theilslopes(y, x, confidence)
    got = theil_sen(y, x, confidence)
    assert got is not None
    assert (got.slope, got.intercept) == pytest.approx((expected.slope, expected.intercept))
    assert (got.interval.low, got.interval.high) == pytest.approx((expected.low_slope, expected.high_slope))


def test_the_p_value_is_mann_kendalls_hand_calculated() -> None:
    # S = 8 of 10 pairs rising minus falling, variance 5*4*15/18: z = 7 / sqrt(16.667).
    got = theil_sen([1.0, 2.0, 4.0, 3.0, 5.0])
    assert got is not None
    assert got.p_value == pytest.approx(math.erfc(7 / math.sqrt(300 / 18) / math.sqrt(2)))


def test_ties_in_values_and_times_enter_the_p_value_as_in_kendalls_tau() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 12, 60).astype(float), rng.integers(0, 6, 60).astype(float)
    y += 0.2 * x.round()
    got = theil_sen(y, x)
    assert got is not None
    score = abs(sum(np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i in range(60) for j in range(i)))
    # Kendall's tau has no continuity correction: (|S| - 1) / |S| is all that differs.
    z = scipy_stats.norm.isf(scipy_stats.kendalltau(x, y, method="asymptotic").pvalue / 2)
    assert scipy_stats.norm.isf(got.p_value / 2) == pytest.approx(z * (score - 1) / score, rel=1e-9)


def test_a_leak_is_growing_and_its_mirror_falling() -> None:
    y = 5.0 + 0.5 * np.arange(30) + np.random.default_rng(2).normal(0, 1.0, 30)
    up, down = theil_sen(y), theil_sen(-y)
    assert up is not None
    assert down is not None
    assert up.is_growing
    assert up.interval.high > 0.0
    assert down.interval.high < 0.0
    assert not down.is_growing
    assert up.slope == pytest.approx(0.5, abs=0.06)
    assert up.intercept == pytest.approx(5.0, abs=1.5)


def test_noise_alone_rarely_looks_like_a_trend() -> None:
    rng = np.random.default_rng(3)
    trends = [theil_sen(rng.lognormal(size=20)) for _ in range(1500)]
    assert np.mean([t is not None and (t.is_growing or t.interval.high < 0.0) for t in trends]) <= 0.06
    assert np.mean([t is not None and t.p_value < 0.05 for t in trends]) <= 0.06


def test_under_four_points_there_is_no_trend() -> None:
    assert theil_sen([1.0, 2.0, 3.0]) is None


def test_four_points_are_too_few_for_a_bounded_95_percent_interval() -> None:
    got = theil_sen([1.0, 2.0, 3.0, 4.0])
    assert got is not None
    assert (got.interval.low, got.interval.high) == (-math.inf, math.inf)
    assert not got.is_growing


def test_constant_values_have_a_certain_zero_slope() -> None:
    got = theil_sen([2.0] * 10)
    assert got is not None
    assert (got.slope, got.interval.low, got.interval.high, got.p_value) == (0.0, 0.0, 0.0, 1.0)


def test_an_outlier_does_not_move_the_slope() -> None:
    y = np.arange(21.0)
    y[10] = 1e6
    got = theil_sen(y)
    assert got is not None
    assert got.slope == 1.0


@quick
@given(st.permutations(list(range(12))))
def test_the_order_in_which_points_are_given_does_not_matter(order: list[int]) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.random(12), rng.random(12)
    assert theil_sen(y[order], x[order]) == theil_sen(y, x)


@quick
@given(st.lists(st.integers(-50, 50).map(float), min_size=4, max_size=30), st.integers(-5, 5))
def test_adding_a_line_adds_its_slope(values: list[float], slope: int) -> None:
    plain, tilted = theil_sen(values), theil_sen([v + slope * i for i, v in enumerate(values)])
    assert plain is not None
    assert tilted is not None
    assert tilted.slope == pytest.approx(plain.slope + slope, abs=1e-9)


def test_long_series_are_thinned_evenly() -> None:
    y = 0.001 * np.arange(5000) + np.random.default_rng(5).normal(0, 0.3, 5000)
    got = theil_sen(y)
    assert got is not None
    assert got.slope == pytest.approx(0.001, rel=0.02)
    assert got.interval.low < got.slope < got.interval.high
    assert got.is_growing


def test_times_must_pair_up_and_pass() -> None:
    with pytest.raises(ValueError, match="pair up"):
        theil_sen([1.0] * 5, [1.0] * 4)
    with pytest.raises(ValueError, match="all equal"):
        theil_sen([1.0] * 5, [1.0] * 5)
    with pytest.raises(ValueError, match="NaN"):
        theil_sen([1.0, math.nan])
