"""Histograms of durations in seconds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.figures.histograms import histogram, mean, merged, quantile, share_above, spread
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.load import Histogram

from ...properties import examples

values_ns = st.lists(st.integers(0, 10**13), max_size=30)
quick = examples(60)


def test_count_total_maximum_and_mean_are_exact() -> None:
    made = histogram(np.array([1_000_000, 2_000_000, 6_000_000]))
    assert (made.count, made.maximum) == (3, 0.006)
    assert made.total == pytest.approx(0.009, rel=1e-12)
    assert mean(made) == pytest.approx(0.003, rel=1e-12)
    assert sum(made.buckets.values()) == 3


def test_a_quantile_is_in_seconds_and_never_above_what_was_seen() -> None:
    # Just above the lower end of a bucket, whose middle is half a percent higher.
    value_ns = int(1.01**1781) + 1
    made = histogram(np.full(10, value_ns))
    assert [quantile(made, q) for q in (0.0, 0.5, 1.0)] == pytest.approx([value_ns / 1e9] * 3, rel=1e-12)


def test_nothing_counted_is_unknown_everywhere() -> None:
    empty = Histogram()
    assert (quantile(empty, 0.5), mean(empty), share_above(empty, 1.0)) == (None, None, None)
    assert spread(empty) == ()
    assert merged([]) == empty


@quick
@given(st.lists(values_ns, max_size=5))
def test_merging_is_the_histogram_of_all_values(parts: list[list[int]]) -> None:
    found = merged(histogram(np.array(part, dtype=np.int64)) for part in parts)
    whole = histogram(np.array([value for part in parts for value in part], dtype=np.int64))
    assert dict(found.buckets) == dict(whole.buckets)
    assert list(found.buckets) == list(whole.buckets)
    assert (found.count, found.maximum) == (whole.count, whole.maximum)
    assert found.total == pytest.approx(whole.total, rel=1e-9)


@quick
@given(values_ns, st.floats(0.0, 1e5))
def test_the_share_above_is_right_but_for_one_bucket(values: list[int], seconds: float) -> None:
    made = histogram(np.array(values, dtype=np.int64))
    found = share_above(made, seconds)
    if not values:
        assert found is None
        return
    assert found is not None
    at_ns = seconds * 1e9
    certain = sum(value > max(at_ns, 1.0) * 1.0101 for value in values) / len(values)
    possible = sum(value > at_ns / 1.0101 or value <= 1 for value in values) / len(values)
    assert certain - 1e-9 <= found <= possible + 1e-9


def test_shares_at_the_ends_are_whole() -> None:
    made = histogram(np.array([10_000_000, 20_000_000]))
    assert (share_above(made, 0.0), share_above(made, 0.015), share_above(made, 0.02)) == (1.0, 0.5, 0.0)


def test_a_histogram_reads_back_from_json_in_any_order_of_its_buckets() -> None:
    made = histogram(np.array([1_000, 5_000_000, 7_000_000_000]))
    shuffled = Histogram(dict(reversed(list(made.buckets.items()))), made.count, made.total, made.maximum)
    read = from_plain(Histogram, to_plain(shuffled))
    assert [quantile(read, q) for q in (0.0, 0.5, 1.0)] == [quantile(made, q) for q in (0.0, 0.5, 1.0)]


def test_the_spread_has_each_bucket_at_its_middle() -> None:
    found = spread(histogram(np.array([1_000_000, 1_000_000, 8_000_000])))
    assert [count for _, count in found] == [2, 1]
    assert [middle for middle, _ in found] == pytest.approx([0.001, 0.008], rel=0.005)
