"""The laws that verdicts rest on, against scipy and against counting."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit
from scipy.stats import binom

from agentdyno.stats.distributions import fair_coin_cdf, own_t_quantile, t_quantile


@pytest.mark.parametrize("n", [1, 2, 7, 30, 999, 5_000, 5_001, 40_000])
def test_heads_of_a_fair_coin_are_as_likely_as_scipy_says_with_few_tosses_and_with_many(n: int) -> None:
    for heads in {0, n // 3, n // 2, n - 1}:
        assert fair_coin_cdf(heads, n) == pytest.approx(float(binom.cdf(heads, n, 0.5)), rel=1e-9, abs=1e-290)


def test_no_tosses_are_left_out_at_either_end() -> None:
    assert fair_coin_cdf(-1, 10) == 0.0
    assert fair_coin_cdf(10, 10) == 1.0
    assert fair_coin_cdf(0, 10) == 1 / 1024


@given(st.integers(1, 300), st.data())
def test_few_tosses_are_counted_exactly(n: int, data: st.DataObject) -> None:
    heads = data.draw(st.integers(0, n - 1))
    ways = sum(math.comb(n, count) for count in range(heads + 1))
    assert fair_coin_cdf(heads, n) == float(Fraction(ways, 2**n))


DEGREES = (1.0, 1.3, 2.0, 2.9, 3.0, 4.0, 9.0, 29.5, 119.0, 120.0, 121.0, 999.0, 1_000.0, 1_000.5, 12_345.6, 1e7)


@pytest.mark.parametrize("df", DEGREES)
def test_quantiles_of_students_t_are_those_of_scipy_whoever_works_them_out(df: float) -> None:
    for probability in (1e-12, 1e-9, 1e-6, 0.001, 0.025, 0.1, 0.3, 0.55, 0.8, 0.975, 0.9995, 1.0 - 1e-9):
        assert t_quantile(probability, df) == pytest.approx(float(stdtrit(df, probability)), rel=1e-11)


@given(st.floats(1e-9, 1.0 - 1e-9))
def test_quantiles_of_one_two_and_four_degrees_of_freedom_are_those_of_their_formulas(probability: float) -> None:
    tail = min(probability, 1.0 - probability)
    root = math.sqrt(4.0 * tail * (1.0 - tail))
    four = 2.0 * math.sqrt(math.cos(math.acos(root) / 3.0) / root - 1.0)
    exact = {1.0: 1.0 / math.tan(math.pi * tail), 2.0: (1.0 - 2.0 * tail) * math.sqrt(2.0) / root, 4.0: four}
    for df, size in exact.items():
        # Near the middle the formulas lose digits themselves.
        signed = math.copysign(size, probability - 0.5)
        assert own_t_quantile(probability, df) == pytest.approx(signed, rel=1e-9, abs=1e-7)


def test_the_middle_is_zero_and_what_is_no_probability_or_has_no_end_is_left_to_scipy() -> None:
    assert t_quantile(0.5, 7.0) == 0.0
    assert t_quantile(0.975, math.inf) == pytest.approx(1.959963984540054, rel=1e-12)
    assert [own_t_quantile(0.975, df) for df in (0.5, math.nan, math.inf)] == [None, None, None]
    assert [own_t_quantile(probability, 9.0) for probability in (0.0, 1.0, -1.0, math.nan)] == [None] * 4
    assert math.isnan(t_quantile(math.nan, 9.0))
