"""Buckets of equal relative width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.stats.histogram import GROWTH, LogCounts, bucket_of, bucket_quantile, middle_of

from .properties import quick

_RNG = np.random.default_rng(20)
DISTRIBUTIONS = {
    "uniform": _RNG.uniform(1e3, 1e6, 5000),
    "exponential": _RNG.exponential(5e7, 5000) + 1,
    "lognormal": _RNG.lognormal(16.0, 1.5, 5000),
    "pareto": (_RNG.pareto(1.1, 5000) + 1) * 1e6,
    "two humps": np.concatenate((_RNG.normal(1e6, 1e4, 2500), _RNG.normal(9e9, 1e7, 2500))),
    "all alike": np.full(100, 12_345_678.0),
    "few": np.array([5.0, 700.0, 80_000.0]),
    "one": np.array([42.0]),
    "large": _RNG.uniform(1e17, 9e18, 1000),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("q", [0.0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0])
def test_a_quantile_is_within_half_a_percent_of_numpys(name: str, q: float) -> None:
    values = np.floor(DISTRIBUTIONS[name]).astype(np.int64)
    counts = LogCounts()
    counts.add(values)
    found = bucket_quantile(*counts.filled(), q)
    assert found == pytest.approx(float(np.quantile(values.astype(np.float64), q)), rel=0.005)


@quick
@given(st.lists(st.integers(1, 2**62), min_size=1, max_size=50), st.floats(0.0, 1.0))
def test_no_values_at_all_make_a_quantile_wrong_by_more(values: list[int], q: float) -> None:
    counts = LogCounts()
    counts.add(np.array(values, dtype=np.int64))
    exact = float(np.quantile(np.array(values, dtype=np.float64), q))
    assert bucket_quantile(*counts.filled(), q) == pytest.approx(exact, rel=0.005)


def test_a_bucket_begins_where_the_one_before_ends() -> None:
    edges = [GROWTH**index for index in range(3000)]
    assert bucket_of(np.array([edge * 1.000001 for edge in edges])).tolist() == list(range(3000))
    assert bucket_of(np.array([edge * 0.999999 for edge in edges[1:]])).tolist() == list(range(2999))
    assert middle_of(np.array([0])).tolist() == pytest.approx([1.01**0.5])


def test_what_is_below_one_is_in_the_first_bucket_and_adds_nothing_negative() -> None:
    counts = LogCounts()
    counts.add(np.array([0, -7, 1], dtype=np.int64))
    indices, numbers = counts.filled()
    assert (indices.tolist(), numbers.tolist()) == ([0], [3])
    assert (counts.count, counts.total, counts.maximum) == (3, 1, 1)


@quick
@given(st.lists(st.lists(st.integers(0, 2**50), max_size=20), max_size=6))
def test_filling_in_pieces_is_filling_at_once(pieces: list[list[int]]) -> None:
    parts, whole = LogCounts(), LogCounts()
    for piece in pieces:
        parts.add(np.array(piece, dtype=np.int64))
    whole.add(np.array([value for piece in pieces for value in piece], dtype=np.int64))
    assert [array.tolist() for array in parts.filled()] == [array.tolist() for array in whole.filled()]
    assert (parts.count, parts.total, parts.maximum) == (whole.count, whole.total, whole.maximum)


def test_nothing_counted_has_no_quantile() -> None:
    assert bucket_quantile(*LogCounts().filled(), 0.5) is None


@pytest.mark.parametrize("q", [-0.1, 1.1, float("nan")])
def test_a_quantile_outside_of_zero_to_one_is_refused(q: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        bucket_quantile(*LogCounts().filled(), q)
