"""Requests made from the OpenAPI document: every answer is one that the document promises, and none is a 5xx.

Short by default, and the same requests every time; ``DYNO_SOAK=1`` sends more than 5,000 cases, new ones each time.
Three operations are made harmless, not left out:

- ``POST /benchmarks/run`` always asks for a job: nobody works on them here, so a waiting request would wait for ever.
- ``GET /api/jobs/{job_id}/events`` finds only a job that has ended: the stream of another one has no end.
- ``DELETE /api/keys/{name}`` finds only a spare key, never the one that the requests are sent with.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.config import (
    ChecksConfig,
    CoveragePhaseConfig,
    GenerationConfig,
    PhasesConfig,
    PositiveDataAcceptanceConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
)

from agentdyno.model.job import Scope
from agentdyno.store import Store
from agentdyno.web.app import create_app
from agentdyno.web.settings import ServiceSettings
from tests.suites import Room

from .routes.asking import seed
from .service import Bench, bearer

SOAK = bool(os.environ.get("DYNO_SOAK"))
FUZZED = 150 if SOAK else 8
"""Cases that are made at random for each operation; those at the edges of the document come on top when soaking."""
NAMES = ("steady", "steady@2.0", "weak", "tracer")
KNOWN: dict[str, tuple[str, ...]] = {
    "agent_id": NAMES,
    "agent": NAMES,
    "first_agent": ("tracer@1.0",),
    "second_agent": ("tracer@2.0",),
    "subject": NAMES,
    "agent_ids": ("steady,weak", "steady@1.0,weak", "tracer"),
    "suite_id": ("room", "pair", "odd", "sums"),
    "run_id": ("last", "last~1", "last~2", "last~3"),
    "first_run": ("last~3",),
    "second_run": ("last~2",),
    "case_id": ("c00", "c01"),
    "case": ("c00",),
    "benchmark": ("room",),
    "metric": ("accuracy", "duration_s", "overall"),
    "baseline_version": ("1.0",),
    "name": ("spare",),
}
"""Words that are in the store, by the name of a parameter: at random, none would be found."""


def config() -> SchemathesisConfig:
    checks = ChecksConfig(
        # A value may fit its schema and still mean nothing: an unknown metric, a cursor of another list.
        positive_data_acceptance=PositiveDataAcceptanceConfig(
            expected_statuses=["2xx", "3xx", "401", "403", "404", "409", "422"]
        )
    )
    project = ProjectConfig(
        checks=checks,
        generation=GenerationConfig(deterministic=not SOAK, database="none", max_examples=FUZZED),
        phases=PhasesConfig(coverage=CoveragePhaseConfig(enabled=SOAK)),
    )
    return SchemathesisConfig(seed=None if SOAK else 1, projects=ProjectsConfig(default=project))


def document() -> dict[str, Any]:  # a JSON document
    """It does not depend on what is in the store, and making it does not open one."""
    return create_app(ServiceSettings("sqlite:///unused.db", Path("unused"))).openapi()


Case = schemathesis.Case[Any]  # of an operation of any kind
schema = schemathesis.openapi.from_dict(document(), config=config())
sent: Counter[tuple[str, int]] = Counter()
"""Requests by operation and the status of the answer."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, str, str]]:
    """The application on a store of real runs, the secret of an administrator, and the id of a job that has ended."""
    folder = tmp_path_factory.mktemp("cases")
    bench = Bench(folder)
    with Store.open(folder / "dyno.db") as store:
        seed(Room(folder, store))
        secret = store.service.add_key("used by the requests", Scope.ADMIN, 1)[1]
        store.service.add_key("spare", Scope.READ, 1)
    app = create_app(
        ServiceSettings(bench.url, folder, rate_per_minute=0, queue_limit=1_000_000, static=folder / "static")
    )
    yield app, secret, ended_job(bench)
    app.state.services.close()
    statuses = Counter({status: 0 for _, status in sent})
    for (_, status), count in sent.items():
        statuses[status] += count
    shown = ", ".join(f"{count:,} x {status}" for status, count in statuses.most_common())
    print(f"\n{sent.total():,} requests to {len({label for label, _ in sent})} operations: {shown}")


def ended_job(bench: Bench) -> str:
    run = {"agent_id": "echo", "suite_id": "Sums", "async_execution": True}
    with bench.client(bench.key(Scope.RUN)) as client:
        answer = client.post("/benchmarks/run", json=run)
        assert answer.status_code == 202, answer.text
        job_id = str(answer.json()["job"]["job_id"])
        assert client.post(f"/api/jobs/{job_id}/cancel").json()["status"] == "cancelled"
    return job_id


def meant(value: Any, name: str, known: dict[str, tuple[str, ...]]) -> Any:  # a JSON value
    """Three of four words become one that is in the store; which, follows from the word."""
    if not isinstance(value, str) or name not in known:
        return value
    drawn = zlib.crc32(value.encode(errors="replace"))
    return known[name][drawn // 4 % len(known[name])] if drawn % 4 else value


def make_meaningful(case: Case, job_id: str) -> None:
    known = {**KNOWN, "job_id": (job_id,)}
    for place in (case.path_parameters, case.query):
        for name, value in list((place or {}).items()):
            place[name] = meant(value, name, known)
    if isinstance(case.body, dict):
        for name, value in list(case.body.items()):
            if name == "agent_ids" and isinstance(value, list):
                case.body[name] = [meant(item, "agent_id", known) for item in value]
            elif name in ("agent_id", "suite_id"):
                case.body[name] = meant(value, name, known)


@schema.parametrize()
@settings(
    max_examples=FUZZED,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_that_the_document_promises(case: Case, service: tuple[Any, str, str]) -> None:
    app, secret, job_id = service
    if case.meta is not None and case.meta.generation.mode is schemathesis.GenerationMode.POSITIVE:
        make_meaningful(case, job_id)
    if case.path == "/benchmarks/run" and isinstance(case.body, dict) and not case.body.get("async_execution"):
        case.body["async_execution"] = True
    answer = case.call_and_validate(headers=bearer(secret), app=app)
    sent[case.operation.label, answer.status_code] += 1
