"""Leaderboard, matrix and coverage over HTTP."""

from __future__ import annotations

import pytest

from agentdyno.findings.board.ask import Boards
from tests.suites import Room
from tests.workbench.answering import Answerer, run

from .asking import SCRIPT, Seeded, client_of, fields

BOARD = "/benchmarks/leaderboard"


def test_the_leaderboard_is_that_of_the_command_line(seeded: Seeded) -> None:
    found = seeded.client.ok("/benchmarks/leaderboard", suite_id="room", metric="accuracy")
    accuracy = {entry["agent"]: entry["scores"]["accuracy"]["score"] for entry in found["entries"]}
    assert accuracy == {
        "steady@1.0": 1.0,
        "tracer@1.0": 1.0,
        "weak@1.0": 0.5,
        "steady@2.0": pytest.approx(0.6),
        "tracer@2.0": pytest.approx(5 / 6),
    }
    assert (found["category"], found["metric"], found["days"], found["total"]) == ("overall", "accuracy", 30, 5)
    assert [entry["agent"] for entry in found["entries"]][-1] == "weak@1.0"


def test_a_leaderboard_has_at_most_the_asked_number_of_rows(seeded: Seeded) -> None:
    found = seeded.client.ok("/benchmarks/leaderboard", suite_id="room", limit=2)
    assert len(found["entries"]) == 2
    assert found["total"] > 2


def test_simulated_results_are_on_no_board(seeded: Seeded) -> None:
    names = {entry["name"] for entry in seeded.client.ok(BOARD, suite_id="room", limit=100)["entries"]}
    assert "steady" in names
    assert SCRIPT not in names


@pytest.mark.parametrize("path", ["/benchmarks/leaderboard", "/api/matrix"])
def test_who_has_the_answer_of_this_tag_gets_none(seeded: Seeded, path: str) -> None:
    whole = seeded.client.get(path)
    tag = whole.headers["etag"]
    again = seeded.client.get(path, headers={"If-None-Match": f'"other", {tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    other = seeded.client.get(path, headers={"If-None-Match": tag}, suite_id="room")
    assert other.status_code == 200
    assert other.headers["etag"] != tag


def test_a_new_execution_changes_the_tag(room: Room) -> None:
    client = client_of(room)
    run(room, Answerer("a"))
    tag = client.get("/api/matrix").headers["etag"]
    run(room, Answerer("b"))
    again = client.get("/api/matrix", headers={"If-None-Match": tag})
    assert again.status_code == 200
    assert [entry["name"] for entry in again.json()["entries"]] == ["a", "b"]
    client.app.state.services.close()


def test_the_matrix_has_each_agent_with_its_places(seeded: Seeded) -> None:
    found = seeded.client.ok("/api/matrix", suite_id="room")
    assert found["suite"] == "room"
    expected = Boards(seeded.room.store).matrix(suite=seeded.room.store.boards.load_suite("room").digest)
    assert [entry["agent"] for entry in found["entries"]] == [entry.agent for entry in expected.entries]


def test_a_suite_may_be_named_by_its_uuid_its_digest_and_its_version(seeded: Seeded) -> None:
    (row,) = [row for row in seeded.room.store.boards.suites() if row.suite_id == "pair"]
    names = [row.uid, row.uid.upper(), row.digest, row.suite_id, row.name, f"pair@{row.version}"]
    found = [seeded.client.ok("/api/matrix", suite_id=name)["entries"] for name in names]
    assert all(entries == found[0] for entries in found)
    assert [entry["agent"] for entry in found[0]] == ["steady@2.0"]


def test_coverage_counts_agents_that_were_benchmarked_lately(seeded: Seeded) -> None:
    found = seeded.client.ok("/api/coverage", days=7)
    assert found["days"] == 7
    assert found["agents"] - found["fresh"] == len(found["stale"])
    assert "steady" not in [row["name"] for row in found["stale"]]


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/benchmarks/leaderboard", {"metric": "beauty"}, "query.metric"),
        ("/benchmarks/leaderboard", {"category": "beauty"}, "query.category"),
        ("/benchmarks/leaderboard", {"limit": 0}, "query.limit"),
        ("/benchmarks/leaderboard", {"days": "many"}, "query.days"),
        ("/api/matrix", {"category": "x"}, "query.category"),
        ("/api/coverage", {"days": 0}, "query.days"),
    ],
)
def test_a_value_that_is_not_valid_is_refused_by_its_field(
    seeded: Seeded, path: str, query: dict[str, object], field: str
) -> None:
    assert fields(seeded.client.problem(path, 422, **query)) == [field]


def test_a_suite_that_nobody_knows_is_not_found_and_the_nearest_is_named(seeded: Seeded) -> None:
    problem = seeded.client.problem("/benchmarks/leaderboard", 404, suite_id="rooms")
    assert problem["near"] == ["room"]
    assert fields(problem) == ["suite_id"]


def test_a_suite_that_was_never_run_is_not_found_either(seeded: Seeded) -> None:
    problem = seeded.client.problem("/api/matrix", 404, suite_id="first-steps")
    assert problem["detail"]


def test_an_empty_store_has_empty_boards(room: Room) -> None:
    client = client_of(room)
    assert client.ok("/benchmarks/leaderboard")["entries"] == []
    assert client.ok("/api/matrix")["entries"] == []
    assert client.ok("/api/coverage")["agents"] == 0
    client.app.state.services.close()
