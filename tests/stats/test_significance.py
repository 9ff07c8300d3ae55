"""Significance tests against SciPy and hand-calculated values."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from agentdyno.stats import (
    Interval,
    equivalent,
    holm,
    mann_whitney,
    mcnemar,
    sign_test,
    tost_t,
    wilcoxon_signed_rank,
)

from .properties import quick

TIED = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=30)
UNTIED = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=60, unique=True)


@quick
@given(UNTIED, st.data())
def test_mann_whitney_equals_scipys_without_ties(values: list[float], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(values) - 1))
    x, y = values[:cut], values[cut:]
    expected = scipy_stats.mannwhitneyu(x, y)
    got = mann_whitney(x, y)
    assert (got.statistic, got.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


@quick
@given(TIED, TIED)
def test_mann_whitney_equals_scipys_with_ties(x: list[float], y: list[float]) -> None:
    got = mann_whitney(x, y)
    if len(set(x + y)) == 1:
        assert got.p_value == 1.0
        return
    expected = scipy_stats.mannwhitneyu(x, y)
    assert (got.statistic, got.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


def test_mann_whitney_counts_every_arrangement_in_small_samples() -> None:
    # 4 against 4, fully apart: two of C(8, 4) = 70 arrangements.
    got = mann_whitney([1, 2, 3, 4], [5, 6, 7, 8])
    assert (got.statistic, got.method) == (0.0, "mann-whitney exact")
    assert got.p_value == pytest.approx(2 / 70)


def test_mann_whitney_stays_exact_for_few_against_very_many() -> None:
    got = mann_whitney([-1.0, -2.0, -3.0], np.arange(5000.0))
    assert got.p_value == pytest.approx(2 / math.comb(5003, 3))


def test_mann_whitney_raises_false_alarms_only_as_often_as_promised() -> None:
    rng = np.random.default_rng(0)
    p = np.array([mann_whitney(rng.lognormal(size=20), rng.lognormal(size=20)).p_value for _ in range(2000)])
    assert 0.035 <= np.mean(p < 0.05) <= 0.06


@quick
@given(st.lists(st.floats(-1e3, 1e3).filter(bool), min_size=1, max_size=60, unique_by=abs))
def test_wilcoxon_equals_scipys_without_ties(differences: list[float]) -> None:
    expected = scipy_stats.wilcoxon(differences)
    got = wilcoxon_signed_rank(differences)
    assert (got.statistic, got.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


@quick
@given(st.lists(st.integers(-5, 5).map(float), min_size=14, max_size=80))
def test_wilcoxon_equals_scipys_with_ties_and_zeros(differences: list[float]) -> None:
    got = wilcoxon_signed_rank(differences)
    if not any(differences):
        assert got.p_value == 1.0
        return
    expected = scipy_stats.wilcoxon(differences)
    assert (got.statistic, got.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_wilcoxon_with_ties_in_small_samples_is_a_permutation_test_as_in_scipy(seed: int) -> None:
    d = np.random.default_rng(seed).integers(-3, 6, size=4 + seed % 6).astype(float)
    d[0] = 1.0
    expected = scipy_stats.wilcoxon(d)
    got = wilcoxon_signed_rank(d)
    assert (got.statistic, got.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


def test_wilcoxon_does_not_find_five_equal_gains_significant() -> None:
    assert wilcoxon_signed_rank([1.0] * 5).p_value == pytest.approx(2 / 2**5)


def test_wilcoxon_of_no_change_at_all_is_one() -> None:
    assert wilcoxon_signed_rank([0.0, 0.0]).p_value == 1.0


@pytest.mark.parametrize("test", [mann_whitney, lambda x, y: wilcoxon_signed_rank(x)])
def test_rank_tests_refuse_empty_and_nan(test: object) -> None:
    assert callable(test)
    for bad in ([], [math.nan]):
        with pytest.raises(ValueError, match=r"at least 1|NaN"):
            test(bad, [1.0])


@quick
@given(st.integers(0, 200), st.integers(0, 200))
def test_the_sign_test_equals_scipys_binomial_test(positive: int, negative: int) -> None:
    expected = scipy_stats.binomtest(positive, positive + negative).pvalue if positive + negative else 1.0
    assert sign_test(positive, negative).p_value == pytest.approx(expected, rel=1e-9)


def test_mcnemar_is_exact_under_25_discordant_pairs() -> None:
    got = mcnemar(4, 20)
    assert got.method == "mcnemar exact"
    assert got.p_value == pytest.approx(scipy_stats.binomtest(4, 24).pvalue)
    assert mcnemar(0, 0).p_value == 1.0


def test_mcnemar_is_chi_square_from_25_discordant_pairs() -> None:
    # The classic example: 59 and 6 discordant, (|59 - 6| - 1)^2 / 65 = 41.6.
    got = mcnemar(59, 6)
    assert got.method == "mcnemar chi-square"
    assert got.statistic == pytest.approx(41.6)
    assert got.p_value == pytest.approx(float(scipy_stats.chi2.sf(41.6, 1)))
    assert mcnemar(20, 20).p_value == 1.0


@quick
@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_does_not_care_which_side_is_first(a: int, b: int) -> None:
    assert mcnemar(a, b) == mcnemar(b, a)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="only_second"):
        mcnemar(1, -1)
    with pytest.raises(ValueError, match="positive"):
        sign_test(-1, 1)


def test_holm_gives_the_textbook_values() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@quick
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_never_lowers_a_p_value_nor_changes_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(raw <= new <= 1.0 for raw, new in zip(p_values, adjusted, strict=True))
    for (p, a), (q, b) in itertools.combinations(zip(p_values, adjusted, strict=True), 2):
        assert a <= b if p <= q else a >= b


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_holm_refuses_what_is_no_probability(bad: float) -> None:
    with pytest.raises(ValueError, match=r"p_values\[1\]"):
        holm([0.5, bad])


def test_an_interval_is_equivalent_only_when_wholly_inside_the_margins() -> None:
    assert equivalent(Interval(0.98, 1.02, 0.99), 0.97, 1.03)
    assert equivalent(Interval(1.0, 1.0, 0.99), 1.0, 1.0)
    assert not equivalent(Interval(0.98, 1.04, 0.99), 0.97, 1.03)
    assert not equivalent(Interval(-math.inf, math.inf, 0.99), 0.97, 1.03)
    with pytest.raises(ValueError, match="margin_low"):
        equivalent(Interval(0, 1, 0.9), 1, 0)


def test_tost_is_the_worse_of_scipys_two_one_sided_tests() -> None:
    x = np.random.default_rng(2).normal(0.1, 1.0, 30)
    lower = scipy_stats.ttest_1samp(x, -0.5, alternative="greater")
    upper = scipy_stats.ttest_1samp(x, 0.5, alternative="less")
    assert tost_t(x, -0.5, 0.5).p_value == pytest.approx(max(lower.pvalue, upper.pvalue))


def test_tost_of_equal_values_is_certain() -> None:
    assert tost_t([0.1, 0.1], -1, 1).p_value == 0.0
    assert tost_t([2.0, 2.0], -1, 1).p_value == 1.0


def test_tost_rejects_exactly_when_the_90_percent_interval_is_inside() -> None:
    from agentdyno.stats import t_interval

    rng = np.random.default_rng(3)
    for _ in range(200):
        x = rng.normal(0.2, 1.0, 20)
        assert (tost_t(x, -0.6, 0.6).p_value <= 0.05) == equivalent(t_interval(x, 0.9), -0.6, 0.6)


def test_tost_refuses_margins_in_the_wrong_order() -> None:
    with pytest.raises(ValueError, match="low must be below high"):
        tost_t([1.0, 2.0], 1.0, -1.0)
