"""The laws that verdicts rest on, against scipy and against counting."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from agentdyno.stats.distributions import fair_coin_cdf


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
