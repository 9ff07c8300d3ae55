from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.stats.inversion import Inversion, invert_totals
from agentdyno.stats.swap import (
    MOST_DRAWS,
    Level,
    every_pattern,
    jackknife_error,
    random_patterns,
    rank_biserial,
)

from ..properties import examples

Numbers = npt.NDArray[np.float64]


def mean(sums: Numbers) -> Numbers:
    return np.asarray(sums[:, 0] / sums[:, 1])


def log_ratio(sums: Numbers) -> Numbers:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums[:, 0] / sums[:, 1]))


def units(values: list[float]) -> Numbers:
    return np.array([[value, 1.0] for value in values])


def swap_test(first: Numbers, second: Numbers, level: Level, seed: int = 0) -> Inversion:
    return invert_totals(first, second, level, np.full(len(first), 1 / len(first)), alpha=0.05, seed=seed)


FIRST = [12.1, 9.3, 14.0, 8.8, 11.5, 10.2, 13.3, 9.9]
SECOND = [11.0, 9.1, 12.2, 9.4, 10.1, 9.5, 12.8, 9.0]


def test_few_units_are_tested_exactly_as_scipy_does() -> None:
    found = swap_test(units(FIRST), units(SECOND), mean)
    expected = scipy.stats.permutation_test(
        (np.array(SECOND), np.array(FIRST)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=10_000,
    )
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.low <= np.mean(SECOND) - np.mean(FIRST) <= found.high
    assert found.method == "swap test exact"


def test_a_quotient_of_sums_is_tested_by_trying_every_exchange() -> None:
    first = np.array([[3.0, 1.0], [5.0, 2.0], [2.0, 1.0], [9.0, 2.0], [4.0, 0.0], [6.0, 2.0]])
    second = np.array([[2.0, 1.0], [3.0, 2.0], [2.5, 2.0], [5.0, 2.0], [4.5, 1.0], [3.0, 2.0]])

    def difference(swapped: tuple[int, ...]) -> float:
        sides = [[0.0, 0.0], [0.0, 0.0]]
        for place, swap in enumerate(swapped):
            for side, rows in ((0, first), (1, second)):
                for column in (0, 1):
                    sides[side ^ swap][column] += rows[place][column]
        return math.log(sides[1][0] / sides[1][1]) - math.log(sides[0][0] / sides[0][1])

    every = [difference(pattern) for pattern in itertools.product((0, 1), repeat=6)]
    observed = difference((0,) * 6)
    expected = sum(abs(value) >= abs(observed) - 1e-12 for value in every) / len(every)
    found = swap_test(first, second, log_ratio)
    assert found.p_value == pytest.approx(expected)


def test_many_units_are_tested_by_chance_and_come_near_the_exact_test() -> None:
    random = np.random.default_rng(3)
    first = random.normal(10.0, 2.0, 16)
    second = first + random.normal(0.5, 1.0, 16)
    exact = scipy.stats.permutation_test(
        (second, first),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=100_000,
    )
    found = swap_test(units(first.tolist()), units(second.tolist()), mean, seed=5)
    assert found.method == "swap test"
    assert found.p_value == pytest.approx(float(exact.pvalue), abs=0.01)


def test_what_no_exchange_equals_is_as_unlikely_as_the_draws_can_say() -> None:
    first, second = units([1.0] * 40), units([2.0] * 40)
    assert swap_test(first, second, mean).p_value == pytest.approx(1 / (MOST_DRAWS + 1))


def test_what_is_far_from_significant_is_not_drawn_more_often() -> None:
    random = np.random.default_rng(4)
    first, second = (units(random.normal(1.0, 0.1, 30).tolist()) for _ in range(2))
    found = swap_test(first, second, mean)
    assert found.p_value > 0.1
    assert found.p_value * 2_000 == pytest.approx(round(found.p_value * 2_000))


def test_equal_sides_differ_by_nothing() -> None:
    for size in (4, 40):
        assert swap_test(units([1.0, 2.0] * size), units([1.0, 2.0] * size), mean).p_value == 1.0


def test_an_exchange_that_leaves_a_side_without_a_level_counts_as_far() -> None:
    first = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    second = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    # Of the four patterns two are as far as what was seen; none of them leaves a side without a success.
    assert swap_test(first, second, log_ratio).p_value == pytest.approx(0.5)
    lost = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([[1.0, 1.0], [1.0, 0.0]])
    assert swap_test(*lost, log_ratio).p_value == 1.0


def test_nothing_is_tested_without_a_level() -> None:
    with pytest.raises(ValueError, match="nothing to test"):
        swap_test(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]]), log_ratio)


@given(
    st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), min_size=2, max_size=10),
)
@examples(40)
def test_the_sides_can_be_exchanged(pairs: list[tuple[float, float]]) -> None:
    first, second = units([a for a, _ in pairs]), units([b for _, b in pairs])
    one, other = swap_test(first, second, mean), swap_test(second, first, mean)
    assert one.p_value == other.p_value
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert 0.0 < one.p_value <= 1.0


def test_patterns_are_all_of_them_with_the_first_unit_in_its_place() -> None:
    found = every_pattern(4)
    assert len({tuple(row) for row in found.tolist()}) == len(found) == 8
    assert not found[:, 0].any()


def test_random_patterns_are_fair_and_the_same_for_a_seed() -> None:
    found = random_patterns(30, 2_000, 1)
    assert found.shape == (2_000, 30)
    assert abs(found.mean() - 0.5) < 0.01
    assert (found == random_patterns(30, 2_000, 1)).all()
    assert (found != random_patterns(30, 2_000, 2)).any()


def test_the_jackknife_of_a_mean_is_its_standard_error() -> None:
    differences = np.array(SECOND) - np.array(FIRST)
    expected = differences.std(ddof=1) / math.sqrt(len(FIRST))
    assert jackknife_error(units(FIRST), units(SECOND), mean) == pytest.approx(expected)


def test_the_jackknife_knows_its_bounds() -> None:
    assert jackknife_error(units([1.0]), units([2.0]), mean) is None
    assert jackknife_error(units([1.0, 1.0]), units([2.0, 2.0]), mean) == 0.0
    alone = np.array([[1.0, 1.0], [1.0, 0.0]])
    assert jackknife_error(alone, alone + 1.0, log_ratio) is None


def test_the_rank_biserial_correlation_weighs_rises_against_falls() -> None:
    # Ranks 1, 2 and 3: 1 - 2 + 3 of 6.
    assert rank_biserial([1.0, -2.0, 3.0]) == pytest.approx(1 / 3)
    assert rank_biserial([0.0, 5.0]) == 1.0
    assert rank_biserial([0.0, 0.0]) is None
    # Infinite: ranks 1, 2.5 and 2.5.
    assert rank_biserial([1.0, math.inf, -math.inf, math.nan]) == pytest.approx(1 / 6)
