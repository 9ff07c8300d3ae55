"""Boards as a user asks for them: what is filtered, weighed, left out, and when a board is made anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.errors import SpecError, StoreError
from agentdyno.findings.baseline.ask import clear_baseline, find_baseline, set_baseline
from agentdyno.findings.board.ask import Boards
from agentdyno.findings.board.model import Leaderboard
from agentdyno.findings.history.ask import Histories
from agentdyno.store import Execution, Store

from ...postgres import running_postgres
from ...store.suite_builders import DAY_MS, MONDAY, SUITE
from ...suites import Room
from ...workbench.answering import Answerer, ids, run

OTHER = replace(SUITE, name="Other work", suite_id="other")
WEIGHTS = {"accuracy": 0.0, "speed": 1.0, "efficiency": 0.0, "cost": 0.0, "reliability": 0.0}


def execution(agent: str, day: float = 0, **changes: object) -> Execution:
    """In benchmark ``sums`` of category accuracy; ``talks`` is of category speed."""
    made = Execution(agent, "1", SUITE.digest, "sums", MONDAY + int(day * DAY_MS))
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "dyno.db") as opened:
        for suite in (SUITE, OTHER):
            opened.boards.add_suite(suite, now_ms=MONDAY)
        yield opened


def boards(store: Store, day: float = 0, **options: object) -> Boards:
    return Boards(store, now_ms=MONDAY + int(day * DAY_MS), **options)  # type: ignore[arg-type]


def names(board: Leaderboard) -> list[str]:
    return [entry.name for entry in board.entries]


def test_a_category_a_window_and_a_suite_each_leave_the_rest_out(store: Store) -> None:
    store.boards.add_executions(
        [
            execution("old", -40, accuracy=0.5, overall=0.5),
            execution("sums", accuracy=0.5, overall=0.5),
            execution("talks", benchmark="talks", accuracy=0.5, overall=0.5),
            execution("else", suite=OTHER.digest, accuracy=0.5, overall=0.5),
        ]
    )
    asked = boards(store)
    assert names(asked.leaderboard()) == ["else", "sums", "talks"], "equals by name"
    assert names(asked.leaderboard(category="speed")) == ["talks"]
    assert names(asked.leaderboard(days=60)) == ["else", "old", "sums", "talks"]
    assert names(asked.leaderboard(suite=asked.suite_digest("other"))) == ["else"]
    assert asked.leaderboard(category="cost").entries == ()
    assert [entry.name for entry in asked.matrix(suite=asked.suite_digest("Other work")).entries] == ["else"]
    assert [entry.name for entry in asked.matrix(category="speed").entries] == ["talks"]


def test_the_order_follows_the_metric_and_the_limit_cuts_only_what_is_shown(store: Store) -> None:
    store.boards.add_executions(
        [
            execution("right", accuracy=0.9, speed=0.2),
            execution("fast", accuracy=0.3, speed=0.9),
            execution("slow", accuracy=0.5, speed=0.1),
        ]
    )
    asked = boards(store)
    assert names(asked.leaderboard(metric="accuracy")) == ["right", "slow", "fast"]
    assert names(asked.leaderboard(metric="speed")) == ["fast", "right", "slow"]
    board = asked.leaderboard(metric="speed", limit=1)
    assert (names(board), board.total) == (["fast"], 3)
    assert board.entries[0].scores["accuracy"].rank == 3, "ranks are among all"


def test_weights_decide_who_is_first(store: Store) -> None:
    store.boards.add_executions(
        [execution("right", accuracy=0.9, speed=0.2), execution("fast", accuracy=0.1, speed=0.6)]
    )
    assert names(boards(store).leaderboard()) == ["right", "fast"]  # 0.62 and 0.3 of accuracy and speed
    weighed = boards(store, weights=WEIGHTS)
    assert names(weighed.leaderboard()) == ["fast", "right"]
    assert weighed.matrix().entries[0].scores["overall"].score == pytest.approx(0.6)
    assert weighed.matrix().weights["speed"] == 1.0
    with pytest.raises(SpecError):
        boards(store, weights={"sped": 1.0}).leaderboard()


def test_simulated_results_are_on_no_board(store: Store) -> None:
    store.boards.add_executions([execution("real", accuracy=0.1), execution("pretend", accuracy=1.0, simulated=True)])
    asked = boards(store)
    assert names(asked.leaderboard()) == ["real"]
    assert [entry.name for entry in asked.matrix().entries] == ["real"]


def test_what_does_not_exist_is_refused_with_the_nearest_name(store: Store) -> None:
    asked = boards(store)
    for question, answer in (
        (lambda: asked.leaderboard(category="acuracy"), "Did you mean accuracy"),
        (lambda: asked.matrix(category="acuracy"), "Did you mean accuracy"),
        (lambda: asked.leaderboard(metric="sped"), "Did you mean speed"),
        (lambda: asked.leaderboard(days=0), "Give 1 or more"),
        (lambda: asked.coverage(days=0), "1 day or more"),
        (lambda: asked.leaderboard(limit=0), "1 or more"),
    ):
        with pytest.raises(SpecError, match=answer):
            question()
    with pytest.raises(StoreError, match="Did you mean daily-work"):
        asked.suite_digest("daily-wrok")


def test_an_empty_store_has_empty_boards(store: Store) -> None:
    asked = boards(store)
    assert asked.leaderboard().entries == ()
    assert asked.matrix().entries == ()
    assert asked.coverage().share is None


def test_a_board_is_made_once_until_an_execution_changes_it(room: Room) -> None:
    run(room, Answerer("a"))
    asked = Boards(room.store)
    first = asked.matrix()
    assert asked.matrix() is first
    assert asked.leaderboard().entries is asked.leaderboard().entries
    run(room, Answerer("b"))
    assert [entry.name for entry in first.entries] == ["a"]
    assert sorted(entry.name for entry in asked.matrix().entries) == ["a", "b"]
    assert sorted(names(asked.leaderboard())) == ["a", "b"]


def test_a_cached_board_ends_when_it_is_asked_for(store: Store) -> None:
    store.boards.add_executions([execution("a", accuracy=0.5)])
    asked = boards(store)
    asked.leaderboard()
    asked.now_ms = MONDAY + 60_000
    assert asked.leaderboard().until == MONDAY + 60_000
    asked.now_ms = MONDAY + 31 * DAY_MS
    assert asked.leaderboard().entries == (), "the window has passed"


def test_agents_that_were_not_benchmarked_in_these_days_are_stale(store: Store) -> None:
    store.boards.add_executions(
        [
            execution("fresh", -29),
            execution("late", -31),
            execution("broken", -1, status="failed"),
            execution("moved", -50),
            execution("moved", -2, agent_version="2"),
        ]
    )
    found = boards(store).coverage(days=30)
    assert (found.agents, found.fresh) == (4, 2)
    assert [(item.agent, item.days) for item in found.stale] == [("broken@1", None), ("late@1", 31.0)]
    every = boards(store).coverage(days=30, all_versions=True)
    assert [item.agent for item in every.stale] == ["broken@1", "moved@1", "late@1"]
    assert boards(store).coverage(days=60).fresh == 3


def test_on_postgresql_boards_baselines_and_histories_are_the_same(room: Room) -> None:
    with running_postgres() as server:
        url = server.url(server.create_database())
        with Store.open(url) as store:
            there = Room(room.folder, store)
            for place in (room, there):
                for version, wrong in (("1.0", ids(0, 0)), ("1.1", ids(0, 3))):
                    run(place, Answerer("a", version, wrong), Answerer("b"), count=8)
                set_baseline(place.store, "a@1.0", now_ms=1)
            mine, other = [_seen(place.store) for place in (room, there)]
            assert mine == other
            assert mine[0] == [("a@1.0", 1.0), ("b@1.0", 1.0), ("a@1.1", 0.625)]
            assert clear_baseline(store, "a@1.0") == 1


def _seen(store: Store) -> tuple[object, ...]:
    matrix = Boards(store).matrix(suite=Boards(store).suite_digest("room"))
    board = Boards(store).leaderboard(metric="accuracy")
    history = Histories(store).of("a", "accuracy")
    baseline = find_baseline(store, "a", "room")
    assert baseline is not None
    report = Histories(store).regressions("a")
    return (
        [(entry.agent, entry.scores["accuracy"].score) for entry in board.entries],
        sorted((entry.agent, entry.scores["accuracy"].rank) for entry in matrix.entries),
        [(point.version, point.value, point.n) for point in history.points],
        [(case.key, case.score) for case in baseline.cases],
        (report.baseline, report.current, [item.metric for item in report.regressions if item.metric == "accuracy"]),
    )
