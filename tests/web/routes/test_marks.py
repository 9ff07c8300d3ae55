"""Marks of people over HTTP."""

from __future__ import annotations

from agentdyno.model.job import Scope
from tests.suites import Room
from tests.workbench.answering import Answerer, run

from .asking import client_of


def test_an_answer_is_marked_by_whoever_holds_the_key_and_the_mark_taken_back(room: Room) -> None:
    result = run(room, Answerer("a", "1.0"))
    arm = result.arms[0]
    client = client_of(room, Scope.RUN)
    path = f"/api/runs/{result.run_id}/marks"
    body = {"case_id": "c00", "benchmark": arm.benchmark, "agent": arm.agent, "is_right": False, "note": "too short"}
    mark = client.send("PUT", path, json=body).json()
    assert (mark["who"], mark["is_right"], mark["note"], mark["iteration"]) == ("key run", False, "too short", 0)
    again = client.send("PUT", path, json={**body, "is_right": True}).json()
    assert client.ok(path)["items"] == [again]
    assert client.ok(path, case_id="c01")["items"] == []
    own = {"case_id": "c00", "benchmark": arm.benchmark, "agent": arm.agent}
    assert client.send("DELETE", path, params=own).json() == {"items": []}
    assert [entry.action for entry in room.store.service.audit(10)] == ["mark.clear", "mark.set", "mark.set"]


def test_an_answer_that_is_not_there_cannot_be_marked(room: Room) -> None:
    result = run(room, Answerer("a", "1.0"))
    arm = result.arms[0]
    client = client_of(room, Scope.RUN)
    path = f"/api/runs/{result.run_id}/marks"
    body = {"case_id": "c00", "benchmark": arm.benchmark, "agent": "b@1", "is_right": True}
    assert client.send("PUT", path, json=body).status_code == 404
    assert client.send("PUT", path, json={**body, "agent": arm.agent, "iteration": 99}).status_code == 404
    assert client.send("PUT", path, json={**body, "note": "x" * 1001}).status_code == 422
    assert client.send("PUT", path, json={**body, "who": "somebody else"}).status_code == 422
    assert room.store.judging.marks() == []


def test_marking_takes_a_key_that_may_run(room: Room) -> None:
    result = run(room, Answerer("a", "1.0"))
    client = client_of(room, Scope.READ)
    body = {"case_id": "c00", "benchmark": "room", "agent": "a@1.0", "is_right": True}
    assert client.send("PUT", f"/api/runs/{result.run_id}/marks", json=body).status_code == 403
