"""Four figures of benchmarking itself, from real stores and by hand."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.cli.main import main
from agentdyno.findings.success.ask import KNOWN_WORSE, Successes
from agentdyno.findings.success.judge import (
    DAY_MS,
    agents_benchmarked,
    degradation_incidents,
    optimization_opportunities,
    regression_detection,
)
from agentdyno.findings.success.model import Opportunities, Replayed
from agentdyno.model import Category
from agentdyno.store import Execution, Store
from tests.store.suite_builders import MONDAY, SUITE
from tests.suites import Room
from tests.web.routes.asking import check_documented, client_of
from tests.workbench.answering import Answerer, ids, run

NAMES = ["agents_benchmarked", "regression_detection", "optimization_opportunities", "degradation_incidents"]


def dyno(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["dyno", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """One version twice, then one that lost two thirds of its cases and was run knowing that, then a repaired one."""
    folder = tmp_path_factory.mktemp("success")
    (folder / "dyno.yaml").write_text("agents:\n  idle: {use: 'agent.py@answer'}\n")
    (folder / "agent.py").write_text("def answer(text):\n    return text\n")
    made = Room(folder, Store.open(folder / "dyno.db"))
    with made.store:
        run(made, Answerer("a", "1.0"), count=24)
        run(made, Answerer("a", "1.0"), count=24)
        worse = run(made, Answerer("a", "1.1", wrong=ids(0, 16)), count=24)
        made.store.runs.finish(replace(worse, tags=(KNOWN_WORSE,)))
        run(made, Answerer("a", "1.2"), count=24)
        yield made


def test_each_figure_is_made_of_what_the_store_holds(room: Room) -> None:
    report = Successes(room.store, registered=["a", "idle"]).report(30)
    assert [item.name for item in report.metrics] == NAMES
    benched, detected, taken, incidents = report.metrics
    assert (benched.value, benched.met, benched.counts) == (0.5, False, {"agents": 2, "benchmarked": 1})
    assert "idle" in benched.note
    assert detected.counts == {
        "pairs": 2,
        "right": 2,
        "worse": 1,
        "worse_found": 1,
        "unchanged": 1,
        "false_alarms": 0,
    }
    assert detected.value == 1.0
    assert detected.interval is not None
    assert detected.interval[0] == pytest.approx(0.3424, abs=1e-4), "Wilson of 2 of 2"
    assert taken.value is None
    assert incidents.counts == {"versions": 2, "incidents": 1, "versions_before": 0, "incidents_before": 0}
    assert all(item.counted for item in report.metrics)


def test_the_command_line_and_the_api_say_the_same(
    room: Room, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(room.folder)
    monkeypatch.setenv("DYNO_STORE", str(room.folder / "dyno.db"))
    monkeypatch.setenv("COLUMNS", "140")
    assert dyno(monkeypatch, "board", "--success", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    client = client_of(room)
    answer = client.ok("/api/success")
    check_documented(client, "get", "/api/success", answer)
    client.app.state.services.close()
    assert [item["counts"] for item in told["metrics"]] == [item["counts"] for item in answer["metrics"]]
    assert dyno(monkeypatch, "board", "--success") == 0
    shown = capsys.readouterr().out
    assert "regression detection accuracy" in shown
    assert "known:worse" in shown
    assert dyno(monkeypatch, "board", "--success", "--stale") == 2


def test_every_category_has_a_board_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DYNO_STORE", str(tmp_path / "dyno.db"))
    room = Room(tmp_path, Store.open(tmp_path / "dyno.db"))
    with room.store as store:
        for category, good, bad in ((Category.SPEED, 0.9, 0.1), (Category.COST, 0.2, 0.8)):
            suite = replace(SUITE, suite_id=f"of-{category}", category=category)
            store.boards.add_suite(suite, now_ms=MONDAY)
            now = time.time_ns() // 1_000_000
            rows = [("x", good), ("y", bad)]
            store.boards.add_executions(
                Execution(name, "1", suite.digest, "talks", now, accuracy=score) for name, score in rows
            )
        client = client_of(room)
        board = client.ok("/benchmarks/leaderboard", category="each")
        check_documented(client, "get", "/benchmarks/leaderboard", board)
        placed = [(item["benchmark_category"], item["agent_name"], item["best_ranking"]) for item in board["entries"]]
        assert placed == [("speed", "x", 1), ("speed", "y", 2), ("cost", "y", 1), ("cost", "x", 2)]
        assert board["scope"]["suites"] == ["of-speed", "of-cost"]
        only = client.ok("/benchmarks/leaderboard", category="cost")
        assert [item["agent_name"] for item in only["entries"]] == ["y", "x"]
        refused = client.problem("/benchmarks/leaderboard", 422, category="each", suite_id="of-cost")
        assert refused["errors"][0]["field"] == "query.suite_id"
        client.app.state.services.close()
        assert dyno(monkeypatch, "board", "--category", "each", "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert [item["category"] for item in told["entries"]] == ["speed", "speed", "cost", "cost"]
        assert dyno(monkeypatch, "board", "--category", "each") == 0
        assert "of-speed" in capsys.readouterr().out
        assert dyno(monkeypatch, "board", "--category", "each", "--matrix") == 2


def test_an_empty_store_says_why_it_says_nothing(tmp_path: Path) -> None:
    with Store.open(tmp_path / "dyno.db") as store:
        report = Successes(store).report(30)
    assert [item.value for item in report.metrics] == [None] * 4
    assert all(item.note for item in report.metrics)
    assert {item.met for item in report.metrics} == {None}


def test_a_missed_regression_and_a_false_alarm_are_both_wrong() -> None:
    def pair(worse: bool, expected: bool | None) -> Replayed:
        return Replayed("a", 0, worse, expected, new_version=False)

    found = regression_detection([pair(True, True), pair(False, True), pair(True, False), pair(True, None)])
    assert found.value == pytest.approx(1 / 3)
    assert (found.counts["pairs"], found.counts["worse_found"], found.counts["false_alarms"]) == (3, 1, 1)
    assert found.met is False


def test_incidents_are_held_against_the_window_before() -> None:
    def version(days_ago: float, worse: bool) -> Replayed:
        return Replayed("a", int(100 * DAY_MS - days_ago * DAY_MS), worse, None, new_version=True)

    past = [version(days, True) for days in (31, 40, 50, 59)]
    found = degradation_incidents(
        [*past, version(61, True), version(3, True), version(2, False)], until=UNTIL, days=30
    )
    assert found.counts == {"versions": 2, "incidents": 1, "versions_before": 4, "incidents_before": 4}
    assert (found.value, found.met) == (0.75, True)


UNTIL = 100 * DAY_MS


def test_opportunities_and_agents_by_hand() -> None:
    found = optimization_opportunities([Opportunities("a", 4, 1), Opportunities("b", 1, 1)])
    assert (found.value, found.met, found.counts) == (0.4, True, {"agents": 2, "found": 5, "taken": 2})
    assert agents_benchmarked(["a", "b"], ["a", "b", "c"]).value == 1.0
