"""Boards as a user asks for them: what is filtered, weighed, left out, and when a board is made anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.errors import SpecError, StoreError
from agentdyno.findings.baseline.ask import clear_baseline, find_baseline, set_baseline
from agentdyno.findings.board.ask import ALL_SUITES, Boards
from agentdyno.findings.board.model import Leaderboard
from agentdyno.findings.history.ask import Histories
from agentdyno.model import Category
from agentdyno.store import Execution, Store

from ...postgres import Postgres
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
            execution("else", -1, suite=OTHER.digest, accuracy=0.5, overall=0.5),
        ]
    )
    asked = boards(store)
    mine = asked.suite_digest("daily-work")
    assert names(asked.leaderboard(suite=mine)) == ["sums", "talks"], "equals by name"
    assert names(asked.leaderboard(suite=mine, category="speed")) == ["talks"]
    assert names(asked.leaderboard(suite=mine, days=60)) == ["old", "sums", "talks"]
    assert names(asked.leaderboard(suite=asked.suite_digest("other"))) == ["else"]
    assert asked.leaderboard(category="cost").entries == ()
    assert [entry.name for entry in asked.matrix(suite=asked.suite_digest("Other work")).entries] == ["else"]
    assert [entry.name for entry in asked.matrix(category="speed").entries] == ["talks"]


def test_without_a_suite_the_board_is_of_the_one_that_was_run_last_and_names_the_others(store: Store) -> None:
    store.boards.add_executions(
        [execution("first", -1, accuracy=0.5), execution("second", suite=OTHER.digest, accuracy=0.5)]
    )
    board = boards(store).leaderboard()
    assert (names(board), board.scope.suites, board.scope.other_suites) == (["second"], ("other",), ("daily-work",))
    store.boards.add_executions([execution("third", 0.1, accuracy=0.4)])
    board = boards(store, 1).leaderboard()
    assert (names(board), board.scope.suites) == (["first", "third"], ("daily-work",))
    assert [entry.name for entry in boards(store, 1).matrix().entries] == ["first", "third"]


def test_across_suites_only_agents_that_share_suites_are_compared_and_only_over_these(store: Store) -> None:
    third = replace(SUITE, name="Third", suite_id="third")
    store.boards.add_suite(third, now_ms=MONDAY)
    mine, other, rest = SUITE.digest, OTHER.digest, third.digest
    store.boards.add_executions(
        [
            *(execution("a", suite=suite, accuracy=0.5) for suite in (mine, other, rest)),
            *(execution("a", 0.1, accuracy=0.5) for _ in range(8)),  # however often one of them was run
            execution("b", suite=mine, accuracy=0.2),
            execution("b", suite=other, accuracy=1.0),
            execution("alone", suite=rest, accuracy=1.0),
        ]
    )
    for board in (boards(store, 1).leaderboard(suite=ALL_SUITES), boards(store, 1).matrix(suite=ALL_SUITES)):
        assert [entry.name for entry in board.entries] == ["b", "a"]
        assert board.entries[0].scores["accuracy"].score == pytest.approx(0.6), "each suite counts the same"
        assert (board.scope.suites, board.scope.not_shared) == (("daily-work", "other"), ("alone@1",))
    assert boards(store, 1).leaderboard(suite=ALL_SUITES).entries[0].benchmarks_completed == 2


def test_a_category_may_be_that_of_the_suite(store: Store) -> None:
    cheap = replace(SUITE, name="Cheap", suite_id="cheap", category=Category.COST)
    store.boards.add_suite(cheap, now_ms=MONDAY)
    store.boards.add_executions([execution("a", -1, suite=cheap.digest, accuracy=0.5), execution("b", accuracy=0.5)])
    board = boards(store).leaderboard(category="cost")
    assert (names(board), board.scope.suites) == (["a"], ("cheap",))
    assert [entry.name for entry in boards(store).matrix(category="cost").entries] == ["a"]
    assert names(boards(store).leaderboard(category="accuracy")) == ["b"], "the last suite with such a benchmark"


def test_what_was_no_whole_run_is_on_a_board_only_when_asked_for_and_then_marked(store: Store) -> None:
    store.boards.add_executions(
        [
            execution("a", accuracy=0.5),
            execution("a", 0.1, accuracy=1.0, form="quick"),
            execution("b", accuracy=0.75),
            execution("c", accuracy=1.0, form="capped"),
        ]
    )
    board = boards(store, 1).leaderboard()
    assert names(board) == ["b", "a"]
    assert (board.scope.left_out, board.scope.unknown_form, board.scope.includes_partial) == (2, 2, False)
    asked = boards(store, 1).leaderboard(partial=True)
    assert [(entry.name, entry.executions, entry.not_whole) for entry in asked.entries] == [
        ("c", 1, 1),
        ("a", 2, 1),
        ("b", 1, 0),
    ]
    assert (asked.scope.left_out, asked.scope.includes_partial) == (0, True)
    assert [entry.name for entry in boards(store, 1).matrix().entries] == ["b", "a"]
    marked = {entry.name: entry.not_whole for entry in boards(store, 1).matrix(partial=True).entries}
    assert marked == {"a": ("sums",), "b": (), "c": ("sums",)}
    assert boards(store, 1).coverage().fresh == 2, "a quick run is no coverage"


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


def test_on_postgresql_boards_baselines_and_histories_are_the_same(room: Room, postgres: Postgres) -> None:
    with postgres.new_store() as url, Store.open(url) as store:
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
