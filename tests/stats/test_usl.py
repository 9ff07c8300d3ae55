"""The scalability laws: parameters given back, agreement with SciPy, intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import curve_fit

from agentdyno.stats.samples import Array
from agentdyno.stats.usl import fit_amdahl, fit_usl

from ..properties import examples

LEVELS = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


def law(n: Array, single: float, contention: float, coherency: float) -> Array:
    return np.asarray(single * n) / (1.0 + contention * (n - 1.0) + coherency * n * (n - 1.0))


def log_law(n: Array, single: float, contention: float, coherency: float) -> Array:
    return np.asarray(np.log(law(n, single, contention, coherency)))


@given(
    single=st.floats(0.1, 1e4),
    contention=st.floats(0.0, 0.9),
    coherency=st.floats(0.0, 0.05),
)
@examples(60)
def test_points_on_the_law_give_its_parameters_back(single: float, contention: float, coherency: float) -> None:
    fit = fit_usl(LEVELS, law(LEVELS, single, contention, coherency))
    assert fit is not None
    assert fit.single == pytest.approx(single, rel=1e-6)
    assert fit.contention == pytest.approx(contention, abs=1e-6)
    assert fit.coherency == pytest.approx(coherency, abs=1e-6)
    assert fit.throughput(5.0) == pytest.approx(
        float(law(np.array([5.0]), single, contention, coherency)[0]), rel=1e-5
    )


def test_the_peak_is_where_the_law_has_its_maximum() -> None:
    fit = fit_usl(LEVELS, law(LEVELS, 10.0, 0.19, 0.01))
    assert fit is not None
    assert fit.peak == pytest.approx(9.0)
    assert fit.r_squared == pytest.approx(1.0)


def test_throughput_that_never_falls_has_no_peak() -> None:
    fit = fit_usl(LEVELS, 10.0 * LEVELS)
    assert fit is not None
    assert fit.peak is None
    assert (fit.contention, fit.coherency) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_amdahl_gives_the_serial_share() -> None:
    # A quarter is serial: 4 workers are 16 / 7 times as fast, and no number of them is more than 4 times as fast.
    fit = fit_amdahl([1, 2, 4], [1.0, 1.6, 16.0 / 7.0])
    assert fit is not None
    assert fit.contention == pytest.approx(0.25)
    assert fit.coherency == 0.0
    assert fit.coherency_interval is None
    assert fit.throughput(1e9) == pytest.approx(4.0, rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_noisy_points_are_fitted_as_scipy_fits_them(seed: int) -> None:
    noise = np.exp(np.random.default_rng(seed).normal(0.0, 0.05, LEVELS.size))
    values = law(LEVELS, 50.0, 0.1, 0.004) * noise
    fit = fit_usl(LEVELS, values)
    expected, covariance = curve_fit(
        log_law, LEVELS, np.log(values), p0=[40.0, 0.05, 0.001], bounds=(0.0, [1e4, 10.0, 1.0])
    )
    assert fit is not None
    assert [fit.single, fit.contention, fit.coherency] == pytest.approx(expected, rel=1e-3, abs=1e-5)
    interval = fit.contention_interval
    assert interval is not None
    assert interval.high - fit.contention == pytest.approx(3.182446 * np.sqrt(covariance[1, 1]), rel=1e-2)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    levels = np.repeat(LEVELS, 3)
    covered = 0
    for _ in range(200):
        fit = fit_usl(levels, law(levels, 50.0, 0.1, 0.004) * np.exp(rng.normal(0.0, 0.05, levels.size)))
        assert fit is not None
        assert fit.contention_interval is not None
        covered += fit.contention_interval.low <= 0.1 <= fit.contention_interval.high
    assert 180 <= covered <= 199


def test_a_term_that_would_be_negative_is_held_at_zero() -> None:
    fit = fit_usl(LEVELS, 10.0 * LEVELS**1.05)
    assert fit is not None
    assert (fit.contention, fit.coherency) == (0.0, 0.0)


def test_too_few_levels_are_no_fit_and_as_many_as_parameters_have_no_interval() -> None:
    assert fit_usl([1, 2, 2, 1], [1.0, 1.9, 1.8, 1.1]) is None
    assert fit_amdahl([4, 4], [1.0, 1.0]) is None
    fit = fit_usl([1, 2, 4], [1.0, 1.8, 3.0])
    assert fit is not None
    assert fit.contention_interval is None


def test_values_that_are_no_throughput_are_refused() -> None:
    with pytest.raises(ValueError, match="above zero"):
        fit_usl([1, 2, 3], [1.0, 0.0, 2.0])
    with pytest.raises(ValueError, match="1 or more"):
        fit_usl([0, 2, 3], [1.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="pair up"):
        fit_usl([1, 2], [1.0])
