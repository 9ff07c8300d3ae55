"""The partition is the best there is, whatever was pruned on the way."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.stats.samples import Array
from agentdyno.stats.series import partition as module
from agentdyno.stats.series.partition import partition

from .properties import quick


def cost(values: Array, changes: list[int], penalty: float) -> float:
    bounds = [0, *changes, values.size]
    squares = sum(float(np.square(values[a:b] - values[a:b].mean()).sum()) for a, b in itertools.pairwise(bounds))
    return squares + penalty * len(changes)


def brute_force(values: Array, penalty: float, min_size: int) -> float:
    """Least cost over all partitions, by the plain recursion over every last change."""
    best = [math.inf] * (values.size + 1)
    best[0] = -penalty
    for end in range(min_size, values.size + 1):
        for start in [0, *range(min_size, end - min_size + 1)]:
            if end - start >= min_size:
                stretch = values[start:end]
                spent = float(np.square(stretch - stretch.mean()).sum())
                best[end] = min(best[end], best[start] + penalty + spent)
    return best[values.size]


def steppy(seed: int, n: int, every: int = 7) -> Array:
    random = np.random.default_rng(seed)
    return random.standard_normal(n) + np.repeat(random.normal(0.0, 2.0, n // every + 1), every)[:n]


@pytest.mark.parametrize("block", [5, 16, 128])
@pytest.mark.parametrize("min_size", [1, 2, 4, 6])
def test_it_costs_what_the_best_of_all_partitions_costs(
    block: int, min_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    monkeypatch.setattr(module, "_STRIDE", 2)
    for seed in range(12):
        values = steppy(seed, 2 * min_size + 9 * seed)
        for penalty in (0.7, 3.0, 12.0):
            changes = partition(values, penalty, min_size)
            assert cost(values, changes, penalty) == pytest.approx(brute_force(values, penalty, min_size), rel=1e-9)


def test_every_exhaustive_choice_of_changes_costs_as_much_or_more() -> None:
    values = steppy(3, 14, every=5)
    best = cost(values, partition(values, 2.0, 3), 2.0)
    for count in range(4):
        for changes in itertools.combinations(range(3, 12), count):
            if all(b - a >= 3 for a, b in itertools.pairwise([0, *changes, 14])):
                assert cost(values, list(changes), 2.0) >= best - 1e-9


@quick
@given(st.lists(st.floats(-100, 100), min_size=8, max_size=40), st.floats(0.01, 1000))
def test_it_is_optimal_on_any_values(numbers: list[float], penalty: float) -> None:
    values = np.array(numbers)
    changes = partition(values, penalty)
    assert all(b - a >= 4 for a, b in itertools.pairwise([0, *changes, values.size]))
    assert cost(values, changes, penalty) == pytest.approx(brute_force(values, penalty, 4), rel=1e-6, abs=1e-6)


def test_pruning_over_many_blocks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = steppy(8, 700, every=60)
    pruned = partition(values, 14.0)
    monkeypatch.setattr(module._Search, "_narrow", lambda *_: None)
    monkeypatch.setattr(module._Search, "_drop_covered", lambda *_: None)
    assert partition(values, 14.0) == pruned != []


def test_few_candidates_are_left_where_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []
    narrow = module._Search._drop_covered

    def watch(search: module._Search, candidates: module._Candidates, stop: int) -> None:
        narrow(search, candidates, stop)
        left.append(candidates.at.size)

    monkeypatch.setattr(module._Search, "_drop_covered", watch)
    assert partition(np.random.default_rng(1).standard_normal(20_000), 40.0) == []
    assert max(left) < 100


def test_too_short_a_series_is_one_stretch() -> None:
    assert partition([1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0], 0.1) == []
    assert partition([], 0.1) == []


@pytest.mark.parametrize("penalty", [0.0, -1.0, math.nan])
def test_a_price_that_is_none_is_refused(penalty: float) -> None:
    with pytest.raises(ValueError, match="penalty must be above zero"):
        partition([1.0] * 20, penalty)
