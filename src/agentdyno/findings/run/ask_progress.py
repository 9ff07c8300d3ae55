"""How a run goes on: what has been answered so far, over time, and who executes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentdyno.model import RunStatus, Status
from agentdyno.model.job import JobStatus
from agentdyno.runs.ownership import is_executed
from agentdyno.runs.place import run_folder
from agentdyno.stats.describe import quantile
from agentdyno.store import Store
from agentdyno.store.runs.pages import SampleMoment

POINTS = 60
MOST = 20_000
"""Executions that are looked at, the newest."""


@dataclass(frozen=True, slots=True)
class ProgressPoint:
    """Up to the time ``at`` (UTC milliseconds): executions ``done`` and ``passed``, and what is known of the cost.

    The durations are of the executions since the point before, ``None`` where none of them has one.
    """

    at: int
    done: int
    passed: int
    cost_usd: float | None
    median_s: float | None
    p95_s: float | None


@dataclass(frozen=True, slots=True)
class RunCourse:
    """``planned`` executions, and points of the newest 20,000. ``job_id`` is of the job that makes it, "" for none.

    ``executed``: a process works on it right now, as far as this machine and the jobs tell.
    """

    run_id: str
    status: RunStatus
    planned: int
    executed: bool
    job_id: str
    points: tuple[ProgressPoint, ...] = ()


def course_of(store: Store, run_id: str) -> RunCourse:
    """Of a run by its full id."""
    header = store.runs.load(run_id, samples=False)
    running = header.status is RunStatus.RUNNING
    job_id = _job_of(store, run_id) if running else ""
    executed = running and (bool(job_id) or is_executed(run_folder(header.spec, run_id)))
    points = progress_points(store.runs.moments(run_id, limit=MOST))
    return RunCourse(run_id, header.status, sum(arm.planned for arm in header.arms), executed, job_id, points)


def progress_points(moments: Sequence[SampleMoment]) -> tuple[ProgressPoint, ...]:
    """At most 60 points, each after the same number of executions; the last one is after all of them."""
    step = max(1, -(-len(moments) // POINTS))
    found: list[ProgressPoint] = []
    passed, cost = 0, None
    for start in range(0, len(moments), step):
        part = moments[start : start + step]
        passed += sum(item.status is Status.OK for item in part)
        known = [item.cost_usd for item in part if item.cost_usd is not None]
        cost = (cost or 0.0) + sum(known) if known else cost
        took = [item.duration_s for item in part if item.duration_s is not None]
        median, p95 = (quantile(took, 0.5), quantile(took, 0.95)) if took else (None, None)
        found.append(ProgressPoint(part[-1].started_at_ms, start + len(part), passed, cost, median, p95))
    return tuple(found)


def _job_of(store: Store, run_id: str) -> str:
    running = store.service.jobs(status=JobStatus.RUNNING, limit=200)
    return next((job.job_id for job in running if job.run_id == run_id), "")
