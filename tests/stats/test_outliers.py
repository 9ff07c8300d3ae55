"""Tukey's fences."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.stats import OutlierClass, OutlierCount, classify, count_outliers, find_fences, without_outliers

from .properties import quick

# Quartiles 2 and 4 around these: mild fences -1 and 7, severe -4 and 10.
BODY = [1.0, 2.0, 2.0, 2.0, 3.0, 4.0, 4.0, 4.0, 5.0]


def test_the_fences_are_hand_calculated() -> None:
    assert find_fences(BODY) == (-1.0, 7.0)
    assert find_fences(BODY, 3.0) == (-4.0, 10.0)


def test_each_value_gets_its_class_in_order() -> None:
    values = [*BODY * 5, -9.0, -2.0, 8.0, 11.0, 7.0]
    assert find_fences(values) == (-1.0, 7.0)
    assert classify(values)[-5:] == ["low_severe", "low_mild", "high_mild", "high_severe", "none"]
    assert count_outliers(values) == OutlierCount(low_severe=1, low_mild=1, high_mild=1, high_severe=1)
    assert count_outliers(values).total == 4


def test_only_severe_outliers_are_dropped() -> None:
    values = [*BODY * 5, -9.0, -2.0, 8.0, 11.0]
    assert without_outliers(values).tolist() == [*BODY * 5, -2.0, 8.0]


@quick
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=80))
def test_counts_classes_and_kept_values_agree(values: list[float]) -> None:
    classes, counts = classify(values), count_outliers(values)
    assert len(classes) == len(values)
    assert counts.total == sum(c is not OutlierClass.NONE for c in classes)
    assert without_outliers(values).size == len(values) - counts.low_severe - counts.high_severe


@quick
@given(st.lists(st.integers(-1000, 1000).map(float), min_size=1, max_size=50))
def test_mirroring_the_values_mirrors_the_outliers(values: list[float]) -> None:
    there, back = count_outliers(values), count_outliers([-v for v in values])
    assert (there.low_severe, there.low_mild) == (back.high_severe, back.high_mild)


def test_normal_noise_has_hardly_any_severe_outliers() -> None:
    counts = count_outliers(np.random.default_rng(0).normal(size=20_000))
    assert counts.low_severe + counts.high_severe <= 2
    assert counts.total == pytest.approx(0.007 * 20_000, rel=0.25)


def test_empty_and_nan_are_refused() -> None:
    for bad in ([], [math.nan]):
        with pytest.raises(ValueError, match=r"at least 1|NaN"):
            classify(bad)
