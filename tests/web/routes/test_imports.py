"""Results of other tools, over HTTP."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from agentdyno.model.job import Scope
from tests.suites import Room

from .asking import Client, client_of, fields, refused

HYPERFINE = {
    "results": [
        {
            "command": "sleep 0.1",
            "mean": 0.2,
            "stddev": 0.1,
            "median": 0.2,
            "user": 0.01,
            "system": 0.01,
            "min": 0.1,
            "max": 0.3,
            "times": [0.1, 0.2, 0.3],
            "exit_codes": [0, 0, 0],
        }
    ]
}


def named(number: int) -> bytes:
    results = [{**HYPERFINE["results"][0], "command": f"sleep {number}"}]
    return json.dumps({"results": results}).encode()


def test_a_file_as_the_body_is_taken_in_once(room: Room) -> None:
    client = client_of(room, Scope.ADMIN)
    found = client.send("POST", "/api/import?name=speed.json", content=named(1))
    assert found.status_code == 200, found.text
    (item,) = found.json()["items"]
    assert (item["importer"], item["file"], item["known"]) == ("hyperfine", "speed.json", False)
    assert (item["arms"], item["samples"], item["kind"]) == (1, 3, "experiment")
    again = client.send("POST", "/api/import?name=speed.json", content=named(1)).json()["items"]
    assert again == [{**item, "known": True}]
    stored = room.store.runs.load(item["run_id"])
    assert [sample.readings["duration_s"] for sample in stored.arms[0].samples] == [0.1, 0.2, 0.3]
    entry = room.store.service.audit(10)[-1]
    assert (entry.who, entry.action, entry.details["runs"]) == ("key admin", "import", [item["run_id"]])
    client.app.state.services.close()


def test_the_short_path_takes_files_as_well_and_as_large_ones(room: Room) -> None:
    client = client_of(room, Scope.ADMIN)
    large = named(1) + b" " * 2_000_000
    (item,) = client.send("POST", "/import?name=speed.json", content=large).json()["items"]
    assert (item["importer"], item["known"]) == ("hyperfine", False)
    refused(Client(client.app).send("POST", "/import?name=speed.json", content=large), 401)
    client.app.state.services.close()


def test_several_files_come_in_one_form(room: Room) -> None:
    client = client_of(room, Scope.ADMIN)
    files = [("file", ("same.json", named(1))), ("file", ("same.json", named(2)))]
    items = client.send("POST", "/api/import", files=files).json()["items"]
    assert [(item["file"], item["known"]) for item in items] == [("same.json", False)] * 2
    assert len(room.store.runs.newest()) == 2
    client.app.state.services.close()


def test_all_files_are_taken_or_none(room: Room) -> None:
    client = client_of(room, Scope.ADMIN)
    files = [("file", ("good.json", named(1))), ("file", ("bad.json", b'{"results": ['))]
    problem = refused(client.send("POST", "/api/import", files=files), 422)
    assert fields(problem)[0].startswith("bad.json")
    assert "dyno-import" not in json.dumps(problem), "the place where it lay is nobody's business"
    assert room.store.runs.newest() == []
    assert room.store.service.audit(10) == []
    client.app.state.services.close()


def test_a_name_cannot_place_a_file_elsewhere(room: Room, tmp_path: Path) -> None:
    client = client_of(room, Scope.ADMIN)
    target = tmp_path / "elsewhere.json"
    for name in (str(target), "../../../elsewhere.json", "..\\elsewhere.json", "a\0b.json", "..", ".", ""):
        found = client.send("POST", "/api/import", params={"name": name}, content=named(1))
        assert found.status_code == 200, found.text
    assert not target.exists()
    client.app.state.services.close()


def test_what_cannot_be_read_is_refused(room: Room) -> None:
    client = client_of(room, Scope.ADMIN)
    refused(client.send("POST", "/api/import", content=b""), 422)
    refused(client.send("POST", "/api/import", content=b"\x00\x01\x02"), 422)
    problem = refused(client.send("POST", "/api/import?format=hyperfin", content=named(1)), 422)
    assert fields(problem) == ["query.format"]
    assert "hyperfine" in str(problem["remedy"])
    empty = client.send("POST", "/api/import", data={"x": "y"}, files={})
    assert empty.status_code in (400, 422)
    client.app.state.services.close()


def test_nobody_but_an_administrator_imports(room: Room) -> None:
    client = client_of(room)
    refused(client.send("POST", "/api/import", content=named(1)), 401)
    runner = Client(client.app, room.store.service.add_key("ci", Scope.RUN, 1)[1])
    refused(runner.send("POST", "/api/import", content=named(1)), 403)
    assert room.store.runs.newest() == []
    client.app.state.services.close()


def test_a_file_that_is_too_large_is_refused(room: Room) -> None:
    from agentdyno.web.app import create_app
    from agentdyno.web.settings import ServiceSettings

    key = room.store.service.add_key("admin", Scope.ADMIN, 1)[1]
    settings = ServiceSettings(str(room.folder / "dyno.db"), room.folder, max_import_bytes=100)
    client = Client(create_app(settings), key)
    refused(client.send("POST", "/api/import", content=b"x" * 101), 413)
    client.app.state.services.close()


def test_the_history_of_an_imported_experiment_can_be_asked_for(room: Room) -> None:
    client = client_of(room, Scope.ADMIN)
    client.send("POST", "/api/import?name=speed.json", content=named(1))
    name = room.store.boards.arm_series()[0].experiment
    found = client.ok("/api/history", subject=name)
    assert (found["metric"], [point["value"] for point in found["points"]]) == ("duration_s", [0.2])
    assert "duration_s" in client.ok("/api/metrics-known", subject=name)["items"]
    assert fields(client.problem("/api/history", 422, subject=name, metric="beauty")) == ["query.metric"]
    client.app.state.services.close()


def test_a_small_file_that_unpacks_to_a_large_one_is_refused_and_nothing_is_stored(room: Room) -> None:
    client = client_of(room, Scope.ADMIN)
    bomb = gzip.compress(named(2)[:-1] + b" " * 20_000_000 + b"}")
    files = [("file", ("good.json", named(1))), ("file", ("bomb.json.gz", bomb))]
    problem = refused(client.send("POST", "/api/import", files=files), 413)
    assert "unpacks to more than 100 times" in str(problem["detail"])
    assert fields(problem) == ["bomb.json.gz"]
    assert room.store.runs.newest() == []
    assert room.store.service.audit(10) == []
    client.app.state.services.close()
