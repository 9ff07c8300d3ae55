"""Separate runs are judged by Student's law with the run as the unit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentdyno.findings.engine.between_runs import contrast_runs, detectable_in_errors
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
