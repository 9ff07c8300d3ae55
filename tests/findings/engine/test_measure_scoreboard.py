"""Medians of two sides under exchanges, against the plain way."""

from __future__ import annotations

import numpy as np
import pytest

from agentdyno.findings.engine.measure_scoreboard import exchanged_medians
from agentdyno.stats.swap import exchanged, random_patterns


@pytest.mark.parametrize("count", [1, 2, 3, 8, 127, 128, 200])
def test_medians_under_exchanges_are_those_of_the_sides_put_together(count: int) -> None:
    """From 128 cases on, sums of a side no longer fit into one byte; every third case shares its unit."""
    random = np.random.default_rng(count)
    first, second = random.integers(1, 40, (2, count)).astype(np.float64)
    units = np.maximum.accumulate(np.where(np.arange(count) % 3 == 1, 0, np.arange(count)))
    patterns = random_patterns(count, 50, count)
    found = exchanged_medians((first, second), np.ascontiguousarray(patterns.T), units)
    swapped = patterns[:, units].astype(bool)
    for side, (own, other) in zip(found, ((first, second), (second, first)), strict=True):
        assert side == pytest.approx(np.median(np.where(swapped, other, own), axis=1))


@pytest.mark.parametrize("draws", [1, 999, 1_000, 2_345])
def test_what_patterns_move_is_the_sum_of_the_rows_that_they_exchange(draws: int) -> None:
    """A hundred units in two columns go in pieces of a thousand patterns."""
    difference = np.random.default_rng(1).normal(size=(100, 2))
    patterns = random_patterns(100, draws, 3)
    assert exchanged(patterns, difference) == pytest.approx(patterns.astype(np.float64) @ difference)
