"""Results that do not go together: a finding that says so and what is needed, never a number that means nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agentdyno.runs.environment import capture_environment
from agentdyno.store import Execution, Store

from ..command import Bench, Done
from ..store.suite_builders import DAY_MS, SUITE
from ..suites import Room
from ..workbench.answering import Answerer, cases, ids, put, run

NOW = 1_700_000_000_000


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    """Commands of these tests are run often and do little."""
    return loaded_bench


@pytest.fixture
def room(bench: Bench) -> Iterator[Room]:
    """A folder whose store the commands find."""
    with Store.open(bench.folder / ".dyno" / "dyno.db") as store:
        yield Room(bench.folder, store)


def ask(bench: Bench, *arguments: str, code: int = 0) -> Done:
    done = bench.dyno(*arguments)
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    return done


def document(done: Done) -> Any:
    """What was printed as JSON, in which no number is NaN or infinite."""
    return json.loads(done.out, parse_constant=pytest.fail)


def row(duel: Any, metric: str = "accuracy") -> Any:
    return next(item for item in duel["rows"] if item["metric"] == metric)


def codes(finding: Any) -> set[str]:
    return {warning["code"] for warning in finding["warnings"]}


def test_agents_without_a_case_in_common_are_not_comparable(bench: Bench, room: Room) -> None:
    run(room, Answerer("a"))
    put(room, room.suite(dataset={"cases": cases(4, 50)}), Answerer("b"))
    done = ask(bench, "compare", "a", "b", code=3)
    assert done.out == ""
    assert "in common" in done.err
    assert "dyno run" in done.err, "the remedy"


def test_agents_of_different_suites_are_not_comparable(bench: Bench, room: Room) -> None:
    run(room, Answerer("a"))
    run(room, Answerer("b"), name="elsewhere")
    done = ask(bench, "compare", "a", "b", code=3)
    assert "a@1.0 ran room; b@1.0 ran elsewhere" in done.err


def test_versions_of_a_suite_are_compared_over_the_cases_they_share_and_that_is_said(
    bench: Bench, room: Room
) -> None:
    run(room, Answerer("a"), count=20)
    run(room, Answerer("b", wrong=ids(0, 2)), count=16)
    found = document(ask(bench, "compare", "a", "b", "--json"))
    assert (found["flips"]["cases"], row(found)["candidate"]) == (16, 0.875)
    assert {"different-suites", "missing-cases"} <= codes(found)


def test_one_sample_decides_nothing_and_it_is_said_how_many_are_needed(bench: Bench, room: Room) -> None:
    run(room, Answerer("a"), Answerer("b", wrong=ids(0, 1)), count=1)
    found = document(ask(bench, "compare", "a", "b", "--json"))
    assert found["winner"] is None
    accuracy = row(found)
    assert (accuracy["verdict"], accuracy["p_value"], accuracy["interval"]) == (None, None, None)
    assert "at least 6 are needed" in accuracy["reason"]
    series = document(ask(bench, "history", "a", "--metric", "accuracy", "--json"))
    assert series["changes"] == []
    assert series["note"].startswith("1 point: 6 are needed")
    shown = ask(bench, "cost", "--reliability")
    assert "nan" not in shown.out.lower().split()


def test_an_agent_that_always_failed_has_no_score_and_no_rank(bench: Bench, room: Room) -> None:
    run(room, Answerer("a"), Answerer("b", fails=ids(0, 3)), count=3)
    found = document(ask(bench, "compare", "a", "b", "--json"))
    accuracy = row(found)
    assert (accuracy["candidate"], accuracy["change"], accuracy["verdict"]) == (None, None, None)
    assert accuracy["reason"]
    matrix = document(ask(bench, "board", "--matrix", "--json"))
    scores = {entry["name"]: entry["scores"]["accuracy"] for entry in matrix["entries"]}
    assert (scores["b"]["score"], scores["b"]["rank"]) == (None, None)
    costs = document(ask(bench, "cost", "--json"))
    spent = {item["agent"]: item for item in costs["rows"]}
    assert (spent["b@1.0"]["never_succeeded"], spent["b@1.0"]["cost_per_success_usd"]) == (True, None)


def test_an_agent_that_was_given_up_is_not_comparable(bench: Bench, room: Room) -> None:
    run(room, Answerer("a"), Answerer("b", fails=ids(0, 12)), count=12)
    done = ask(bench, "compare", "a", "b", code=3)
    assert "b gave no usable answer in any run" in done.err


def test_a_series_that_never_moves_has_no_change_and_full_health(bench: Bench, room: Room) -> None:
    room.store.boards.add_suite(SUITE, now_ms=NOW)
    made = Execution("a", "1", SUITE.digest, "sums", NOW, accuracy=0.5, overall=0.5, form="full")
    room.store.boards.add_executions(replace(made, created_at=NOW + day * DAY_MS) for day in range(20))
    series = document(ask(bench, "history", "a", "--metric", "accuracy", "--json"))
    assert (series["changes"], series["note"]) == ([], "All values are equal.")
    report = document(ask(bench, "history", "a", "--regressions", "--gate", "--json"))
    assert (report["regressions"], report["health"]) == ([], 100)


def test_scores_that_are_no_numbers_are_unknown(bench: Bench, room: Room) -> None:
    bench.write("odd.py", "def odd(output, case):\n    return float('nan')\n")
    bench.write("agent.py", "def one(text):\n    return text\n\ndef two(text):\n    return text.upper()\n")
    suite = {"name": "odd", "scorer": "odd.py@odd", "epochs": 1, "warmup": 0, "dataset": {"cases": cases(6)}}
    bench.write("suite.json", json.dumps(suite))
    done = bench.dyno("run", "suite.json", "--agent", "agent.py@one", "--agent", "agent.py@two")
    assert "Traceback" not in done.err
    compared = bench.dyno("compare", "one", "two", "--json")
    assert "Traceback" not in compared.err
    assert compared.code in (0, 3), compared.err
    if compared.code == 0:
        assert row(document(compared))["candidate"] is None
    assert document(ask(bench, "board", "--json"))["metric"] == "overall"
    assert room.store.runs.newest()


def test_a_baseline_of_zero_has_a_difference_and_no_percentage(bench: Bench, room: Room) -> None:
    run(room, Answerer("a", "1.0", wrong=ids(0, 24)), count=24)
    run(room, Answerer("a", "1.1"), count=24)
    shown = ask(bench, "compare", "a@1.0", "a@1.1")
    assert "inf" not in shown.out.lower().split()
    found = document(ask(bench, "compare", "a@1.0", "a@1.1", "--json"))
    assert (row(found)["baseline"], row(found)["change"]) == (0.0, 1.0)
    report = document(ask(bench, "history", "a", "--regressions", "--json"))
    better = [item for item in report["improvements"] if item["metric"] == "accuracy"]
    amounts = [(item["amount"], item["relative"]) for item in better]
    assert amounts == [(-1.0, False)], "points, as there is no share of 0"


def test_results_of_two_machines_compare_in_answers_and_not_in_time(
    bench: Bench, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(room, Answerer("a"), count=24)
    elsewhere = replace(capture_environment(), machine_id="another")
    monkeypatch.setattr("agentdyno.runs.pipeline.capture_environment", lambda: elsewhere)
    run(room, Answerer("b", wrong=ids(0, 16)), count=24)
    found = document(ask(bench, "compare", "a", "b", "--json"))
    assert "different-machines" in codes(found)
    speed = row(found, "speed")
    assert (speed["verdict"], speed["change"], speed["p_value"]) == (None, None, None)
    assert "machine" in speed["reason"]
    assert row(found)["verdict"] == "worse"


def test_a_gate_over_too_few_cases_is_inconclusive_and_says_what_it_could_have_seen(bench: Bench, room: Room) -> None:
    bench.write("agent.py", "def answer(text):\n    return 'no' if text == 'word 0' else text.upper()\n")
    suite = {"name": "room", "scorer": "exact", "epochs": 1, "warmup": 0, "dataset": {"cases": cases(3)}}
    bench.write("suite.json", json.dumps(suite))
    run(room, Answerer("base"), count=3)
    command = ("check", "suite.json", "--agent", "agent.py@answer", "--against", "base")
    (report,) = document(ask(bench, *command, "--json"))
    assert report["verdict"] == "INCONCLUSIVE"
    accuracy = next(item for item in report["rows"] if item["rule"]["metric"] == "accuracy")
    assert (accuracy["exceeded"], accuracy["significant"]) == (True, False)
    assert accuracy["reason"]
    ask(bench, *command, "--strict", code=4)
