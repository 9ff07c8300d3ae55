"""Effect sizes: hand-calculated and R's values, invariances and coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.stats import (
    cliffs_delta,
    cohens_d,
    hodges_lehmann_ratio,
    hodges_lehmann_shift,
    mann_whitney,
    paired_ratio,
)

from .properties import quick

POSITIVE = st.lists(st.floats(0.01, 1e4), min_size=1, max_size=40)
REAL = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40)
INFINITE = (-math.inf, math.inf)


def test_the_shift_is_the_median_of_all_differences() -> None:
    got = hodges_lehmann_shift([1.0, 2.0, 5.0], [4.0, 4.5])
    # 3 3.5 2 2.5 -1 -0.5
    assert got.point == 2.25
    assert (got.interval.low, got.interval.high) == INFINITE


def test_the_shift_and_its_interval_equal_hollander_and_wolfes_example() -> None:
    # Permeability of the chorioamnion; R: wilcox.test(x, y, conf.int=TRUE) gives -0.76 .. 0.15 and -0.305
    # for y - x with x at term, y at 12-26 weeks (exact, 95 %).
    at_term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    early = [1.15, 0.88, 0.90, 0.74, 1.21]
    got = hodges_lehmann_shift(at_term, early, 0.95)
    assert got.point == pytest.approx(-0.305)
    assert (got.interval.low, got.interval.high) == pytest.approx((-0.76, 0.15))


@pytest.mark.parametrize(("n", "m"), [(7, 9), (12, 15), (40, 25)])
def test_the_interval_is_the_set_of_shifts_the_test_does_not_reject(n: int, m: int) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=n), rng.normal(0.5, 1.0, m)
    interval = hodges_lehmann_shift(x, y, 0.95).interval
    for shift, rejected in [
        (interval.low + 1e-9, False),
        (interval.high - 1e-9, False),
        (interval.low - 1e-9, True),
        (interval.high + 1e-9, True),
    ]:
        assert (mann_whitney(x, y - shift).p_value <= 0.05) is rejected


@quick
@given(REAL, REAL, st.floats(-1e3, 1e3))
def test_moving_one_side_moves_the_shift_as_much(x: list[float], y: list[float], by: float) -> None:
    still, moved = hodges_lehmann_shift(x, y, 0.9), hodges_lehmann_shift(x, [v + by for v in y], 0.9)
    assert moved.point == pytest.approx(still.point + by, abs=1e-6)
    assert moved.interval.low == pytest.approx(still.interval.low + by, abs=1e-6)


@quick
@given(POSITIVE, POSITIVE)
def test_swapping_the_sides_inverts_the_ratio_and_its_interval(x: list[float], y: list[float]) -> None:
    there, back = hodges_lehmann_ratio(x, y, 0.9), hodges_lehmann_ratio(y, x, 0.9)
    assert there.point * back.point == pytest.approx(1.0)
    if there.interval.low > 0.0:
        assert there.interval.low * back.interval.high == pytest.approx(1.0)
    else:
        assert back.interval.high == math.inf


@quick
@given(POSITIVE, st.floats(0.1, 10.0))
def test_a_slower_copy_has_exactly_its_ratio(x: list[float], factor: float) -> None:
    got = hodges_lehmann_ratio(x, [v * factor for v in x])
    assert got.point == pytest.approx(factor)
    assert got.interval.low <= got.point <= got.interval.high


@quick
@given(POSITIVE, st.floats(0.1, 10.0))
def test_the_ratio_does_not_depend_on_the_unit(x: list[float], unit: float) -> None:
    y = [*x[::-1], x[0] * 1.5]
    one, other = hodges_lehmann_ratio(x, y), hodges_lehmann_ratio([v * unit for v in x], [v * unit for v in y])
    assert one.point == pytest.approx(other.point)


def test_too_small_samples_have_an_unbounded_ratio() -> None:
    got = hodges_lehmann_ratio([1.0, 1.1], [2.0, 2.1])
    assert (got.interval.low, got.interval.high) == (0.0, math.inf)
    assert (paired_ratio([1.0], [2.0]).interval.low, paired_ratio([1.0], [2.0]).point) == (0.0, 2.0)


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_ratios_refuse_values_that_are_not_above_zero(bad: float) -> None:
    for ratio in (hodges_lehmann_ratio, paired_ratio):
        with pytest.raises(ValueError, match=r"candidate\[1\]"):
            ratio([1.0, 1.0], [1.0, bad])


@pytest.mark.parametrize(("n", "m"), [(8, 8), (6, 30), (30, 30)])
def test_the_ratio_interval_covers_the_true_ratio(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    hits = []
    for _ in range(1000):
        i = hodges_lehmann_ratio(rng.lognormal(0, 0.3, n), 1.2 * rng.lognormal(0, 0.3, m), 0.95).interval
        hits.append(i.low <= 1.2 <= i.high)
    assert np.mean(hits) >= 0.93


@pytest.mark.parametrize("n", [10, 60])
def test_the_paired_ratio_interval_covers_the_true_ratio(n: int) -> None:
    rng = np.random.default_rng(n)
    hits = []
    for _ in range(1000):
        base = rng.lognormal(0, 2.0, n)
        i = paired_ratio(base, base * 0.9 * rng.lognormal(0, 0.2, n), 0.95).interval
        hits.append(i.low <= 0.9 <= i.high)
    assert np.mean(hits) >= 0.93


def test_the_paired_ratio_is_the_pseudo_median_with_the_tabled_interval() -> None:
    # Darwin's maize, Hollander and Wolfe: n = 15, 95.2 %: the 26th Walsh average from either end.
    logs = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]) / 100.0
    walsh = np.sort([(a + b) / 2 for i, a in enumerate(logs) for b in logs[i:]])
    got = paired_ratio(np.ones(15), np.exp(logs), 0.95)
    assert math.log(got.point) == pytest.approx(float(np.median(walsh)))
    assert math.log(got.interval.low) == pytest.approx(walsh[25])
    assert math.log(got.interval.high) == pytest.approx(walsh[-26])


@quick
@given(st.lists(st.tuples(st.floats(0.01, 1e3), st.floats(0.01, 1e3)), min_size=1, max_size=30))
def test_swapping_the_sides_inverts_the_paired_ratio(pairs: list[tuple[float, float]]) -> None:
    x, y = [p[0] for p in pairs], [p[1] for p in pairs]
    assert paired_ratio(x, y).point * paired_ratio(y, x).point == pytest.approx(1.0)


def test_paired_values_must_pair_up() -> None:
    with pytest.raises(ValueError, match="pair up"):
        paired_ratio([1.0, 2.0], [1.0])


def test_large_samples_are_thinned_without_changing_the_answer() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.lognormal(0, 0.5, 3000), 1.1 * rng.lognormal(0, 0.5, 6000)
    got = hodges_lehmann_ratio(x, y)
    full = np.subtract.outer(np.log(y), np.log(x)).ravel()
    assert math.log(got.point) == pytest.approx(float(np.median(full)), abs=2e-4)
    half_width = (math.log(got.interval.high) - math.log(got.interval.low)) / 2
    assert half_width == pytest.approx(2.576 * 0.5 * math.sqrt(math.pi / 3 * (1 / 3000 + 1 / 6000)), rel=0.06)
    assert hodges_lehmann_ratio(y, x).point == pytest.approx(1 / got.point)


def test_many_against_few_keep_the_few_whole() -> None:
    x = np.array([0.5, 0.7, 0.9])
    y = np.random.default_rng(1).normal(1.0, 0.1, 1_500_000)
    assert hodges_lehmann_shift(x, y).point == pytest.approx(0.3, abs=0.005)


def test_many_pairs_are_thinned_without_changing_the_paired_ratio() -> None:
    rng = np.random.default_rng(2)
    base = rng.lognormal(size=5000)
    got = paired_ratio(base, base * 1.05 * rng.lognormal(0, 0.1, 5000))
    assert got.point == pytest.approx(1.05, abs=0.005)
    width = math.log(got.interval.high / got.interval.low)
    assert width == pytest.approx(2 * 2.576 * 0.1 * math.sqrt(math.pi / 3 / 5000), rel=0.1)


@quick
@given(REAL, REAL)
def test_cliffs_delta_counts_pairs(x: list[float], y: list[float]) -> None:
    brute = sum((a > b) - (a < b) for a in x for b in y) / (len(x) * len(y))
    assert cliffs_delta(x, y) == pytest.approx(brute, abs=1e-12)
    assert cliffs_delta(y, x) == pytest.approx(-brute, abs=1e-12)


def test_cohens_d_is_hand_calculated() -> None:
    assert cohens_d([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]) == pytest.approx(2 / math.sqrt(2.5))
    assert cohens_d([1.0, 1.0], [1.0, 1.0]) == 0.0
    assert cohens_d([1.0, 1.0], [2.0, 2.0]) == -math.inf
    with pytest.raises(ValueError, match="at least 2"):
        cohens_d([1.0], [1.0, 2.0])


def test_effects_refuse_empty_and_nan() -> None:
    for effect in (hodges_lehmann_shift, hodges_lehmann_ratio, paired_ratio, cliffs_delta, cohens_d):
        for bad in ([], [1.0, math.nan]):
            with pytest.raises(ValueError, match=r"at least|NaN"):
                effect(bad, [1.0, 2.0])
