from __future__ import annotations

import math
from dataclasses import replace

import pytest

from agentdyno.errors import StoreError
from agentdyno.store import Execution, LeaderboardRow, Store

from ..suite_builders import DAY_MS, MONDAY, SUITE

OTHER = replace(SUITE, name="Other work", version="7", suite_id="other")
NOTHING = (None,) * 5


def execution(day: float, **changes: object) -> Execution:
    made = Execution("a", "1", SUITE.digest, "sums", MONDAY + int(day * DAY_MS))
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture
def filled(store: Store) -> Store:
    for suite in (SUITE, OTHER):
        store.boards.add_suite(suite, now_ms=MONDAY)
    return store


def board(store: Store, day: float, days: int = 2, **asked: str) -> list[LeaderboardRow]:
    return store.boards.leaderboard_rows(days=days, now_ms=MONDAY + int(day * DAY_MS), **asked)  # type: ignore[arg-type]


def test_what_came_after_the_window_is_not_in_it(filled: Store) -> None:
    filled.boards.add_executions(
        [execution(0, accuracy=0.25), execution(1, accuracy=0.75), execution(2, accuracy=1.0)]
    )
    assert [row.accuracy for row in board(filled, 1)] == [0.5]
    assert [row.accuracy for row in board(filled, 2, 1)] == [1.0]
    assert [(row.accuracy, row.attempts) for row in board(filled, 0)] == [(0.25, 1)]
    assert board(filled, -1) == []


def test_a_window_ends_with_its_day_and_not_with_the_moment(filled: Store) -> None:
    midnight = (MONDAY // DAY_MS + 1) * DAY_MS
    early, late = midnight - 1, midnight
    filled.boards.add_executions(
        [execution(0, created_at=early, accuracy=0.25), execution(0, created_at=late, accuracy=0.5)]
    )
    (row,) = filled.boards.leaderboard_rows(days=1, now_ms=early - 60_000)
    assert (row.accuracy, row.benchmarks) == (0.25, 0)
    (row,) = filled.boards.leaderboard_rows(days=1, now_ms=late)
    assert (row.accuracy, row.benchmarks, row.last_success_at) == (0.5, 1, late)


def test_a_past_window_counts_the_benchmarks_without_a_later_success(filled: Store) -> None:
    filled.boards.add_executions([execution(0), execution(0, benchmark="talks"), execution(5)])
    (accuracy, speed) = board(filled, 0)
    assert (accuracy.n, accuracy.benchmarks, accuracy.last_success_at, accuracy.errors) == (1, 0, None, NOTHING)
    assert (speed.n, speed.benchmarks, speed.last_success_at) == (1, 1, MONDAY)


def test_the_error_of_a_mean_is_the_root_of_the_squares_over_the_number(filled: Store) -> None:
    filled.boards.add_executions(
        [
            execution(0, accuracy=0.5, accuracy_error=9.0, speed=0.5, speed_error=9.0),  # replaced by the next
            execution(1, accuracy=0.5, accuracy_error=0.3, speed=0.5, speed_error=0.1, cost=1.0, cost_error=0.0),
            execution(1, suite=OTHER.digest, accuracy=0.5, accuracy_error=0.4, speed=0.5, cost=1.0, cost_error=0.0),
            execution(1, benchmark="talks", accuracy=0.5, accuracy_error=0.2, reliability=0.5),
            execution(1.5, status="partial", accuracy_error=5.0),
        ]
    )
    accuracy, speed = board(filled, 1)
    assert accuracy.benchmarks == 2
    # 0.5 / 2 for accuracy; one of the two benchmarks has no error of speed.
    assert list(accuracy.errors) == [pytest.approx(0.25), None, None, 0.0, None]
    assert (speed.benchmarks, list(speed.errors)) == (1, [pytest.approx(0.2), None, None, None, None])


def test_a_board_of_one_suite_is_made_of_the_last_executions_in_it(filled: Store) -> None:
    filled.boards.add_executions(
        [
            execution(0, accuracy=0.9, passed=9, samples=10),
            execution(1, accuracy=0.25, speed=0.5, cost_usd=0.5, passed=1, samples=4, accuracy_error=0.1),
            execution(1, suite=OTHER.digest, accuracy=1.0, accuracy_error=0.2),
            execution(1.5, status="failed"),
            execution(1, benchmark="talks", speed=0.75, scored=2, case_mean=0.5, case_variance=0.5),
            execution(1, agent="b", status="partial"),
            execution(0, agent="c", simulated=True),
        ]
    )
    a, b, talks = board(filled, 1.5, suite=SUITE.digest)
    assert (a.agent, a.attempts, a.n, a.benchmarks, a.accuracy, a.passed, a.samples) == ("a", 2, 1, 1, 0.25, 1, 4)
    assert (a.speed, a.cost_usd, a.cost, a.errors[0], a.known) == (0.5, 0.5, None, 0.1, (1, 1, 0, 0, 0, 0, 1))
    assert (b.agent, b.attempts, b.n, b.benchmarks, b.accuracy, b.errors) == ("b", 1, 0, 0, None, NOTHING)
    assert (talks.category, talks.speed, talks.scored, talks.case_mean) == ("speed", 0.75, 2, 0.5)
    assert talks.case_variance == pytest.approx(0.5)
    assert all(type(value) is int for value in (a.attempts, a.passed, a.scored, *a.known))
    assert all(type(value) is float for value in (a.accuracy, a.speed, a.cost_usd, talks.case_variance))
    assert [row.accuracy for row in board(filled, 1, suite="other")] == [1.0]
    assert [row.agent for row in board(filled, 1.5, suite="daily-work", category="speed")] == ["a"]
    assert board(filled, 4, 1, suite=SUITE.digest) == []
    with pytest.raises(StoreError, match="no suite 'daily-wrk'"):
        board(filled, 1, suite="daily-wrk")


def test_a_suite_whose_benchmarks_ran_once_has_the_same_board_from_either_source(filled: Store) -> None:
    figures = {"accuracy": 1 / 3, "overall": 0.7, "scored": 3, "case_mean": 1 / 3, "case_variance": 0.3}
    filled.boards.add_executions(
        [execution(0, **figures), execution(0, benchmark="talks", **figures, passed=2, samples=5)]
    )
    assert board(filled, 0, suite="daily-work") == board(filled, 0)


def test_errors_are_finite_for_any_number_of_benchmarks(filled: Store) -> None:
    filled.boards.add_executions(
        [execution(0, accuracy=0.5, accuracy_error=1e-12), execution(0, agent="b", accuracy=1.0, accuracy_error=0.0)]
    )
    errors = [row.errors[0] for row in board(filled, 0)]
    assert errors == [pytest.approx(1e-12), 0.0]
    assert all(error is not None and math.isfinite(error) for error in errors)


def test_brief_rows_hold_the_same_mean_scores(filled: Store) -> None:
    filled.boards.add_executions([execution(0.5, accuracy=0.4, speed=0.5), execution(1.2, accuracy=0.7, speed=None)])

    def told(*, brief: bool) -> set[object]:
        scores = ("accuracy", "speed", "efficiency", "cost", "reliability")
        rows = filled.boards.leaderboard_rows(days=5, now_ms=MONDAY + 2 * DAY_MS, brief=brief)
        return {(row.agent, row.category, row.n, *(getattr(row, name) for name in scores)) for row in rows}

    assert told(brief=True) == told(brief=False) != set()


def test_all_categories_together_are_the_means_over_all_executions(filled: Store) -> None:
    made = [execution(day, accuracy=day / 4, benchmark=name) for day in (0.2, 1.1) for name in ("sums", "talks")]
    filled.boards.add_executions([*made, execution(1.3, accuracy=1.0, accuracy_error=0.1)])
    apart = filled.boards.leaderboard_rows(days=5, now_ms=MONDAY + 2 * DAY_MS)
    (row,) = filled.boards.leaderboard_rows(days=5, now_ms=MONDAY + 2 * DAY_MS, together=True)
    assert len(apart) == 2, "the two benchmarks are of different categories"
    assert row.category == ""
    assert (row.n, row.attempts) == (sum(item.n for item in apart), sum(item.attempts for item in apart))
    assert row.accuracy == pytest.approx((2 * 0.2 / 4 + 2 * 1.1 / 4 + 1.0) / 5)
    assert row.benchmarks == 2
    assert row.last_success_at == max(item.last_success_at or 0 for item in apart)
    assert row.errors[0] is None, "of one benchmark the error is not known"
