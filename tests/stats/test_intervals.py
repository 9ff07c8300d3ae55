"""Intervals against SciPy, published values and their promised coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from agentdyno.stats import Interval, clustered_mean_interval, median_interval, t_interval, wilson

from .properties import quick


def _coverage(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


def test_the_t_interval_equals_scipys() -> None:
    x = np.random.default_rng(0).normal(size=12)
    expected = scipy_stats.t.interval(0.9, 11, loc=x.mean(), scale=scipy_stats.sem(x))
    got = t_interval(x, 0.9)
    assert (got.low, got.high) == pytest.approx(expected)
    assert got.confidence == 0.9


def test_the_t_interval_needs_two_values() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        t_interval([1.0])


def test_the_t_interval_of_equal_values_has_no_width() -> None:
    assert t_interval([0.1] * 3) == Interval(0.1, 0.1, 0.95)


def test_the_t_interval_covers_the_mean_as_often_as_promised() -> None:
    rng = np.random.default_rng(1)
    intervals = [t_interval(rng.normal(5.0, 2.0, 8)) for _ in range(1500)]
    assert 0.93 <= _coverage([i.low <= 5.0 <= i.high for i in intervals]) <= 0.97


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 10), (81, 263), (10, 10), (1, 1)])
def test_wilson_equals_scipys(successes: int, n: int) -> None:
    expected = scipy_stats.binomtest(successes, n).proportion_ci(0.95, method="wilson")
    got = wilson(successes, n)
    assert (got.low, got.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_gives_newcombes_published_example() -> None:
    got = wilson(81, 263)
    assert (round(got.low, 4), round(got.high, 4)) == (0.2553, 0.3662)


@quick
@given(st.integers(1, 10_000), st.data(), st.floats(0.5, 0.999))
def test_wilson_stays_inside_zero_to_one_and_holds_the_share(n: int, data: st.DataObject, confidence: float) -> None:
    successes = data.draw(st.integers(0, n))
    got = wilson(successes, n, confidence)
    assert 0.0 <= got.low <= successes / n <= got.high <= 1.0


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_wilson_refuses_impossible_counts(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="must"):
        wilson(successes, n)


def test_the_median_interval_takes_the_order_statistics_of_the_binomial_table() -> None:
    # Published ranks at 95 %: n=6 (1, 6), n=10 (2, 9), n=20 (6, 15), n=50 (18, 33).
    for n, low, high in [(6, 1, 6), (10, 2, 9), (20, 6, 15), (50, 18, 33)]:
        assert median_interval(list(range(1, n + 1))) == Interval(low, high, 0.95)


@pytest.mark.parametrize(("confidence", "fewest"), [(0.95, 6), (0.99, 8), (0.5, 2)])
def test_the_median_interval_is_none_while_the_sample_is_too_small(confidence: float, fewest: int) -> None:
    assert median_interval([1.0] * (fewest - 1), confidence) is None
    assert median_interval([1.0] * fewest, confidence) == Interval(1.0, 1.0, confidence)


@pytest.mark.parametrize("n", [7, 100, 1001, 100_000])
def test_the_median_interval_is_the_tightest_that_keeps_its_promise(n: int) -> None:
    got = median_interval(np.arange(1.0, n + 1))
    assert got is not None
    rank = int(got.low)
    assert got.high == n + 1 - rank
    assert 2 * scipy_stats.binom.cdf(rank - 1, n, 0.5) <= 0.05 < 2 * scipy_stats.binom.cdf(rank, n, 0.5)


def test_the_median_interval_covers_the_median_of_skewed_values() -> None:
    rng = np.random.default_rng(2)
    intervals = [median_interval(rng.lognormal(size=15)) for _ in range(1500)]
    assert _coverage([i is not None and i.low <= 1.0 <= i.high for i in intervals]) >= 0.945


def test_one_cluster_has_no_interval() -> None:
    assert clustered_mean_interval([1.0, 2.0, 3.0], ["a"] * 3) is None


def test_clusters_of_one_give_the_t_interval() -> None:
    x = np.random.default_rng(4).normal(size=9)
    got, expected = clustered_mean_interval(x, range(9), 0.9), t_interval(x, 0.9)
    assert got is not None
    assert (got.low, got.high) == pytest.approx((expected.low, expected.high))


def test_the_clustered_interval_is_hand_calculated() -> None:
    # mean 3, cluster sums of deviations -3, -1, +4: variance = 3/2 * 26 / 36
    got = clustered_mean_interval([1.0, 2.0, 2.0, 3.0, 4.0, 6.0], ["a", "a", "b", "b", "c", "c"])
    half = 4.302652729911275 * math.sqrt(1.5 * 26 / 36)
    assert got is not None
    assert (got.low, got.high) == pytest.approx((3 - half, 3 + half))


def test_the_clustered_interval_covers_where_the_plain_one_does_not() -> None:
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(12), 6).tolist()
    plain, clustered = [], []
    for _ in range(1000):
        x = np.repeat(rng.normal(size=12), 6) + 0.5 * rng.normal(size=72)
        c, p = clustered_mean_interval(x, labels), t_interval(x)
        assert c is not None
        clustered.append(c.low <= 0.0 <= c.high)
        plain.append(p.low <= 0.0 <= p.high)
    assert _coverage(clustered) >= 0.93
    assert _coverage(plain) < 0.8


def test_clusters_must_pair_up_with_values() -> None:
    with pytest.raises(ValueError, match="pair up"):
        clustered_mean_interval([1.0, 2.0], ["a"])


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, math.nan])
def test_a_confidence_that_is_no_probability_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        t_interval([1.0, 2.0], confidence)
