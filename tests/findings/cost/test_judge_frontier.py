from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.cost.judge import frontier, frontier_shares, on_frontier


def beaten_by_nobody(costs: list[float], values: list[float]) -> list[bool]:
    """Every point against every other."""
    return [
        not any(
            costs[j] <= costs[i] and values[j] >= values[i] and (costs[j] < costs[i] or values[j] > values[i])
            for j in range(len(costs))
        )
        for i in range(len(costs))
    ]


def test_only_points_that_no_other_beats_lie_on_the_frontier() -> None:
    #         cheap and bad, good, dearer and worse, dearest and best
    assert frontier([1, 2, 3, 4], [0.2, 0.8, 0.5, 0.9]) == [True, True, False, True]


def test_of_points_with_equal_cost_only_the_best_stays_and_of_equal_value_only_the_cheapest() -> None:
    assert frontier([1, 1, 2], [0.5, 0.6, 0.6]) == [False, True, False]


def test_equal_points_stay_together_or_fall_together() -> None:
    assert frontier([1, 1, 2, 2], [0.5, 0.5, 0.4, 0.4]) == [True, True, False, False]
    assert frontier([1, 2, 2], [0.5, 0.7, 0.7]) == [True, True, True]


def test_what_is_free_is_on_the_frontier_and_beats_what_is_no_better() -> None:
    assert frontier([0.0, 0.0, 0.1], [0.4, 0.3, 0.4]) == [True, False, False]


def test_one_point_is_its_own_frontier_and_none_have_none() -> None:
    assert frontier([3], [0]) == [True]
    assert frontier([], []) == []


few = st.integers(0, 6).map(float)


@given(st.lists(st.tuples(few, few), max_size=12))
def test_the_frontier_is_what_comparing_every_pair_gives(points: list[tuple[float, float]]) -> None:
    costs, values = [cost for cost, _ in points], [value for _, value in points]
    assert frontier(costs, values) == beaten_by_nobody(costs, values)


@given(st.lists(st.lists(st.tuples(few, few), min_size=4, max_size=4), min_size=1, max_size=6))
def test_many_sets_at_once_give_what_each_gives_alone(sets: list[list[tuple[float, float]]]) -> None:
    grid = np.array(sets)
    together = on_frontier(grid[..., 0], grid[..., 1])
    alone = [beaten_by_nobody(list(part[:, 0]), list(part[:, 1])) for part in grid]
    assert together.tolist() == alone
    assert np.allclose(frontier_shares(grid[..., 0], grid[..., 1]), np.mean(alone, axis=0))
