"""A worker that has finished a run tells what became worse, and goes on with what others left."""

from __future__ import annotations

import threading

import pytest

from agentdyno.errors import StoreError
from agentdyno.jobs import worker as worker_module
from agentdyno.model.job import DeliveryStatus, JobStatus
from agentdyno.store.service.repository import ServiceRepository

from ...suites import Room
from ...workbench.service import Service
from .receiver import Receiver

NEVER = threading.Event()
CASES = "".join(f"    - {{id: c{i}, input: w{i}, target: W{i}}}\n" for i in range(6, 24))


@pytest.fixture
def service(room: Room, receiver: Receiver) -> Service:
    made = Service.made(room.folder, room.store)
    with (made.folder / "dyno.yaml").open("a") as file:
        file.write(f"alerts: {{team: {{url: '{receiver.url}', allow_private: true}}}}\n")
    with (made.folder / "suite.yaml").open("a") as file:
        file.write(CASES)
    made.submit()
    made.worker().work(NEVER, once=True)
    assert receiver.got == [], "there is nothing to hold the first version against"
    agent = made.folder / "agent.py"
    agent.write_text(agent.read_text().replace("return case.target", "return 'no'", 1))
    return made


def test_what_became_worse_is_sent_by_the_worker_that_ran_it(service: Service, receiver: Receiver) -> None:
    job = service.submit()
    service.worker().work(NEVER, once=True)
    assert service.store.service.job(job.job_id).status is JobStatus.SUCCEEDED
    (got,) = receiver.got
    assert (got.document["event"], got.document["agent"], got.document["suite_id"]) == ("alert", "right", "first")
    assert got.document["run_id"] == service.store.service.job(job.job_id).run_id
    (sent,) = service.store.service.deliveries()
    assert (sent.status, sent.workspace) == (DeliveryStatus.SENT, "bench")


def test_a_worker_that_dies_between_the_run_and_the_end_of_its_job_loses_no_alert_and_doubles_none(
    service: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = service.submit()
    with monkeypatch.context() as patched:

        def down(*_args: object, **_named: object) -> None:
            raise StoreError("the store is gone")

        patched.setattr(ServiceRepository, "finish_job", down)
        patched.setattr(worker_module, "send_due", lambda *_: [])
        stop = threading.Event()
        worker = service.worker(lease_ms=300)
        worker.on_job = lambda _job, what: stop.set() if what != "begins" else None
        worker.work(stop)
    assert receiver.got == []
    service.worker().work(NEVER, once=True)
    assert service.store.service.job(job.job_id).status is JobStatus.SUCCEEDED
    assert len(receiver.got) == 1


def test_a_job_succeeds_whatever_becomes_of_its_alerts(
    service: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(worker_module, "note_alerts", broken)
    job = service.submit()
    service.worker().work(NEVER, once=True)
    assert service.store.service.job(job.job_id).status is JobStatus.SUCCEEDED
    assert receiver.got == []
