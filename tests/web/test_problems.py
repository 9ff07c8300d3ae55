"""Every error is a problem, and tells nothing of the inside."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request

from agentdyno.errors import (
    Conflict,
    DynoError,
    ImportFailed,
    LeaseLost,
    NotComparable,
    PluginError,
    RunError,
    SpecError,
    StoreError,
    Unknown,
)
from agentdyno.jobs.submitting import QueueFull
from agentdyno.model.job import Scope
from agentdyno.web.problems import RefusedRequest, finding, near, problem_response, refused
from agentdyno.web.state import StoreUnavailable

from .service import Bench, bearer


def problem(response: Any, status: int) -> dict[str, object]:  # whichever client there is
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, object] = response.json()
    assert set(body) == {"type", "title", "status", "detail", "instance", "remedy", "near", "errors"}
    assert body["status"] == status
    assert body["instance"] == response.request.url.path
    assert isinstance(body["detail"], str)
    assert body["detail"]
    return body


def test_errors_of_the_framework_are_problems(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    secret = bench.key(Scope.ADMIN)
    with bench.client(secret) as client:
        assert "/docs" in str(problem(client.get("/api/nothing"), 404)["remedy"])
        problem(client.post("/api/nothing"), 404)
        assert client.delete("/api/changes").headers["allow"] == "GET"
        problem(client.delete("/api/changes"), 405)
        assert client.delete("/api/keys").headers["allow"] == "GET, POST"
        problem(client.post("/"), 405)
        problem(client.get("/nothing.js"), 404)
        problem(client.post("/benchmarks/run", content=b"{"), 422)
        problem(client.get("/api/jobs/none"), 404)
        problem(client.get("/api/jobs?limit=1e9"), 422)


def test_an_invalid_value_is_named(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.client(bench.key(Scope.ADMIN)) as client:
        found = problem(client.post("/benchmarks/run", json={"suite_id": 3, "agent_id": "echo", "url": "x"}), 422)
        assert [item["field"] for item in found["errors"]] == ["body.suite_id", "body.url"]  # type: ignore[attr-defined]
        assert str(found["detail"]).startswith("body.suite_id: ")
        found = problem(client.get("/api/jobs?limit=0&status=lost"), 422)
        assert {item["field"] for item in found["errors"]} == {"query.limit", "query.status"}  # type: ignore[attr-defined]
        found = problem(client.get("/api/jobs?cursor=nonsense"), 422)
        assert found["errors"] == [{"field": "cursor", "message": "this is no cursor of this list"}]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (SpecError("no agent x is registered", where="agent_id", remedy="Did you mean a or b?"), 404),
        (SpecError("there is no suite x here", remedy="Known: a."), 404),
        (SpecError("expected a number", where="options.epochs", remedy="Did you mean a?"), 422),
        (SpecError("a window of 0 days", where="days"), 422),
        (Unknown("there is no job x"), 404),
        (StoreError("no agent x has been benchmarked here"), 404),
        (Conflict("taken"), 409),
        (LeaseLost("over"), 409),
        (NotComparable("nothing in common"), 409),
        (RunError("cannot start"), 409),
        (QueueFull("100 jobs wait already"), 503),
        (ImportFailed("of no known format"), 422),
        (PluginError("cannot be loaded"), 422),
        (StoreUnavailable("down", where="/secret/path"), 503),
    ],
)
def test_each_kind_of_error_has_its_status(error: DynoError, status: int) -> None:
    assert refused(error).status_code == status


def test_what_cannot_be_compared_is_a_problem_of_its_own_and_other_conflicts_are_not() -> None:
    def shown(error: DynoError) -> dict[str, object]:
        plain: dict[str, object] = json.loads(bytes(problem_response(refused(error), "/x").body))
        return plain

    apart = shown(NotComparable("nothing in common", remedy="Run both."))
    assert (apart["type"], apart["title"]) == ("urn:agentdyno:problem:not-comparable", "Not Comparable")
    assert (apart["status"], apart["detail"], apart["remedy"]) == (409, "nothing in common", "Run both.")
    taken = shown(Conflict("taken"))
    assert (taken["type"], taken["title"], taken["status"]) == ("urn:agentdyno:problem:conflict", "Conflict", 409)


def test_a_database_that_fails_is_an_outage_and_an_unfit_value_is_not() -> None:
    def caused(message: str) -> StoreError:
        error = StoreError(message, where="postgresql://user@host/db")
        error.__cause__ = OSError("connection refused by host:5432")
        return error

    down = refused(caused("the connection to the database was lost: host:5432"))
    assert (down.status_code, down.headers) == (503, {"Retry-After": "2"})
    assert "host" not in str(down.detail)
    assert refused(caused("a value cannot be stored: integer out of range")).status_code == 422


def test_the_nearest_names_are_given_apart() -> None:
    assert near("Did you mean echo or other?") == ("echo", "other")
    assert near("Known: a, b.") == ()
    assert near(None) == ()
    with pytest.raises(RefusedRequest) as found, finding("path.job_id"):
        raise Unknown("there is no job x", remedy="Did you mean y?")
    assert (found.value.status_code, found.value.near) == (404, ("y",))
    assert found.value.errors[0].field == "path.job_id"


def test_finding_leaves_outages_as_they_are() -> None:
    with pytest.raises(StoreUnavailable), finding():
        raise StoreUnavailable("down")


def test_what_nobody_expected_shows_an_id_and_no_secret_anywhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench(tmp_path)
    secret = bench.key(Scope.READ)

    async def broken(request: Request) -> None:
        raise ZeroDivisionError(f"inner detail {request.headers['authorization'].split()[1]}")

    bench.app.add_api_route("/api/broken", broken)
    with caplog.at_level(logging.DEBUG), bench.client() as client:
        found = problem(client.get("/api/broken", headers=bearer(secret)), 500)
    incident = str(found["detail"]).rpartition(" ")[2]
    assert incident in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert "inner detail" not in str(found)
    assert secret not in caplog.text
    assert secret not in str(found)


def test_no_answer_and_no_log_line_carries_a_secret(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(tmp_path)
    secrets = [bench.key(scope) for scope in Scope]
    with caplog.at_level(logging.DEBUG), bench.client(secrets[-1]) as client:
        for path in ("/api/keys", "/api/audit", "/api/session", "/api/jobs", "/metrics", "/openapi.json", "/docs"):
            text = client.get(path).text
            assert not [secret for secret in secrets if secret in text], path
        for secret in secrets:
            client.get("/api/jobs/x", headers=bearer(secret + "x"))
    assert not [secret for secret in secrets if secret in caplog.text]


def test_a_store_that_cannot_be_opened_is_a_503_until_it_can(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench(tmp_path)
    file = tmp_path / "dyno.db"
    file.unlink()
    file.mkdir()
    with caplog.at_level(logging.WARNING), bench.client() as client:
        found = problem(client.get("/ready"), 503)
        assert "dyno.db" in caplog.text, "whoever runs the service is told"
        assert str(tmp_path) not in str(found)
        answer = client.get("/api/session")
        problem(answer, 503)
        assert answer.headers["retry-after"] == "2"
        assert client.get("/health").status_code == 200
        assert client.get("/").status_code == 200
        file.rmdir()
        assert client.get("/ready").status_code == 200
        assert client.get("/api/session").status_code == 200


def test_a_header_cannot_be_broken_out_of() -> None:
    answer = problem_response(RefusedRequest(409, "x", headers={"Location": "/a\r\nSet-Cookie: b=c\u2028"}), "/x")
    assert answer.headers["location"] == "/aSet-Cookie: b=c"
