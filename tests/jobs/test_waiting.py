"""Why a job waits is said where no worker that is there can take it, and nowhere else."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from agentdyno.jobs.submitting import GRACE_MS, SEEN_MS, explained, reason
from agentdyno.model.job import Job, JobStatus, WorkerSeen

from ..suites import Room
from ..waiting import wait_until
from ..workbench.service import Service

NOW = 1_750_000_000_000
JOB = Job("0198c3a1-7f2b", "quick@1", "a", "daily-work", "s", NOW - GRACE_MS - 1)


@pytest.fixture
def service(room: Room) -> Service:
    return Service.made(room.folder, room.store)


def worker(agents: str, suites: str, *, busy: bool = False) -> WorkerSeen:
    return WorkerSeen(f"{agents}-{suites}", NOW, frozenset(agents), frozenset(suites), busy)


@pytest.mark.parametrize(
    ("workers", "said"),
    [
        ([worker("ab", "st")], ""),
        ([worker("b", "t"), worker("a", "s", busy=True)], ""),
        ([], "no worker offers it: none is running (`dyno worker` starts one)"),
        (
            [worker("b", "s")],
            "no worker offers it: none of 1 has agent quick@1 with the content that was asked for",
        ),
        (
            [worker("a", "t"), worker("a", "", busy=True)],
            "no worker offers it: none of 2 (1 busy, it looks again afterwards) has suite daily-work with the content"
            " that was asked for",
        ),
        (
            [worker("", "", busy=True), worker("b", "t", busy=True)],
            "no worker offers it: none of 2 (2 busy, they look again afterwards) has agent quick@1 or suite"
            " daily-work with the content that was asked for",
        ),
        (
            [worker("a", "t"), worker("b", "s")],
            "no worker offers it: none of 2 has agent quick@1 together with suite daily-work with the content"
            " that was asked for",
        ),
    ],
)
def test_it_is_said_what_the_workers_lack(workers: list[WorkerSeen], said: str) -> None:
    assert reason(JOB, workers) == said


def test_only_jobs_that_have_waited_for_a_while_are_explained(service: Service) -> None:
    rows = [JOB, replace(JOB, created_at=NOW - GRACE_MS), replace(JOB, status=JobStatus.RUNNING)]
    assert [bool(job.waits_because) for job in explained(service.store, rows, NOW)] == [True, False, False]
    service.store.service.note_worker("w", ["a"], ["s"], NOW - SEEN_MS)
    assert explained(service.store, rows, NOW) == rows
    assert explained(service.store, [JOB], NOW + 1)[0].waits_because.startswith(
        "no worker offers it: none is running"
    )


def test_a_worker_that_works_is_known_and_one_that_ended_is_not(service: Service) -> None:
    job = service.submit()
    (service.folder / "agent.py").write_text((service.folder / "agent.py").read_text() + "\n# changed\n")
    stop = threading.Event()
    known: list[WorkerSeen] = []
    waiting: list[Job] = []

    def look() -> None:
        wait_until(lambda: service.store.service.seen_workers(since_ms=0, now_ms=NOW))
        known.extend(service.store.service.seen_workers(since_ms=0, now_ms=NOW))
        waiting.extend(explained(service.store, [job], job.created_at + GRACE_MS + 1))
        stop.set()

    watching = threading.Thread(target=look, daemon=True)
    watching.start()
    service.worker("ada").work(stop)
    watching.join(20)
    assert known[0].name == "ada"
    assert known[0].suites == {item.digest for item in service.catalogue.suites.values()}
    assert waiting[0].waits_because == (
        f"no worker offers it: none of 1 has agent {job.agent} with the content that was asked for"
    )
    assert service.store.service.seen_workers(since_ms=0, now_ms=NOW) == []
