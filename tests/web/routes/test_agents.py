"""Agents and suites over HTTP."""

from __future__ import annotations

import pytest

from tests.suites import AGENT, Room
from tests.workbench.answering import Answerer, run

from .asking import FORMULA, SCRIPT, Seeded, client_of


def test_every_agent_is_listed_once_with_its_versions(seeded: Seeded) -> None:
    items = {item["name"]: item for item in seeded.client.ok("/api/agents")["items"]}
    assert {"steady", "weak", "tracer", SCRIPT, FORMULA} <= set(items)
    steady = items["steady"]
    newest = next(row for row in seeded.room.store.boards.agents() if row.name == "steady")
    assert (steady["versions"], steady["uid"]) == (["2.0", "1.0"], newest.uid)
    assert (steady["registered"], steady["paid"], steady["description"]) == (False, None, "")
    assert steady["last_success_at"] == newest.last_success_at
    assert items[SCRIPT]["last_success_at"] is None, "simulated answers are no success"


def test_an_agent_is_shown_with_its_suites_and_scores(seeded: Seeded) -> None:
    found = seeded.client.ok("/api/agents/steady")
    assert [row["version"] for row in found["versions"]] == ["2.0", "1.0"]
    suites = [(row["suite_id"], row["version"], row["benchmarks"]) for row in found["suites"]]
    assert suites == [("pair", "2.0", 2), ("room", "2.0", 1)]
    assert {entry["agent"] for entry in found["scores"]} == {"steady@1.0", "steady@2.0"}
    assert [item["benchmark"] for item in found["results"]] == ["talks", "sums", "room"]
    old = seeded.client.ok("/api/agents/steady@1.0")
    assert [entry["agent"] for entry in old["scores"]] == ["steady@1.0"]
    assert [item["accuracy"] for item in old["results"]] == [1.0]


def test_an_unknown_agent_or_suite_is_not_found(seeded: Seeded) -> None:
    assert seeded.client.problem("/api/agents/stedy", 404)["near"] == ["steady"]
    assert seeded.client.problem("/api/suites/rooom", 404)["near"] == ["room"]
    seeded.client.problem("/api/suites/", 404)
    seeded.client.problem("/api/agents/", 404)


def test_every_suite_is_listed_once(seeded: Seeded) -> None:
    items = {item["suite_id"]: item for item in seeded.client.ok("/api/suites")["items"]}
    room, pair = items["room"], items["pair"]
    assert (room["name"], room["benchmarks"], room["cases"], room["registered"]) == ("room", 1, 6, False)
    assert (pair["benchmarks"], pair["cases"]) == (2, 6)
    assert any(item["registered"] for item in items.values()), "those that are shipped"


def test_a_suite_is_shown_with_its_benchmarks(seeded: Seeded) -> None:
    found = seeded.client.ok("/api/suites/pair")
    shown = [(row["benchmark_id"], row["category"], row["cases"], row["complexity"]) for row in found["benchmarks"]]
    assert shown == [("sums", "accuracy", 3, "medium"), ("talks", "speed", 3, "medium")]
    (version,) = found["versions"]
    assert version["digest"] == found["suite"]["digest"]
    assert seeded.client.ok(f"/api/suites/{version['uid']}")["suite"]["suite_id"] == "pair"
    assert seeded.client.ok(f"/api/suites/{version['digest']}") == found


def test_a_shipped_suite_is_shown_before_it_was_run(seeded: Seeded) -> None:
    shipped = next(item for item in seeded.client.ok("/api/suites")["items"] if item["registered"])
    found = seeded.client.ok(f"/api/suites/{shipped['suite_id']}")
    assert found["suite"] == shipped
    assert found["versions"] == []
    assert sum(row["cases"] for row in found["benchmarks"]) == shipped["cases"] > 0


@pytest.fixture
def registered(room: Room) -> Room:
    """A workspace with an agent that has never run."""
    (room.folder / "agent.py").write_text(AGENT)
    text = "agents:\n  fresh: {uses: agent.py@good, description: Answers well, config: {tone: warm}}\n"
    (room.folder / "dyno.yaml").write_text(text)
    return room


def test_versions_that_can_be_run_here_are_told_from_those_that_only_have_results(registered: Room) -> None:
    text = 'agents:\n  fresh: {uses: agent.py@good, version: "3"}\n  kept: {uses: agent.py@good, version: "2"}\n'
    (registered.folder / "dyno.yaml").write_text(text)
    run(registered, Answerer("fresh", "1"), Answerer("kept", "1"), Answerer("kept", "2"), Answerer("gone", "1"))
    client = client_of(registered)
    items = {item["name"]: item for item in client.ok("/api/agents")["items"]}
    told = {name: (items[name]["versions"], items[name]["registered_versions"]) for name in ("fresh", "kept", "gone")}
    assert told == {"fresh": (["1"], ["3"]), "kept": (["2", "1"], ["2"]), "gone": (["1"], [])}
    assert [items[name]["registered"] for name in told] == [True, True, False]
    assert items["rules"]["versions"] == items["rules"]["registered_versions"] == ["2", "1"], "shipped, never run"
    shown = client.ok("/api/agents/kept")["versions"]
    assert [(row["version"], row["registered"]) for row in shown] == [("2", True), ("1", False)]
    client.app.state.services.close()


def test_versions_first_seen_in_one_run_come_with_the_highest_first(room: Room) -> None:
    run(room, *(Answerer("a", version) for version in ("2.9", "2.10", "1.0")))
    run(room, *(Answerer("a", version) for version in ("0.2", "0.3")))
    client = client_of(room)
    (found,) = [item for item in client.ok("/api/agents")["items"] if item["name"] == "a"]
    assert found["versions"] == ["0.3", "0.2", "2.10", "2.9", "1.0"]
    shown = client.ok("/api/agents/a")["versions"]
    assert [row["version"] for row in shown] == found["versions"]
    assert shown[0]["uid"] == found["uid"]
    client.app.state.services.close()


def test_a_registered_agent_is_there_before_it_has_run(registered: Room) -> None:
    client = client_of(registered)
    fresh = next(item for item in client.ok("/api/agents")["items"] if item["name"] == "fresh")
    assert (fresh["registered"], fresh["paid"], fresh["description"]) == (True, False, "Answers well")
    assert fresh["versions"] == fresh["registered_versions"] != []
    assert (fresh["last_attempt_at"], fresh["settings"]) == (None, {"tone": "string"})
    found = client.ok("/api/agents/fresh")
    assert (found["agent"], found["results"], found["suites"]) == (fresh, [], [])
    assert client.ok(f"/api/agents/{fresh['uid']}")["agent"] == fresh
    assert client.ok("/benchmarks/agents/fresh/results") == {"items": [], "next": None}
    assert client.problem("/api/agents/frsh", 404)["near"] == ["fresh"]
    client.app.state.services.close()
