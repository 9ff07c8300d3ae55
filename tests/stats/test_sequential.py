"""When sampling may stop."""

import math

import numpy as np
import pytest

from agentdyno.stats import median_interval, precise_enough


def test_fewer_than_six_values_are_never_precise_enough() -> None:
    assert not precise_enough([1.0] * 5, 0.5)
    assert precise_enough([1.0] * 6, 0.0)


def test_the_limit_is_half_the_interval_relative_to_the_median() -> None:
    values = [98.0, 99.0, 100.0, 100.0, 101.0, 102.0]
    assert precise_enough(values, 0.02)
    assert not precise_enough(values, 0.0199)


def test_more_samples_reach_a_precision_that_few_do_not() -> None:
    x = np.random.default_rng(0).lognormal(0, 0.1, 2000)
    assert not precise_enough(x[:20], 0.01)
    assert precise_enough(x, 0.01)


def test_a_higher_confidence_asks_for_more() -> None:
    x = np.random.default_rng(1).lognormal(0, 0.1, 100)
    interval = median_interval(x)
    assert interval is not None
    precision = (interval.high - interval.low) / 2 / float(np.median(x))
    assert precise_enough(x, precision * 1.0001)
    assert not precise_enough(x, precision * 1.0001, confidence=0.999)


def test_a_negative_median_counts_by_its_size() -> None:
    assert precise_enough([-98.0, -99.0, -100.0, -100.0, -101.0, -102.0], 0.02)


def test_a_zero_median_is_precise_only_without_spread() -> None:
    assert precise_enough([0.0] * 6, 0.01)
    assert not precise_enough([-1.0, -1.0, 0.0, 0.0, 1.0, 1.0], 10.0)


@pytest.mark.parametrize("precision", [-0.1, math.nan, math.inf])
def test_an_impossible_precision_is_refused(precision: float) -> None:
    with pytest.raises(ValueError, match="precision"):
        precise_enough([1.0] * 6, precision)


def test_empty_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        precise_enough([], 0.1)
