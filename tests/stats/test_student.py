"""Student's t as SciPy has it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import nctdtr, stdtr, stdtrit

from agentdyno.stats.distributions import noncentral_t_shift, t_cdf, t_quantile

FREEDOM = (1.0, 1.5, 2.0, 3.0, 4.37, 9.0, 29.0, 120.0, 199.9, 200.1, 5_000.0, 99_999.0)


@pytest.mark.parametrize("df", FREEDOM)
def test_the_probability_below_t_is_that_of_scipy_in_both_tails(df: float) -> None:
    # Nearer to 0 SciPy loses digits: of one degree of freedom ten are left at 1e-6.
    for t in np.concatenate([-np.logspace(-2, 3, 40), [0.0], np.logspace(-2, 3, 40)]):
        assert t_cdf(float(t), df) == pytest.approx(float(stdtr(df, t)), rel=1e-11, abs=1e-290)


@pytest.mark.parametrize("df", FREEDOM)
def test_the_t_of_a_probability_is_that_of_scipy(df: float) -> None:
    for outside in (1e-12, 1e-9, 1e-6, 1e-4, 0.0005, 0.005, 0.025, 0.049, 0.05, 0.1, 0.3, 0.45, 0.499):
        for probability in (outside, 1.0 - outside):
            assert t_quantile(probability, df) == pytest.approx(float(stdtrit(df, probability)), rel=1e-9)
            assert t_cdf(t_quantile(outside, df), df) == pytest.approx(outside, rel=1e-12)


@pytest.mark.parametrize("df", FREEDOM[:-1])
def test_a_shifted_t_is_below_a_limit_as_often_as_was_asked(df: float) -> None:
    for probability in (0.05, 0.1, 0.2, 0.5, 0.9):
        for limit in (-1.0, 0.0, 0.5, 1.96, 4.3, 12.7):
            shift = noncentral_t_shift(probability, df, limit)
            assert float(nctdtr(df, shift, limit)) == pytest.approx(probability, rel=1e-8)


def test_what_is_known_by_hand() -> None:
    assert t_quantile(0.75, 1.0) == pytest.approx(1.0, rel=1e-14)  # tan(π/4)
    assert t_cdf(1.0, 2.0) == pytest.approx(0.5 + 1.0 / (2.0 * 3.0**0.5), rel=1e-14)
    assert t_cdf(-1e-6, 1.0) == pytest.approx(0.5 - math.atan(1e-6) / math.pi, rel=1e-15)
    assert (t_quantile(0.5, 7.0), t_cdf(0.0, 7.0)) == (0.0, 0.5)


def test_what_is_outside_of_that_comes_from_scipy() -> None:
    assert t_quantile(0.975, 1e9) == float(stdtrit(1e9, 0.975))
    assert t_cdf(-2.0, 0.5) == float(stdtr(0.5, -2.0))
