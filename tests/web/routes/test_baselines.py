"""Baselines over HTTP."""

from __future__ import annotations

from agentdyno.model.job import Scope
from agentdyno.specs import parse_suite
from tests.suites import Room
from tests.workbench.answering import Answerer, cases, put, run

from .asking import Client, client_of, fields, refused


def test_an_administrator_sets_and_clears_baselines_and_the_log_knows(room: Room) -> None:
    result = run(room, Answerer("a", "1.0"))
    run(room, Answerer("a", "1.1"))
    client = client_of(room, Scope.ADMIN)
    body = {"agent_id": "a@1.0", "suite_id": "room", "note": "the good one"}
    found = client.send("PUT", "/api/baselines", json=body)
    assert found.status_code == 200
    row = found.json()
    assert (row["agent"], row["version"], row["suite_id"], row["run_id"]) == ("a", "1.0", "room", result.run_id)
    assert client.ok("/api/baselines") == {"items": [row]}
    gone = client.send("DELETE", "/api/baselines", params={"agent_id": "a", "suite_id": "room"})
    assert gone.json() == {"cleared": 1}
    assert client.ok("/api/baselines") == {"items": []}
    log = [(entry.who, entry.action, entry.subject) for entry in room.store.service.audit(10)]
    assert log == [("key admin", "baseline.clear", "a"), ("key admin", "baseline.set", "a")]
    client.app.state.services.close()


def test_a_quick_run_becomes_a_baseline_only_when_that_is_asked_for(room: Room) -> None:
    document = {"name": "room", "scorer": "exact", "dataset": {"cases": cases(4)}, "quick": {"limit": 2}}
    result = put(room, parse_suite(document, base_dir=room.folder, quick=True), Answerer("a", "1.0"))
    client = client_of(room, Scope.ADMIN)
    problem = refused(client.send("PUT", "/api/baselines", json={"agent_id": "a"}), 409)
    assert "quick" in problem["detail"]
    found = client.send("PUT", "/api/baselines", json={"agent_id": "a", "include_partial": True})
    assert (found.status_code, found.json()["run_id"]) == (200, result.run_id)
    bad = refused(client.send("PUT", "/api/baselines", json={"agent_id": "a", "include_partial": "some"}), 422)
    assert fields(bad) == ["body.include_partial"]
    client.app.state.services.close()


def test_nobody_else_changes_baselines(room: Room) -> None:
    run(room, Answerer("a"))
    client = client_of(room)
    body = {"agent_id": "a"}
    refused(client.send("PUT", "/api/baselines", json=body), 401)
    refused(client.send("DELETE", "/api/baselines", params=body), 401)
    runner = Client(client.app, room.store.service.add_key("ci", Scope.RUN, 1)[1])
    refused(runner.send("PUT", "/api/baselines", json=body), 403)
    refused(runner.send("DELETE", "/api/baselines", params=body), 403)
    assert room.store.boards.baselines() == []
    assert room.store.service.audit(10) == []
    client.app.state.services.close()


def test_a_baseline_that_cannot_be_is_refused(room: Room) -> None:
    run(room, Answerer("agent"))
    client = client_of(room, Scope.ADMIN)
    problem = refused(client.send("PUT", "/api/baselines", json={"agent_id": "agnt"}), 404)
    assert (problem["near"], fields(problem)) == (["agent"], ["body.agent_id"])
    missing = refused(client.send("PUT", "/api/baselines", json={"note": "x"}), 422)
    assert fields(missing) == ["body.agent_id"]
    long = refused(client.send("PUT", "/api/baselines", json={"agent_id": "agent", "note": "x" * 1001}), 422)
    assert fields(long) == ["body.note"]
    none = refused(client.send("DELETE", "/api/baselines", params={"agent_id": "agent"}), 404)
    assert none["detail"] == "no baseline of agent is set"
    client.app.state.services.close()
