"""Workers that have told what they offer. Times are UTC milliseconds."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, select

from agentdyno.model.job import JobStatus, WorkerSeen
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.service.schema import jobs, workers

FORGET_MS = 86_400_000
"""How long a worker that was killed is remembered."""


def note_worker(
    session: DatabaseSession, name: str, agents: Collection[str], suites: Collection[str], now_ms: int
) -> None:
    """In place of what the worker told before."""
    session.execute(delete(workers).where(workers.c.seen_at < now_ms - FORGET_MS))
    row = {"name": name, "seen_at": now_ms, "agents": sorted(agents), "suites": sorted(suites)}
    session.execute(session.backend.insert_or_replace(workers, ("name",), "1 = 1"), row)


def forget_worker(session: DatabaseSession, name: str) -> None:
    session.execute(delete(workers).where(workers.c.name == name))


def seen_workers(session: DatabaseSession, since_ms: int, now_ms: int) -> list[WorkerSeen]:
    """Those heard of since ``since_ms``, and those that hold a lease now, by name."""
    holding = (jobs.c.status == JobStatus.RUNNING.value, jobs.c.lease_until > now_ms)
    busy = set(session.execute(select(jobs.c.worker).where(*holding).distinct()).scalars())
    columns = workers.c
    wanted = select(columns.name, columns.seen_at, columns.agents, columns.suites).order_by(columns.name)
    return [
        WorkerSeen(name, seen_at, frozenset(agents or ()), frozenset(suites or ()), name in busy)
        for name, seen_at, agents, suites in session.execute(wanted)
        if seen_at >= since_ms or name in busy
    ]
