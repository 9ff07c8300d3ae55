from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from agentdyno.stats import trimmed_t, trimmed_welch


def test_below_ten_values_nothing_is_trimmed_and_the_test_is_the_t_test() -> None:
    values = [0.3, -0.1, 0.4, 0.2, 0.5]
    test = trimmed_t(values, 0.95)
    reference = stats.ttest_1samp(values, 0.0)
    assert test.p_value == pytest.approx(reference.pvalue)
    low, high = reference.confidence_interval(0.95)
    assert (test.interval.low, test.interval.high) == pytest.approx((low, high))
    assert test.point == pytest.approx(np.mean(values))


@pytest.mark.parametrize("seed", range(5))
def test_two_samples_agree_with_yuens_test_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(0, 1, 12), rng.normal(0.8, 3, 23)
    reference = stats.ttest_ind(x, y, equal_var=False, trim=0.1)
    assert trimmed_welch(x, y).p_value == pytest.approx(reference.pvalue)


def test_a_single_wild_value_of_ten_does_not_hide_a_change() -> None:
    changes = [0.05, 0.051, 0.049, 0.052, 0.048, 0.05, 0.051, 0.049, 0.05, 3.0]
    assert stats.ttest_1samp(changes, 0.0).pvalue > 0.2
    test = trimmed_t(changes)
    assert test.p_value < 1e-6
    assert test.point == pytest.approx(0.05025)


def test_values_without_spread_are_certain() -> None:
    assert trimmed_t([0.0, 0.0, 0.0]).p_value == 1.0
    assert trimmed_t([0.125, 0.125, 0.125]).p_value == 0.0
    assert trimmed_t([0.125, 0.125, 0.125]).interval.low == 0.125


@pytest.mark.parametrize("heavy", [False, True])
def test_false_alarms_stay_at_their_level_with_normal_and_heavy_tails(heavy: bool) -> None:
    rng = np.random.default_rng(11)
    draws = rng.standard_t(3, (2000, 10)) if heavy else rng.normal(size=(2000, 10))
    alarms = sum(trimmed_t(values).p_value < 0.05 for values in draws)
    assert alarms / 2000 < 0.06


def test_intervals_cover_the_true_mean() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(1000):
        interval = trimmed_t(rng.normal(2.0, 1.0, 10), 0.95).interval
        covered += interval.low <= 2.0 <= interval.high
    assert covered / 1000 >= 0.93


def test_two_values_are_too_few() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        trimmed_t([0.1, 0.2])
    with pytest.raises(ValueError, match="NaN"):
        trimmed_welch([0.1, 0.2, 0.3], [0.1, math.nan, 0.3])
