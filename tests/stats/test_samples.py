"""Medians and quantiles of our own are numpy's, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from agentdyno.stats.samples import median_of, medians_of, quantiles_of

FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(arrays.arrays(np.float64, st.integers(1, 40), elements=FINITE | st.sampled_from((0.0, 1.0, 2.0))))
def test_a_median_is_that_of_numpy(values: np.ndarray) -> None:
    assert median_of(values) == np.median(values)


@given(arrays.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 18)), elements=FINITE))
def test_medians_of_rows_are_those_of_numpy(rows: np.ndarray) -> None:
    assert medians_of(rows).tolist() == np.median(rows, axis=-1).tolist()


def test_a_median_of_what_is_not_known_is_not_known() -> None:
    assert np.isnan(median_of(np.array([1.0, np.nan, 2.0, 3.0])))


@given(
    arrays.arrays(np.float64, st.integers(1, 40), elements=FINITE | st.sampled_from((0.0, 1.0, 2.0))),
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4),
)
def test_quantiles_are_those_of_numpy(values: np.ndarray, levels: list[float]) -> None:
    assert quantiles_of(values, levels) == np.quantile(values, levels).tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 100, 1000])
def test_quantiles_of_many_values_are_those_of_numpy(size: int) -> None:
    values = np.random.default_rng(size).lognormal(size=size)
    levels = [0.5, 0.75, 0.9, 0.95, 0.0, 1.0]
    assert quantiles_of(values, levels) == np.quantile(values, levels).tolist()
