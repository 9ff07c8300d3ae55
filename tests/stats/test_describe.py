"""Descriptions of samples and the checks of what they are given."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from agentdyno.stats import describe, median_absolute_deviation, quantile

from .properties import quick

SAMPLES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)


def test_describes_a_hand_calculated_sample() -> None:
    d = describe([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])
    assert (d.n, d.mean, d.median, d.minimum, d.maximum) == (8, 5.0, 4.5, 2.0, 9.0)
    assert d.std == pytest.approx(math.sqrt(32 / 7))
    assert d.mad == 0.5
    assert d.cv == pytest.approx(math.sqrt(32 / 7) / 5)
    assert (d.p25, d.p75) == (4.0, 5.5)


def test_agrees_with_numpy_and_scipy_on_quantiles_and_spread() -> None:
    x = np.random.default_rng(3).lognormal(size=201)
    d = describe(x)
    assert [d.p5, d.p25, d.p75, d.p95, d.p99] == pytest.approx(np.percentile(x, [5, 25, 75, 95, 99]).tolist())
    assert d.mad == pytest.approx(float(scipy_stats.median_abs_deviation(x)))
    assert d.cv == pytest.approx(float(scipy_stats.variation(x, ddof=1)))


def test_one_value_has_no_spread() -> None:
    d = describe([3.0])
    assert (d.std, d.mad, d.cv, d.p99) == (0.0, 0.0, 0.0, 3.0)


def test_a_zero_mean_has_no_coefficient_of_variation() -> None:
    assert describe([-1.0, 1.0]).cv is None


def test_equal_values_have_exactly_no_spread() -> None:
    d = describe([0.1] * 7)
    assert (d.mean, d.std) == (0.1, 0.0)


@quick
@given(SAMPLES)
def test_quantiles_are_ordered_and_inside_the_range(values: list[float]) -> None:
    d = describe(values)
    ordered = [d.minimum, d.p5, d.p25, d.median, d.p75, d.p95, d.p99, d.maximum]
    assert all(a <= b + 1e-9 * abs(b) for a, b in itertools.pairwise(ordered))
    assert d.minimum <= d.mean <= d.maximum


@quick
@given(SAMPLES, st.floats(-1e3, 1e3))
def test_the_median_absolute_deviation_ignores_a_shift(values: list[float], shift: float) -> None:
    moved = median_absolute_deviation([v + shift for v in values])
    assert moved == pytest.approx(median_absolute_deviation(values), abs=1e-6)


def test_a_quantile_interpolates_linearly() -> None:
    assert quantile([1.0, 2.0, 4.0], 0.75) == 3.0
    assert quantile(np.array([5.0]), 0.1) == 5.0


@pytest.mark.parametrize("q", [-0.1, 1.1, math.nan])
def test_a_quantile_outside_zero_to_one_is_refused(q: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile([1.0], q)


def test_empty_input_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 value"):
        describe([])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_input_that_is_no_measurement_is_refused_and_located(bad: float) -> None:
    with pytest.raises(ValueError, match=r"values\[1\]"):
        describe([1.0, bad])


def test_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="one-dimensional"):
        describe(np.ones((2, 2)))
