from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from agentdyno.errors import SpecError
from agentdyno.findings.board.judge import leaderboard, matrix
from agentdyno.findings.board.model import Leaderboard, MatrixEntry, RankedScore
from agentdyno.findings.board.model_rows import LeaderboardRow
from agentdyno.findings.figures.dimensions import DIMENSIONS, WEIGHTS, check_weights, overall

from ..board_rows import NONE, even, leaderboard_row, matrix_row

FULL = (0.9, 0.5, 0.4, 0.3, 0.8)
"""0.27 + 0.10 + 0.08 + 0.045 + 0.12: 0.615 overall."""


def ranks(scores: Mapping[str, RankedScore]) -> list[int | None]:
    return [scores[name].rank for name in (*DIMENSIONS, "overall")]


def entry(entries: tuple[MatrixEntry, ...], agent: str) -> MatrixEntry:
    return next(item for item in entries if item.agent == agent)


def board(
    *rows: LeaderboardRow, previous: tuple[LeaderboardRow, ...] = (), category: str = "overall", metric: str = "all"
) -> Leaderboard:
    return leaderboard(rows, previous, category=category, metric=metric, days=30, until=9_000)


# The comparison matrix.


def test_scores_are_means_over_benchmarks_and_ranks_skip_after_ties() -> None:
    found = matrix(
        [
            matrix_row("a@1", "facts", FULL),
            matrix_row("a@1", "maths", (0.7, 0.7, 0.4, 0.3, 0.6)),
            matrix_row("b@1", "facts", (0.8, 0.9, 0.1, 0.3, 1.0)),
            matrix_row("b@1", "maths", (0.8, 0.9, 0.1, 0.3, 1.0)),
            matrix_row("c@1", "facts", (0.2, 0.6, 0.4, 0.1, 0.5)),
            matrix_row("c@1", "maths", (0.4, 0.6, 0.4, 0.1, 0.5)),
        ],
        suite="comprehensive",
    )
    assert (found.suite, found.benchmarks, found.weights) == ("comprehensive", 2, WEIGHTS)
    a, b, c = (entry(found.entries, agent) for agent in ("a@1", "b@1", "c@1"))
    assert [a.scores[name].score for name in DIMENSIONS] == pytest.approx([0.8, 0.6, 0.4, 0.3, 0.7])
    # 0.24 + 0.12 + 0.08 + 0.045 + 0.105; 0.24 + 0.18 + 0.02 + 0.045 + 0.15; 0.09 + 0.12 + 0.08 + 0.015 + 0.075
    assert [item.scores["overall"].score for item in (a, b, c)] == pytest.approx([0.59, 0.635, 0.38])
    assert ranks(a.scores) == [1, 2, 1, 1, 2, 2]
    assert ranks(b.scores) == [1, 1, 3, 1, 1, 1]
    assert ranks(c.scores) == [3, 2, 1, 3, 3, 3]
    assert [item.agent for item in found.entries] == ["b@1", "a@1", "c@1"]
    assert not any(item.partial for item in found.entries)


def test_the_overall_score_follows_the_given_weights() -> None:
    found = matrix([matrix_row("a@1", scores=FULL)], weights={"accuracy": 3, "cost": 1})
    assert found.entries[0].scores["overall"].score == pytest.approx((3 * 0.9 + 0.3) / 4)
    assert found.weights == {"accuracy": 3.0, "speed": 0.0, "efficiency": 0.0, "cost": 1.0, "reliability": 0.0}


def test_a_missing_dimension_makes_the_overall_score_partial() -> None:
    found = matrix([matrix_row("a@1", scores=(0.9, 0.5, None, None, 0.8)), matrix_row("b@1", scores=FULL)])
    a, b = (entry(found.entries, agent) for agent in ("a@1", "b@1"))
    assert a.missing == ("efficiency", "cost")
    assert a.scores["overall"].score == pytest.approx((0.27 + 0.10 + 0.12) / 0.65)
    assert ranks(a.scores) == [1, 1, None, None, 1, 1]
    assert a.scores["cost"] == RankedScore(None)
    assert ranks(b.scores) == [1, 1, 1, 1, 1, 2]
    assert b.missing == ()


def test_a_dimension_that_one_benchmark_lacks_is_missing_and_still_scored() -> None:
    (only,) = matrix(
        [matrix_row("a@1", "facts", FULL), matrix_row("a@1", "maths", (0.7, 0.5, 0.4, None, 0.8))]
    ).entries
    assert only.missing == ("cost",)
    assert only.scores["cost"].score == pytest.approx(0.3)
    assert only.scores["accuracy"].score == pytest.approx(0.8)


def test_a_dimension_without_weight_is_not_missed() -> None:
    (only,) = matrix([matrix_row("a@1", scores=(0.9, None, None, None, 0.8))], weights={"accuracy": 1}).entries
    assert not only.partial
    assert only.scores["overall"].score == pytest.approx(0.9)


def test_an_agent_that_did_fewer_benchmarks_is_partial() -> None:
    found = matrix(
        [matrix_row("a@1", "facts", FULL), matrix_row("a@1", "maths", FULL), matrix_row("b@1", "facts", even(1.0))]
    )
    assert found.benchmarks == 2
    assert entry(found.entries, "b@1").missing == ("benchmarks",)
    assert entry(found.entries, "b@1").benchmarks_completed == 1
    assert entry(found.entries, "a@1").missing == ()


def test_benchmarks_of_one_name_in_two_suites_are_two() -> None:
    rows = [matrix_row("a@1", scores=even(1.0)), matrix_row("a@1", scores=even(0.5), suite="other")]
    found = matrix(rows)
    assert found.benchmarks == 2
    assert found.entries[0].scores["overall"].score == pytest.approx(0.75)


def test_a_failed_attempt_leaves_the_success_before_it_in_force() -> None:
    failed_later = matrix_row("a@1", "facts", FULL, status="failed", at=500)
    never = matrix_row("b@1", "facts", status="partial", succeeded=False)
    found = matrix([failed_later, never, matrix_row("c@1", "facts", even(0.1))])
    assert [item.agent for item in found.entries] == ["a@1", "c@1", "b@1"]
    a, _, b = found.entries
    assert a.failing == ("facts",)
    assert (a.benchmarks_completed, a.last_success_at, a.missing) == (1, 500, ())
    assert a.scores["overall"].score == pytest.approx(0.615)
    assert set(b.scores.values()) == {RankedScore(None)}
    assert (b.failing, b.benchmarks_completed, b.last_success_at) == (("facts",), 0, None)
    assert b.missing == (*DIMENSIONS, "benchmarks")


def test_two_definitions_of_one_version_are_one_agent_with_its_latest_success() -> None:
    old = matrix_row("a@1", "facts", even(0.2), at=100, uid="first")
    new = matrix_row("a@1", "facts", even(0.6), at=200, uid="second")
    broken = matrix_row("a@1", "facts", at=300, status="failed", succeeded=False, uid="third")
    for rows in ([old, new, broken], [broken, new, old]):
        (only,) = matrix(rows).entries
        assert only.scores["overall"].score == pytest.approx(0.6)
        assert (only.last_success_at, only.failing, only.benchmarks_completed) == (200, ("facts",), 1)


def test_versions_are_agents_of_their_own() -> None:
    found = matrix([matrix_row("a@1", scores=even(0.2)), matrix_row("a@2", scores=even(0.4))])
    assert [(item.agent, item.name, item.version) for item in found.entries] == [("a@2", "a", "2"), ("a@1", "a", "1")]


def test_the_error_of_a_mean_over_benchmarks_by_hand() -> None:
    rows = [
        matrix_row("a@1", "facts", even(0.5), errors=(0.03, 0.06, 0.0, None, 0.03)),
        matrix_row("a@1", "maths", even(0.5), errors=(0.04, 0.08, 0.0, 0.01, 0.04)),
    ]
    scores = matrix(rows).entries[0].scores
    assert scores["accuracy"].interval == pytest.approx((0.5 - 1.959964 * 0.025, 0.5 + 1.959964 * 0.025))
    assert scores["speed"].interval == pytest.approx((0.5 - 1.959964 * 0.05, 0.5 + 1.959964 * 0.05))
    assert scores["efficiency"].interval == (0.5, 0.5)
    assert scores["cost"].interval is None
    assert scores["overall"].interval is None


def test_accuracy_without_an_error_uses_the_variance_of_its_cases() -> None:
    rows = [matrix_row("a@1", scores=even(0.6), cases=(24, 0.6, 0.24))]
    assert matrix(rows).entries[0].scores["accuracy"].interval == pytest.approx((0.6 - 0.1959964, 0.6 + 0.1959964))


def test_everything_right_in_few_cases_is_not_certain_to_stay_ahead() -> None:
    sure = matrix_row("many@1", scores=even(0.9), errors=even(0.01), cases=(400, 0.9, 0.09))
    lucky = matrix_row("few@1", scores=(1.0, 1.0, 1.0, 1.0, 1.0), errors=even(0.0), cases=(3, 1.0, 0.0))
    found = matrix([sure, lucky])
    few = entry(found.entries, "few@1")
    assert few.scores["accuracy"].rank == 1
    assert few.scores["accuracy"].interval == pytest.approx((0.4385, 1.0), abs=1e-4)  # Wilson's of 3 of 3
    assert few.scores["accuracy"].rank_interval == (1, 2)
    assert few.scores["reliability"].rank_interval == (1, 2)
    assert few.scores["speed"].rank_interval == (1, 1)


def test_the_same_rows_and_seed_give_the_same_matrix() -> None:
    rows = [matrix_row(f"a{number}@1", scores=even(0.5 + 0.003 * number), errors=even(0.05)) for number in range(50)]
    assert matrix(rows, seed=3) == matrix(rows, seed=3)
    assert matrix(rows, seed=3) != matrix(rows, seed=4)


def test_no_rows_make_an_empty_matrix() -> None:
    assert matrix([]).entries == ()


def test_scores_that_are_no_numbers_are_unknown() -> None:
    (only,) = matrix([matrix_row("a@1", scores=(math.nan, math.inf, 0.5, 0.5, 0.5))]).entries
    assert only.missing == ("accuracy", "speed")
    assert only.scores["accuracy"] == RankedScore(None)


# Weights.


def test_weights_are_used_as_given() -> None:
    assert check_weights({"speed": 2, "cost": 1}) == {
        "accuracy": 0.0,
        "speed": 2.0,
        "efficiency": 0.0,
        "cost": 1.0,
        "reliability": 0.0,
    }
    assert check_weights(WEIGHTS) == WEIGHTS
    assert overall({"speed": 0.5, "cost": 0.2, "accuracy": 1.0}, {"speed": 2, "cost": 1}) == pytest.approx(0.4)
    assert overall({"accuracy": 1.0}, {"speed": 2}) is None


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"acuracy": 1.0}, "Did you mean accuracy?"),
        ({"speed": -0.1}, "the weight of speed is -0.1"),
        ({"speed": math.nan}, "the weight of speed is nan"),
        ({"speed": math.inf}, "the weight of speed is inf"),
        ({"speed": True}, "the weight of speed is True"),
        ({"speed": "0.3"}, "the weight of speed is '0.3'"),
        ({"speed": 0.0, "cost": 0}, "no dimension has a weight above 0"),
        ({}, "no dimension has a weight above 0"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weights: dict[str, float], said: str) -> None:
    with pytest.raises(SpecError) as caught:
        check_weights(weights, where="dyno.yaml: weights")
    assert said in str(caught.value)
    assert caught.value.where == "dyno.yaml: weights"
    with pytest.raises(SpecError):
        matrix([], weights=weights)
    with pytest.raises(SpecError):
        leaderboard([], [], days=30, until=0, weights=weights)


# The leaderboard.


def test_a_leaderboard_of_a_category_ranks_by_dimension() -> None:
    found = board(
        leaderboard_row("a@1", (0.9, 0.2, 0.5, 0.5, 0.5), last=2000, cost_usd=0.2),
        leaderboard_row("b@1", (0.6, 0.8, 0.5, 0.5, 0.5), n=6, benchmarks=3),
        leaderboard_row("b@1", even(0.0), category="speed"),
        leaderboard_row("c@1", (0.6, 0.1, 0.4, 0.4, 0.4)),
        category="accuracy",
    )
    assert [item.agent for item in found.entries] == ["b@1", "a@1", "c@1"]
    b, a, c = found.entries
    assert [ranks(item.scores) for item in (a, b, c)] == [[1, 2, 1, 1, 1, 2], [2, 1, 1, 1, 1, 1], [2, 3, 3, 3, 3, 3]]
    # 0.27 + 0.04 + 0.25 and 0.18 + 0.16 + 0.25
    assert a.scores["overall"].score == pytest.approx(0.56)
    assert b.scores["overall"].score == pytest.approx(0.59)
    assert [item.best_ranking for item in (a, b, c)] == [1, 1, 2]
    assert (a.cost_usd, a.last_benchmark_at, a.executions, a.attempts) == (0.2, 2000, 4, 5)
    assert (b.cost_usd, b.benchmarks_completed, b.executions, b.category) == (None, 3, 6, "accuracy")
    assert (found.metric, found.days, found.until, found.total) == ("overall", 30, 9_000, 3)


def test_the_overall_category_weighs_each_by_its_executions() -> None:
    (only,) = board(
        leaderboard_row("a@1", even(0.9), category="accuracy", n=3, benchmarks=2, last=10, cost_usd=0.1),
        leaderboard_row("a@1", even(0.5), category="speed", n=1, benchmarks=1, last=30, cost_usd=0.3),
    ).entries
    assert only.scores["accuracy"].score == pytest.approx(0.8)
    assert only.cost_usd == pytest.approx(0.15)
    assert (only.benchmarks_completed, only.executions, only.last_benchmark_at) == (3, 4, 30)
    assert only.category == "overall"


def test_a_mean_counts_by_the_executions_that_know_it() -> None:
    (only,) = board(
        leaderboard_row("a@1", even(0.9), n=10, known=(10, 1, 10, 10, 10, 10, 10), cost_usd=1.0),
        leaderboard_row("a@1", even(0.3), category="speed", n=10, known=(10, 2, 10, 10, 10, 10, 0)),
    ).entries
    assert only.scores["accuracy"].score == pytest.approx(0.6)
    assert only.scores["speed"].score == pytest.approx(0.5)
    assert only.cost_usd == 1.0


def test_a_category_that_lacks_a_dimension_leaves_it_to_the_others() -> None:
    (only,) = board(
        leaderboard_row("a@1", (0.9, None, None, 0.2, None), n=3),
        leaderboard_row("a@1", (0.5, 0.4, None, None, None), category="speed", n=1),
    ).entries
    assert [only.scores[name].score for name in DIMENSIONS] == pytest.approx([0.8, 0.4, None, 0.2, None])
    assert only.missing == ("efficiency", "reliability")
    assert only.scores["overall"].score == pytest.approx((0.24 + 0.08 + 0.03) / 0.65)


def test_a_metric_orders_the_board_and_a_limit_cuts_it_after_ranking() -> None:
    rows = [leaderboard_row(f"a{step}@1", (0.1 * step, 1.0 - 0.1 * step, 0.5, 0.5, 0.5)) for step in range(1, 6)]
    found = leaderboard(rows, [], category="accuracy", metric="speed", days=7, until=1, limit=2, weights={"cost": 1})
    assert [item.agent for item in found.entries] == ["a1@1", "a2@1"]
    assert [item.scores["accuracy"].rank for item in found.entries] == [5, 4]
    assert {item.scores["overall"].rank for item in found.entries} == {1}
    assert (found.total, found.metric) == (5, "speed")


def test_ties_of_the_metric_are_listed_by_overall_score_then_by_name() -> None:
    rows = [
        leaderboard_row("d@1", (None, 0.9, 0.9, 0.9, 0.9)),
        leaderboard_row("c@1", even(0.5)),
        leaderboard_row("b@1", (0.5, 0.9, 0.9, 0.9, 0.9)),
        leaderboard_row("a@1", even(0.5)),
    ]
    assert [item.agent for item in board(*rows, metric="accuracy").entries] == ["b@1", "a@1", "c@1", "d@1"]


def test_a_trend_is_the_score_less_that_of_the_window_before() -> None:
    found = board(
        leaderboard_row("a@1", (0.9, 0.5, 0.5, 0.5, 0.5)),
        leaderboard_row("b@1", (0.5, 0.5, 0.5, 0.5, 0.5)),
        leaderboard_row("c@1", (0.4, 0.4, 0.4, 0.4, 0.4)),
        previous=(
            leaderboard_row("a@1", (0.8, 0.7, 0.5, 0.5, 0.5)),
            leaderboard_row("b@1", (0.4, 0.6, None, 0.5, 0.5)),
            leaderboard_row("c@0", even(0.1)),
        ),
    )
    a, b, c = found.entries
    # 0.30 * 0.1 - 0.20 * 0.2
    assert a.trend == pytest.approx(
        {"overall": -0.01, "accuracy": 0.1, "speed": -0.2, "efficiency": 0.0, "cost": 0.0, "reliability": 0.0}
    )
    assert b.trend["accuracy"] == pytest.approx(0.1)
    assert b.trend["efficiency"] is None
    assert b.trend["overall"] is None  # of other dimensions than before
    assert set(c.trend.values()) == {None}


def test_a_trend_of_one_category_does_not_look_at_another() -> None:
    found = board(
        leaderboard_row("a@1", even(0.9)),
        previous=(leaderboard_row("a@1", even(0.1), category="speed"), leaderboard_row("a@1", even(0.7))),
        category="accuracy",
    )
    assert found.entries[0].trend["cost"] == pytest.approx(0.2)


def test_an_agent_without_a_success_comes_last_without_scores() -> None:
    found = board(leaderboard_row("a@1", n=0, benchmarks=0, last=None), leaderboard_row("b@1", even(0.1)))
    last = found.entries[1]
    assert (last.agent, last.executions, last.attempts, last.best_ranking) == ("a@1", 0, 1, None)
    assert set(last.scores.values()) == {RankedScore(None)}
    assert last.last_benchmark_at is None
    assert found.entries[0].scores["accuracy"].rank == 1


def test_the_error_of_a_leaderboards_accuracy_counts_each_case_once() -> None:
    # Ten executions of one benchmark of 20 cases: 200 scores of 20 cases.
    row = leaderboard_row("a@1", even(0.5), n=10, benchmarks=1, cases=(200, 0.5, 0.25))
    low, high = board(row).entries[0].scores["accuracy"].interval or (0, 0)
    assert (high - low) / 2 == pytest.approx(1.959964 * math.sqrt(0.25 / 20))


def test_errors_of_categories_combine_by_executions() -> None:
    rows = [
        leaderboard_row("a@1", even(0.5), n=3, errors=even(0.01)),
        leaderboard_row("a@1", even(0.5), n=1, category="speed", errors=(0.04, None, 0.04, 0.04, 0.04)),
    ]
    scores = board(*rows).entries[0].scores
    low, high = scores["cost"].interval or (0, 0)
    assert (high - low) / 2 == pytest.approx(1.959964 * math.sqrt(0.03**2 + 0.04**2) / 4)
    assert scores["speed"].interval is None


def test_two_definitions_of_one_version_share_a_place_on_the_board() -> None:
    (only,) = board(
        leaderboard_row("a@1", even(0.2), n=1, uid="x"), leaderboard_row("a@1", even(0.6), n=3, uid="y")
    ).entries
    assert only.scores["cost"].score == pytest.approx(0.5)
    assert (only.benchmarks_completed, only.executions) == (2, 4)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"category": "acuracy"}, "there is no category 'acuracy'\n  Did you mean accuracy?"),
        ({"metric": "sped"}, "there is no metric 'sped'\n  Did you mean speed?"),
        ({"limit": 0}, "a board of 0 agents shows nothing"),
    ],
)
def test_a_question_that_cannot_be_answered_names_what_could(asked: Mapping[str, object], said: str) -> None:
    with pytest.raises(SpecError) as caught:
        leaderboard([], [], days=30, until=0, **asked)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_a_category_of_which_nothing_was_run_is_an_empty_board() -> None:
    found = board(leaderboard_row("a@1", even(0.5)), category="scalability")
    assert (found.entries, found.total) == ((), 0)


def test_a_category_of_the_rows_own_is_known() -> None:
    assert board(leaderboard_row("a@1", NONE, category="house"), category="house").total == 1
