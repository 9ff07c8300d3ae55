"""Separate runs are judged by Student's law with the run as the unit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentdyno.findings.engine.between_runs import EXACT, KnownError, added, contrast_runs, detectable_in_errors
from agentdyno.findings.engine.measure_separate import DEGREES_A_PART
from agentdyno.model.record import QuantitySpread


def test_it_is_the_t_test_of_scipy_over_runs() -> None:
    baseline = np.log([1.02, 0.97, 1.10, 1.01, 0.93, 1.05])
    candidate = np.log([1.31])
    known = stats.ttest_ind(candidate, baseline, equal_var=True)
    spread = QuantitySpread(
        float(np.std(baseline, ddof=1)),
        5,
        "own",
        baseline_runs=6,
        offset=float(baseline.mean() - baseline[-1]),
    )
    found = contrast_runs(float(candidate[0] - baseline[-1]), spread)
    assert found.log_ratio == pytest.approx(candidate[0] - baseline.mean())
    assert found.p_value == pytest.approx(known.pvalue)
    interval = known.confidence_interval(0.99)
    assert found.interval == pytest.approx((interval.low, interval.high))


def test_one_run_a_side_against_a_spread_from_elsewhere() -> None:
    found = contrast_runs(0.262, QuantitySpread(0.045, 10, "pooled"))
    error = 0.045 * math.sqrt(2)
    assert found.p_value == pytest.approx(2 * stats.t.sf(0.262 / error, 10))
    assert found.interval[0] == pytest.approx(0.262 - stats.t.ppf(0.995, 10) * error)


def test_errors_add_up_with_the_degrees_of_welch_and_satterthwaite() -> None:
    first, second = np.array([1.0, 1.4, 0.9, 1.2]), np.array([2.0, 2.9, 1.1, 2.4, 2.2, 1.8, 3.0])
    errors = [KnownError(float(side.std(ddof=1)) / math.sqrt(side.size), side.size - 1) for side in (first, second)]
    found = added(errors)
    known = stats.ttest_ind(first, second, equal_var=False)
    assert found.degrees == pytest.approx(known.df)
    assert found.size == pytest.approx(abs(first.mean() - second.mean()) / abs(known.statistic))
    assert added([EXACT, EXACT]) == EXACT
    assert added([errors[0], EXACT]).degrees == pytest.approx(3)


@pytest.mark.parametrize("apart", [0.15, 0.5, 1.0])
def test_a_ratio_that_the_speeds_of_the_machine_can_make_is_no_change(apart: float) -> None:
    spread = QuantitySpread(0.01, 5, "own", baseline_runs=6)
    assert contrast_runs(apart, spread).p_value < 0.001
    moved = contrast_runs(apart, replace(spread, speeds_apart=apart))
    assert moved.p_value > 0.2
    assert moved.detectable > 2 * apart
    assert contrast_runs(5 * apart, replace(spread, speeds_apart=apart)).p_value < 0.01


def test_where_a_run_itself_is_what_is_uncertain_the_few_runs_that_are_known_matter_less() -> None:
    spread = QuantitySpread(0.03, 5, "own")
    between = 0.03 * math.sqrt(2)
    found = contrast_runs(0.25, spread, within=KnownError(0.05, 7.352))
    variance = between**2 + 0.05**2
    degrees = math.floor(variance**2 / (between**4 / 5 + 0.05**4 / 7.352))
    assert degrees == 12
    assert found.p_value == pytest.approx(2 * stats.t.sf(0.25 / math.sqrt(variance), degrees))
    # Never fewer than those of the runs: what a run says of itself makes nothing less known.
    hardly = contrast_runs(0.25, spread, within=KnownError(0.5, 1.5))
    assert hardly.p_value == pytest.approx(2 * stats.t.sf(0.25 / math.hypot(between, 0.5), 5))


def test_quartiles_of_normal_values_know_their_deviation_so_well() -> None:
    density = float(stats.norm.pdf(stats.norm.ppf(0.25)))
    # Asymptotic variances of two quantiles and their covariance, of n values, times n.
    variance = 2 * (0.25 * 0.75 - 0.25 * 0.25) / density**2
    relative = variance / (2 * float(stats.norm.ppf(0.75))) ** 2
    assert 1 / (2 * relative) == pytest.approx(DEGREES_A_PART, abs=1e-4)


@pytest.mark.parametrize("degrees", [1, 4, 5, 10, 60])
def test_a_detectable_change_is_found_four_times_of_five(degrees: int) -> None:
    errors = detectable_in_errors(degrees)
    assert stats.nct.sf(stats.t.ppf(0.995, degrees), degrees, errors) == pytest.approx(0.8, abs=1e-5)


@given(
    st.floats(-3, 3),
    st.floats(0.005, 1.0),
    st.integers(1, 100),
    st.integers(1, 20),
    st.integers(1, 20),
    st.floats(-1, 1),
)
def test_p_and_interval_say_the_same(
    log_ratio: float, log_sd: float, degrees: int, before: int, now: int, offset: float
) -> None:
    found = contrast_runs(log_ratio, QuantitySpread(log_sd, degrees, "own", before, now, offset))
    low, high = found.interval
    away = low > 0 or high < 0
    if abs(found.p_value - 0.01) > 1e-9:
        assert away == (found.p_value < 0.01)
    assert low <= found.log_ratio <= high
