from __future__ import annotations

import functools
import math
import operator

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentdyno.findings.board.judge_ranks import (
    case_errors,
    competition_ranks,
    floats,
    owners_of,
    pooled,
    rank_rows,
    ranked_scores,
    share_errors,
)
from agentdyno.findings.board.model import RankedScore
from agentdyno.findings.figures.dimensions import DIMENSIONS, WEIGHTS, overall
from agentdyno.stats import wilson

from ...properties import examples

NAN = math.nan
SCORES = st.one_of(st.just(NAN), st.integers(0, 8).map(lambda eighths: eighths / 8))


def naive_rank(score: float, everyone: list[float]) -> int:
    """What RANK() OVER (ORDER BY score DESC) gives; 0 where there is no score."""
    return 0 if math.isnan(score) else 1 + sum(other > score for other in everyone)


@given(st.lists(SCORES, max_size=30))
def test_equal_scores_share_a_rank_and_the_next_is_skipped(scores: list[float]) -> None:
    assert competition_ranks(np.array(scores)).tolist() == [naive_rank(score, scores) for score in scores]


def test_ranks_by_hand() -> None:
    assert competition_ranks(np.array([0.5, 0.9, NAN, 0.9, 0.1])).tolist() == [3, 1, 0, 1, 4]


def test_sums_that_differ_in_the_last_digit_are_a_tie() -> None:
    assert (0.1 + 0.2) + 0.3 != 0.1 + (0.2 + 0.3)
    assert competition_ranks(np.array([(0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)])).tolist() == [1, 1]


@examples(50)
@given(st.integers(1, 6), st.integers(1, 40), st.integers(0, 2**32 - 1), st.booleans())
def test_rows_of_draws_are_ranked_alike(rows: int, agents: int, seed: int, coarse: bool) -> None:
    draws = np.random.default_rng(seed).integers(0, 9 if coarse else 2049, (rows, agents))
    draws32 = (draws / (8 if coarse else 2048)).astype(np.float32)
    expected = [[naive_rank(score, row) for score in row] for row in draws.tolist()]
    assert rank_rows(draws32).tolist() == expected


def test_thousands_of_agents_are_ranked_alike() -> None:
    scores = np.random.default_rng(1).integers(0, 2000, (2, 3000))
    expected = [competition_ranks(row.astype(np.float64)).tolist() for row in scores]
    assert rank_rows((scores / 2048).astype(np.float32)).tolist() == expected


def board(*rows: tuple[list[float], float], seed: int = 0) -> list[dict[str, RankedScore]]:
    """One agent per row: five scores and one error for all of them."""
    scores = np.array([scores for scores, _ in rows])
    errors = np.array([[error] * 5 for _, error in rows])
    return ranked_scores(scores, errors, WEIGHTS, seed)


def test_intervals_are_two_standard_errors_wide_and_stay_within_bounds() -> None:
    first, second = board(([0.5, 0.99, 0.02, 1.0, 0.0], 0.1), ([NAN] * 5, 0.1))
    assert first["accuracy"].interval == pytest.approx((0.5 - 0.1959964, 0.5 + 0.1959964))
    assert first["speed"].interval == pytest.approx((0.99 - 0.1959964, 1.0))
    assert first["efficiency"].interval == pytest.approx((0.0, 0.02 + 0.1959964))
    assert first["cost"].interval == pytest.approx((0.8040036, 1.0))
    assert first["reliability"].interval == pytest.approx((0.0, 0.1959964))
    # 0.15 + 0.198 + 0.004 + 0.15 + 0; the errors are 0.1 times the weights' root of squares
    assert first["overall"].score == pytest.approx(0.502)
    half = 1.959964 * 0.1 * math.sqrt(0.09 + 0.04 + 0.04 + 0.0225 + 0.0225)
    assert first["overall"].interval == pytest.approx((0.502 - half, 0.502 + half))
    assert set(second.values()) == {RankedScore(None)}


def test_a_perfect_score_ends_at_one_though_the_sum_of_its_weights_is_rounded_up() -> None:
    (agent,) = board(([1.0, 1.0, 1.0, NAN, NAN], 0.01))
    weights = [WEIGHTS[name] for name in DIMENSIONS[:3]]
    # added one after the other, as Python's own sum did before 3.12
    added = functools.reduce(operator.add, (weight / functools.reduce(operator.add, weights) for weight in weights))
    assert added > 1, "the case that was once shown as 1.0000000000000002"
    assert agent["overall"].score == 1.0
    assert agent["overall"].interval is not None
    assert agent["overall"].interval[1] == 1.0


def test_agents_far_apart_have_exact_ranks() -> None:
    for place, agent in enumerate(board(*(([0.9 - 0.2 * step] * 5, 0.01) for step in range(4)))):
        for score in agent.values():
            assert (score.rank, score.rank_interval) == (place + 1, (place + 1, place + 1))


def test_agents_that_are_alike_share_a_rank_and_could_be_anywhere() -> None:
    for agent in board(*(([0.5] * 5, 0.1) for _ in range(10))):
        for score in agent.values():
            assert score.rank == 1
            assert score.rank_interval in ((1, 9), (1, 10))


def test_two_groups_do_not_mix() -> None:
    agents = board(*(([0.8] * 5, 0.02) for _ in range(3)), *(([0.3] * 5, 0.02) for _ in range(3)))
    assert {agent["overall"].rank_interval for agent in agents[:3]} == {(1, 3)}
    assert {agent["overall"].rank for agent in agents[3:]} == {4}
    assert {agent["overall"].rank_interval for agent in agents[3:]} == {(4, 6)}


def test_how_often_two_agents_change_places_follows_the_normal_law() -> None:
    # A difference of 0.1 with errors of 0.03 each: reversed in 0.92 % of draws, less than 2.5 %.
    first, _ = board(([0.6] * 5, 0.03), ([0.5] * 5, 0.03))
    assert first["speed"].rank_interval == (1, 1)
    # With errors of 0.05 each: reversed in 7.9 %.
    first, _ = board(([0.6] * 5, 0.05), ([0.5] * 5, 0.05))
    assert first["speed"].rank_interval == (1, 2)


def test_the_seed_decides_the_draws_and_nothing_else() -> None:
    rows = [([0.5 + 0.004 * step] * 5, 0.05) for step in range(60)]
    assert board(*rows, seed=7) == board(*rows, seed=7)
    one, other = board(*rows, seed=7), board(*rows, seed=8)
    assert [agent["cost"].rank_interval for agent in one] != [agent["cost"].rank_interval for agent in other]
    assert [agent["cost"].rank for agent in one] == [agent["cost"].rank for agent in other]
    assert [agent["cost"].interval for agent in one] == [agent["cost"].interval for agent in other]
    assert board(*rows, seed=-7) == one


def test_without_an_error_a_score_has_no_interval_and_its_rank_none() -> None:
    scores = np.array([[0.6] * 5, [0.59] * 5])
    errors = np.array([[0.1, NAN, NAN, NAN, NAN], [NAN] * 5])
    first, second = ranked_scores(scores, errors, WEIGHTS)
    assert first["accuracy"].rank_interval == (1, 2)
    assert first["speed"] == RankedScore(0.6, None, 1, None)
    # The overall score moves with accuracy alone; how far in all is not known.
    assert first["overall"].interval is None
    assert first["overall"].rank_interval == (1, 2)
    assert second["accuracy"] == RankedScore(0.59, None, 2, None)
    assert second["overall"].rank_interval is None


def test_a_known_error_of_nothing_is_certain() -> None:
    first, second = board(([1.0] * 5, 0.0), ([0.5] * 5, 0.0))
    assert first["speed"] == RankedScore(1.0, (1.0, 1.0), 1, (1, 1))
    assert second["speed"] == RankedScore(0.5, (0.5, 0.5), 2, (2, 2))


def test_a_dimension_without_weight_moves_no_overall_score() -> None:
    scores = np.array([[0.6, 0.1, 0.1, 0.1, 0.1], [0.5, 0.9, 0.9, 0.9, 0.9]])
    errors = np.array([[0.01, 0.9, NAN, 0.9, 0.9]] * 2)
    first, second = ranked_scores(scores, errors, {"accuracy": 2.0})
    assert first["overall"] == first["accuracy"]
    assert second["overall"] == second["accuracy"]
    only_speed = ranked_scores(np.array([[0.5, NAN, NAN, NAN, NAN]]), errors[:1], {"speed": 1.0})[0]
    assert only_speed["accuracy"].rank == 1
    assert only_speed["overall"] == RankedScore(None)


@examples(60)
@given(
    st.lists(st.tuples(*([SCORES] * 5)), max_size=8),
    st.sampled_from([0.0, 0.01, 0.2, 5.0, NAN]),
)
@example([(1.0, 1.0, 1.0, NAN, NAN)], 0.01)
def test_every_interval_holds_its_score_and_its_rank(rows: list[tuple[float, ...]], error: float) -> None:
    scores = np.array(rows).reshape(len(rows), 5)
    for row, agent in zip(rows, ranked_scores(scores, np.full_like(scores, error), WEIGHTS), strict=True):
        known = {name: None if math.isnan(score) else score for name, score in zip(DIMENSIONS, row, strict=True)}
        assert agent["overall"].score == (None if (whole := overall(known)) is None else pytest.approx(whole))
        for score in agent.values():
            assert (score.rank is None) == (score.score is None)
            if score.interval is not None and score.score is not None:
                assert 0 <= score.interval[0] <= score.score <= score.interval[1] <= 1
            if score.rank_interval is not None and score.rank is not None:
                assert 1 <= score.rank_interval[0] <= score.rank <= score.rank_interval[1] <= len(rows)


@pytest.mark.parametrize("cases", [1, 3, 20, 500])
def test_all_or_none_right_is_as_uncertain_as_wilson_says(cases: int) -> None:
    errors = share_errors(np.array([1.0, 0.0, 0.5]), np.array([0.0, NAN, 0.0]), np.full(3, float(cases)))
    assert 1 - 1.959963984540054 * errors[0] == pytest.approx(wilson(cases, cases).low)
    assert 1.959963984540054 * errors[1] == pytest.approx(wilson(0, cases).high)
    assert errors[2] == 0.0


def test_an_error_that_is_larger_than_the_least_stays() -> None:
    errors = share_errors(np.array([1.0, 1.0, 1.0]), np.array([0.3, 0.0, 0.2]), np.array([100.0, 0.0, NAN]))
    assert errors[0] == 0.3
    assert math.isnan(errors[1])
    assert errors[2] == 0.2


def test_the_error_of_accuracy_follows_from_its_cases_where_it_is_not_given() -> None:
    scores = floats([(0.5, 1.0, None, None, 1.0)] * 3, 5)
    given = floats([(None, 0.0, None, None, 0.0), (0.07, 0.0, None, None, None), (None, 0.0, None, None, None)], 5)
    errors = case_errors(scores, given, np.array([0.25, 0.25, NAN]), np.array([25.0, 25.0, 1.0]))
    assert errors[0, 0] == pytest.approx(0.1)
    assert errors[1, 0] == 0.07
    assert math.isnan(errors[2, 0])
    # Speed is no share: faster than its target in every resample is certain.
    assert errors[:, 1].tolist() == [0.0, 0.0, 0.0]
    assert errors[0, 4] == pytest.approx(1.959964 / (25 + 3.841459))
    assert math.isnan(errors[1, 4])


def test_rows_are_pooled_by_their_counts() -> None:
    values = floats([(0.8, 1.0), (0.2, 0.9), (None, None), (0.5, 0.5)], 2)
    errors = floats([(0.1, 0.2), (0.3, None), (None, 0.4), (None, 0.1)], 2)
    counts = floats([(3, 1), (1, 0), (7, 5), (2, 0)], 2)
    means, spread = pooled(owners_of([3, 1, 0]), 3, values, errors, counts)
    assert means[0].tolist() == pytest.approx([0.65, 1.0])
    assert spread[0].tolist() == pytest.approx([math.sqrt((3 * 0.1) ** 2 + 0.3**2) / 4, 0.2])
    assert means[1, 0] == 0.5
    assert np.isnan([spread[1, 0], means[1, 1], spread[1, 1], *means[2], *spread[2]]).all()


def test_what_is_not_finite_is_unknown() -> None:
    assert np.isnan(floats([(None, math.inf, NAN, -math.inf)], 4)).all()
    assert floats([], 3).shape == (0, 3)
