"""Asking for a run: checked, queued once, and noted."""

from __future__ import annotations

from typing import Any

import pytest

from agentdyno.errors import Conflict, SpecError
from agentdyno.jobs.submitting import QueueFull, RunOptions
from agentdyno.model.job import JobStatus

from ..suites import Room
from ..workbench.service import Service


@pytest.fixture
def service(room: Room) -> Service:
    return Service.made(room.folder, room.store)


def test_a_job_names_the_agent_and_the_suite_by_what_they_are(service: Service) -> None:
    job = service.submit("right", "First steps", options={"epochs": 2, "quick": True}, now_ms=1_000)
    catalogue = service.catalogue
    assert job.agent == catalogue.agents["right"].label
    assert (job.agent_digest, job.suite_digest) in catalogue.offers
    assert (job.suite_id, job.workspace, job.created_by) == ("first", "bench", "tester")
    assert job.options == {"epochs": 2, "quick": True}
    assert service.store.service.job(job.job_id) == job
    assert job.status is JobStatus.QUEUED


def test_who_asked_for_what_is_noted(service: Service) -> None:
    job = service.submit("styled", configuration={"style": "long"}, now_ms=1_000)
    (entry,) = service.store.service.audit(10)
    assert (entry.at, entry.who, entry.action, entry.subject) == (1_000, "tester", "run", job.job_id)
    assert entry.details["configuration"] == {"style": "long"}


def test_the_same_key_gives_the_same_job_and_one_note(service: Service) -> None:
    first = service.submit(idempotency_key="once")
    assert service.submit(idempotency_key="once") == first
    assert service.submit(idempotency_key="once", who="another").job_id != first.job_id
    assert service.store.service.queue_depth() == 2
    assert len(service.store.service.audit(10)) == 2


def test_the_same_key_for_another_request_is_a_conflict(service: Service) -> None:
    service.submit("styled", idempotency_key="once")
    requests: list[tuple[str, dict[str, Any]]] = [
        ("slow", {}),
        ("styled", {"options": {"epochs": 2}}),
        ("styled", {"configuration": {"depth": 1}}),
    ]
    for agent, changes in requests:
        with pytest.raises(Conflict, match="something else"):
            service.submit(agent, idempotency_key="once", **changes)
    assert service.store.service.queue_depth() == 1


def test_a_full_queue_takes_no_more(service: Service) -> None:
    service.submit(queue_limit=1)
    with pytest.raises(QueueFull, match="1 jobs wait"):
        service.submit(queue_limit=1)


def test_a_repeated_request_gets_its_job_also_when_the_queue_is_full(service: Service) -> None:
    first = service.submit(queue_limit=1, idempotency_key="once")
    assert service.submit(queue_limit=1, idempotency_key="once") == first
    with pytest.raises(Conflict, match="something else"):
        service.submit("slow", queue_limit=1, idempotency_key="once")
    with pytest.raises(QueueFull):
        service.submit(queue_limit=1, idempotency_key="twice")
    assert len(service.store.service.audit(10)) == 1


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"epochs": 0}, "options.epochs"),
        ({"epochs": True}, "options.epochs"),
        ({"epochs": 1.5}, "options.epochs"),
        ({"epochs": 10_001}, "options.epochs"),
        ({"limit": "2"}, "options.limit"),
        ({"limit": 10**30}, "options.limit"),
        ({"quick": 1}, "options.quick"),
        ({"max_cost_usd": 0}, "options.max_cost_usd"),
        ({"max_cost_usd": float("nan")}, "options.max_cost_usd"),
        ({"max_cost_usd": 10**400}, "options.max_cost_usd"),
        ({"max_cost_usd": True}, "options.max_cost_usd"),
        ({"output_dir": "/etc"}, "options.output_dir"),
    ],
)
def test_options_that_cannot_be_name_themselves(service: Service, options: dict[str, object], where: str) -> None:
    with pytest.raises(SpecError) as caught:
        service.submit(options=options)
    assert caught.value.where == where
    assert service.store.service.queue_depth() == 0


def test_options_are_kept_only_where_they_were_chosen() -> None:
    assert RunOptions.of({}).plain() == {}
    assert RunOptions.of({"epochs": None, "quick": False}).plain() == {}
    chosen = {"epochs": 3, "limit": 4, "quick": True, "max_cost_usd": 0.5}
    assert RunOptions.of(chosen).plain() == chosen


def test_a_published_version_with_other_contents_is_refused_before_it_is_queued(service: Service) -> None:
    loaded = service.catalogue.find_suite("first").loaded
    assert loaded is not None
    service.store.boards.add_suite(loaded.suite, now_ms=1)
    file = service.folder / "suite.yaml"
    file.write_text(file.read_text().replace("W1", "other"))
    with pytest.raises(SpecError, match="version 3 of First steps was run with other contents before") as told:
        service.submit()
    assert "`allow_changed_suite`" in str(told.value.remedy)
    assert service.store.service.queue_depth() == 0
    allowed = {"allow_changed_suite": True}
    assert service.submit(options=allowed).options == allowed


def test_a_secret_in_the_configuration_is_refused_and_not_quoted(service: Service) -> None:
    with pytest.raises(SpecError, match="secret") as caught:
        service.submit("styled", configuration={"style": "sk-" + "a1b2c3d4" * 4})
    assert "a1b2c3d4" not in str(caught.value)
    assert service.store.service.queue_depth() == 0
