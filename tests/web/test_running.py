"""Asking for runs, now and later."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from starlette.testclient import TestClient

from agentdyno.model.job import Job, JobStatus, Scope
from agentdyno.store import Store
from agentdyno.web.app import create_app

from ..store.suite_builders import run_suite, suite_header
from .service import NOW, Bench, bearer, until

ASKED = {"agent_id": "echo", "suite_id": "sums", "async_execution": True}


def take(store: Store) -> Job:
    """The next job, as a worker takes it."""
    queued = store.service.jobs(status=JobStatus.QUEUED)[-1]
    found = store.service.lease_job("w", [(queued.agent_digest, queued.suite_digest)], now_ms=NOW, lease_ms=60_000)
    assert found is not None
    return found


def test_a_run_is_queued_with_a_place_to_look_and_an_entry_in_the_audit_log(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.client(bench.key(Scope.RUN, "ci")) as client:
        answer = client.post("/benchmarks/run", json={**ASKED, "options": {"epochs": 2}})
        assert answer.status_code == 202
        job = answer.json()["job"]
        assert answer.headers["location"] == answer.json()["url"] == f"/api/jobs/{job['job_id']}"
        assert (job["status"], job["agent"], job["suite_id"]) == ("queued", "echo@1", "sums")
        assert (job["created_by"], job["created_at"], job["options"]) == ("ci", NOW, {"epochs": 2})
        assert client.get(answer.headers["location"]).json() == job
    with bench.store() as store:
        (entry,) = store.service.audit()
        assert (entry.who, entry.action, entry.subject) == ("ci", "run", job["job_id"])


def test_the_same_idempotency_key_gives_the_same_job_and_another_request_a_conflict(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    first, second = bench.key(Scope.RUN, "first"), bench.key(Scope.RUN, "second")
    with bench.client() as client:

        def ask(secret: str, **changes: object) -> tuple[int, str]:
            headers = {**bearer(secret), "Idempotency-Key": "build-7"}
            answer = client.post("/benchmarks/run", json={**ASKED, **changes}, headers=headers)
            return answer.status_code, answer.json().get("job", {}).get("job_id", answer.json().get("detail"))

        status, job_id = ask(first)
        assert status == 202
        assert ask(first) == (202, job_id)
        status, detail = ask(first, options={"epochs": 3})
        assert status == 409
        assert job_id in detail
        assert ask(second)[1] != job_id, "keys of others are others"
    with bench.store() as store:
        assert store.service.queue_depth() == 2


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """For requests that change nothing."""
    bench = Bench(tmp_path_factory.mktemp("shared"))
    with bench.client(bench.key(Scope.RUN)) as client:
        yield client
    with bench.store() as store:
        assert store.service.queue_depth() == 0


@pytest.mark.parametrize("key", [b"with space", b"tab\tbed", b"x" * 201, b"caf\xe9"])
def test_an_idempotency_key_is_short_and_visible(client: TestClient, key: bytes) -> None:
    assert client.post("/benchmarks/run", json=ASKED, headers={b"Idempotency-Key": key}).status_code == 422


def test_what_is_not_registered_is_not_there_and_the_nearest_names_are_told(client: TestClient) -> None:
    answer = client.post("/benchmarks/run", json={**ASKED, "agent_id": "ecko"})
    assert answer.status_code == 404
    assert answer.json()["near"][0] == "echo"
    answer = client.post("/benchmarks/run", json={**ASKED, "suite_id": "sum"})
    assert (answer.status_code, answer.json()["near"]) == (404, ["sums"])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused_in_every_body(client: TestClient, number: str) -> None:
    asked = '{"agent_id": "echo", "suite_id": "sums", "configuration": {"style": ' + number + "}}"
    answer = client.post("/benchmarks/run", content=asked, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert "is no number of JSON" in answer.json()["detail"]
    answer = client.post(
        "/api/alerts/1/acknowledge", content='{"note": ' + number + "}", headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422


@pytest.mark.parametrize(
    "agent", ["agent.py@answer", "cmd:id", "http://127.0.0.1:1/", "os:system", "../agent.py@answer"]
)
def test_no_path_command_module_or_address_comes_in(client: TestClient, agent: str) -> None:
    assert client.post("/benchmarks/run", json={**ASKED, "agent_id": agent}).status_code == 404
    assert client.post("/benchmarks/run", json={**ASKED, "suite_id": "sums.yaml"}).status_code == 404


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"configuration": {"base_url": "http://evil.example"}}, "configuration.base_url"),
        ({"configuration": {"style": 3}}, "configuration.style"),
        ({"configuration": {"style": {"a": 1}}}, None),
        ({"options": {"epochs": 0}}, "body.options.epochs"),
        ({"options": {"seeds": 1}}, "body.options.seeds"),
        ({"options": {"max_cost_usd": -1}}, "body.options.max_cost_usd"),
        ({"agent_id": ""}, "body.agent_id"),
    ],
)
def test_a_wrong_value_is_named(client: TestClient, changes: dict[str, object], field: str | None) -> None:
    answer = client.post("/benchmarks/run", json={**ASKED, **changes})
    assert answer.status_code == 422
    if field is not None:
        assert [item["field"] for item in answer.json()["errors"]] == [field]


def test_a_full_queue_takes_no_more(tmp_path: Path) -> None:
    bench = Bench(tmp_path, queue_limit=2)
    with bench.client(bench.key(Scope.RUN)) as client:
        answers = [client.post("/benchmarks/run", json=ASKED) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [202, 202, 503]
        assert answers[-1].headers["retry-after"] == "30"


def test_a_repeated_request_gets_its_job_also_when_the_queue_is_full(tmp_path: Path) -> None:
    bench = Bench(tmp_path, queue_limit=1)
    with bench.client(bench.key(Scope.RUN)) as client:
        answers = [client.post("/benchmarks/run", json=ASKED, headers={"Idempotency-Key": "x"}) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [202, 202]
        assert answers[0].json() == answers[1].json()


def test_a_run_that_no_worker_offers_is_not_waited_for(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    secret = bench.key(Scope.RUN)
    passed: list[int] = []
    app = create_app(bench.settings, lambda: NOW + sum(passed))
    answers: list[Any] = []  # responses of the client
    with TestClient(app, base_url="http://127.0.0.1:8321", headers=bearer(secret)) as client:
        body = {**ASKED, "async_execution": False}
        waiting = threading.Thread(target=lambda: answers.append(client.post("/benchmarks/run", json=body)))
        waiting.start()
        with bench.store() as store:
            until(store.service.queue_depth)
            passed.append(60_000)
            waiting.join(20)
            (answer,) = answers
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
            assert answer.json()["detail"].startswith("no worker offers it: none is running")
            job_id = answer.headers["location"].rpartition("/")[2]
            assert store.service.job(job_id).status is JobStatus.QUEUED


def test_a_run_that_is_waited_for_answers_when_its_job_has_ended(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    secret = bench.key(Scope.RUN)
    answers: list[dict[str, Any]] = []  # JSON documents
    with bench.client(secret) as client:

        def ask() -> None:
            answer = client.post("/benchmarks/run", json={"agent_id": "echo", "suite_id": "sums"})
            answers.append({"status": answer.status_code, **answer.json()})

        waiting = threading.Thread(target=ask)
        waiting.start()
        with bench.store() as store:
            until(store.service.queue_depth)
            job = take(store)
            assert not answers
            result = run_suite(store, suite_header(), {"echo@1": 0.5})
            store.service.heartbeat_job(job.job_id, job.attempt, now_ms=NOW, lease_ms=9_999, run_id=result.run_id)
            store.service.finish_job(job.job_id, job.attempt, JobStatus.SUCCEEDED, now_ms=NOW + 5)
        waiting.join(20)
    (answer,) = answers
    assert answer.pop("status") == 200
    assert answer["job"]["status"] == "succeeded"
    assert answer["result"]["run_id"] == answer["job"]["run_id"] == result.run_id
    assert [arm["scores"]["accuracy"] for arm in answer["result"]["arms"]] == [0.5, 0.5]
    document = bench.app.openapi()
    schema = {"$ref": "#/components/schemas/Finished", "components": document["components"]}
    jsonschema.validate(answer, schema)


def test_a_run_that_is_waited_for_when_the_service_stops_tells_where_it_goes_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.client(bench.key(Scope.RUN)) as client:
        bench.app.state.watch.stop()
        answer = client.post("/benchmarks/run", json={"agent_id": "echo", "suite_id": "sums"})
        assert answer.status_code == 503
        assert client.get(answer.headers["location"]).json()["status"] == "queued"


def test_what_a_run_comes_to_is_told_before_it_is_started(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    key = bench.key(Scope.RUN)
    with bench.client() as client:
        asked = {"agent_id": "echo", "suite_id": "sums", "options": {"epochs": 3}}
        found = client.post("/benchmarks/estimate", json=asked, headers=bearer(key))
        assert found.status_code == 200, found.text
        assert found.json() == {
            "agent": "echo@1",
            "calls": 9,  # three of them warm up
            "cases": 2,
            "epochs": 3,
            "usd": 0.0,
            "seconds": None,
        }
        wrong = client.post("/benchmarks/estimate", json={**asked, "agent_id": "ecco"}, headers=bearer(key))
        assert (wrong.status_code, wrong.json()["near"]) == (404, ["echo"])
        assert client.get("/api/jobs", headers=bearer(key)).json()["items"] == []
