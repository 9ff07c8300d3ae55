"""The t test of a slope: against SciPy, for growth without and with noise, and in noise alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from agentdyno.stats.series.slope import slope_p_value

from ..properties import quick
from .test_changepoint import noise


def test_where_neighbours_repel_each_other_the_p_value_is_scipys() -> None:
    # Residuals that alternate have a correlation below zero, which widens nothing: the plain test is left.
    values = np.arange(40) * 0.01 + 0.1 * (-1.0) ** np.arange(40)
    assert slope_p_value(values) == pytest.approx(scipy_stats.linregress(np.arange(40), values).pvalue)


def test_correlation_widens_the_error_by_hand() -> None:
    values = np.arange(12) * 0.1 + np.array([0, 1, 1, 0, -1, -1, 0, 1, 1, 0, -1, -1]) * 0.1
    x = np.arange(12)
    left = values - np.polyval(np.polyfit(x, values, 2), x)
    correlation = (left[1:] * left[:-1]).sum() / (left**2).sum() + 4 / 12
    line = scipy_stats.linregress(x, values)
    t = line.slope / line.stderr / np.sqrt((1 + correlation) / (1 - correlation))
    assert slope_p_value(values) == pytest.approx(2 * scipy_stats.t.sf(t, 10))


def test_a_cost_that_grows_by_a_twentieth_a_run_is_not_explained_away() -> None:
    assert slope_p_value([0.00105 * 1.05**run for run in range(20)]) < 1e-7
    for seed in range(100):
        assert slope_p_value(1.05 ** np.arange(20) * (1 + 0.05 * noise("gauss", 20, seed))) < 1e-4


@pytest.mark.parametrize("values", [[], [1.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0], [7.0] * 20])
def test_too_few_and_equal_values_have_no_slope(values: list[float]) -> None:
    assert slope_p_value(values) == 1.0


def test_a_line_without_noise_is_as_certain_as_numbers_allow() -> None:
    assert 0.0 < slope_p_value([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) < 1e-30


@pytest.mark.parametrize(("kind", "most"), [("gauss", 4), ("t3", 4), ("ar1", 16)])
def test_noise_alone_has_a_slope_no_more_often_than_p_says(kind: str, most: int) -> None:
    """400 series at p < 0.01; 4 % where neighbours correlate by 0.6, which so few points hardly show."""
    assert sum(slope_p_value(noise(kind, 30, seed)) < 0.01 for seed in range(400)) <= most


@quick
@given(st.lists(st.floats(-1e100, 1e100), min_size=6, max_size=40))
def test_any_values_give_a_probability_that_does_not_depend_on_direction(values: list[float]) -> None:
    p_value = slope_p_value(values)
    assert 0.0 <= p_value <= 1.0
    assert slope_p_value(values[::-1]) == pytest.approx(p_value, rel=1e-6, abs=1e-12)
