"""Jobs for the tests of the queue."""

from __future__ import annotations

from dataclasses import replace

from agentdyno.model.job import Job
from agentdyno.store import Store

NOW = 1_700_000_000_000
LEASE_MS = 2_000
PAIR = ("agent-digest", "suite-digest")
OFFERS = {PAIR}


def job_id(number: int) -> str:
    return f"01900000-0000-7000-8000-{number:012d}"


def job(number: int = 1, **changes: object) -> Job:
    first = Job(job_id(number), "quick", PAIR[0], "daily-work", PAIR[1], NOW + number, created_by="ci")
    return replace(first, **changes)  # type: ignore[arg-type]


def lease(store: Store, now_ms: int = NOW, worker: str = "w1") -> Job:
    """The next job, which has to be there."""
    taken = store.service.lease_job(worker, OFFERS, now_ms=now_ms, lease_ms=LEASE_MS)
    assert taken is not None
    return taken
