"""Changes and alerts over HTTP."""

from __future__ import annotations

import pytest

from agentdyno.model.job import Scope
from tests.suites import Room
from tests.workbench.answering import Answerer, ids, run

from .asking import Client, client_of, fields, refused


@pytest.fixture
def worse(room: Room) -> Room:
    """Version 1.1 gets 16 of 24 cases wrong that 1.0 got right."""
    run(room, Answerer("a", "1.0"), count=24)
    run(room, Answerer("a", "1.1", wrong=ids(0, 16)), count=24)
    return room


def test_what_became_worse_is_on_top_with_its_cases(worse: Room) -> None:
    client = client_of(worse)
    found = client.ok("/api/changes")
    (row,) = found["rows"]
    assert (row["agent"], row["baseline"], row["verdict"], row["suite_id"]) == ("a@1.1", "a@1.0", "worse", "room")
    assert row["accuracy"]["change"] == pytest.approx(-16 / 24)
    assert [key["case_id"] for key in row["broken"]][:2] == ["c00", "c01"]
    assert found["counts"]["worse"] == 1
    assert (row["evidence"], row["finding"], row["reliability"]) == ("cases", None, None)
    client.app.state.services.close()


def test_unchanged_changes_are_not_sent_again(worse: Room) -> None:
    client = client_of(worse)
    tag = client.get("/api/changes").headers["etag"]
    again = client.get("/api/changes", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    run(worse, Answerer("b"))
    assert client.get("/api/changes", headers={"If-None-Match": tag}).status_code == 200
    client.app.state.services.close()


def test_an_alert_is_acknowledged_and_taken_up_again(worse: Room) -> None:
    client = client_of(worse, Scope.RUN)
    alerts = client.ok("/api/alerts")["items"]
    first = alerts[0]
    assert (first["agent"].partition("@")[0], first["suite_id"], first["acknowledged_by"]) == ("a", "room", "")
    path = f"/api/alerts/{first['alert_id']}/acknowledge"
    seen = client.send("POST", path, json={"note": "known"}).json()
    assert (seen["acknowledged_by"], seen["note"]) == ("key run", "known")
    assert client.ok("/api/alerts")["items"] == alerts[1:]
    assert [item["alert_id"] for item in client.ok("/api/alerts", all=True)["items"]] == [
        item["alert_id"] for item in alerts
    ]
    assert client.send("POST", path).status_code == 200, "a note is not needed"
    assert client.send("DELETE", path).json() == first
    assert client.ok("/api/alerts")["items"] == alerts
    actions = [entry.action for entry in worse.store.service.audit(10)]
    assert actions == ["alert.unacknowledge", "alert.acknowledge", "alert.acknowledge"]
    client.app.state.services.close()


def test_an_alert_that_is_not_there_is_not_found(worse: Room) -> None:
    client = client_of(worse, Scope.RUN)
    refused(client.send("POST", "/api/alerts/nothing/acknowledge", json={}), 404)
    refused(client.send("DELETE", "/api/alerts/nothing/acknowledge"), 404)
    known = client.ok("/api/alerts")["items"][0]["alert_id"]
    wrong = refused(client.send("POST", f"/api/alerts/{known}/acknowledge", json={"nte": "x"}), 422)
    assert fields(wrong) == ["body.nte"]
    reader = Client(client.app, worse.store.service.add_key("reader", Scope.READ, 1)[1])
    refused(reader.send("POST", f"/api/alerts/{known}/acknowledge", json={}), 403)
    client.app.state.services.close()


def test_an_empty_store_has_no_changes(room: Room) -> None:
    client = client_of(room)
    assert client.ok("/api/changes")["rows"] == []
    assert client.ok("/api/alerts") == {"items": []}
    client.app.state.services.close()
