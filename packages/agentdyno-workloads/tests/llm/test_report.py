"""Figures of the LLM report from known values."""

from __future__ import annotations

import pytest
from scipy import stats

from agentdyno_workloads.llm.report import figure, outlier_classes


def test_the_interval_of_the_mean_is_students() -> None:
    values = [101.0, 99.0, 100.5, 98.5, 102.0]
    found = figure(values)
    low, high = stats.t.interval(0.95, 4, loc=100.2, scale=stats.sem(values))
    assert found.interval == pytest.approx((low, high))
    assert found.mean == pytest.approx(100.2)
    assert found.cv == pytest.approx(stats.variation(values, ddof=1))


def test_one_value_has_no_spread() -> None:
    found = figure([3.0])
    assert (found.std, found.cv, found.interval) == (None, None, None)


def test_outliers_are_classed_by_tukeys_fences() -> None:
    # quartiles of 1..8 are 2.75 and 6.25: fences at -2.5 and 11.5 (mild), -7.75 and 16.75 (severe)
    base = [1, 2, 3, 4, 5, 6, 7, 8]
    assert outlier_classes([float(v) for v in base]) == {
        "low_severe": 0,
        "low_mild": 0,
        "high_mild": 0,
        "high_severe": 0,
    }
    found = outlier_classes([10.0, 10.1, 10.2, 10.3, 10.4, 10.5, 11.0, 14.0])
    assert found["high_severe"] == 1
    assert found["low_mild"] == found["low_severe"] == 0


def test_three_values_tell_no_outlier() -> None:
    assert sum(outlier_classes([1.0, 1.0, 100.0]).values()) == 0
