"""A job on the screen until it has ended, and the exit code that it earns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentdyno.cli.shared import INTERRUPTED, MISTAKE, PASS, say

if TYPE_CHECKING:
    from agentdyno.model import Progress
    from agentdyno.model.job import Job


def follow(changes: Iterable[Job]) -> Job:
    """Draws progress at each change; the job as it ended."""
    from agentdyno.cli.progress import ProgressLine

    job = None
    told = reason = ""
    with ProgressLine() as line:
        for job in changes:
            if job.status.value != told:
                told = job.status.value
                say(f"{job.job_id}: {told}" + (f" on {job.worker}" if told == "running" and job.worker else ""))
            if job.waits_because not in ("", reason):
                reason = job.waits_because
                say(f"{job.job_id}: {reason}")
            progress = progress_of(job)
            if progress is not None and not job.status.ended:
                line(progress)
    assert job is not None, "a job has a beginning"
    return job


def tell_end(job: Job, server: str | None = None) -> None:
    """What came of it, and where to look."""
    from agentdyno.show.job_tables import done_of

    if job.error:
        say(f"{job.agent} on {job.suite_id}: {job.error}")
    if job.run_id:
        done = done_of(job)
        where = f"{server}/runs/{job.run_id}" if server else f"dyno show {job.run_id[:13]}"
        say(f"{job.agent} on {job.suite_id}{f', {done} cases' if done else ''}: {where}")


def job_exit_code(job: Job) -> int:
    """0 succeeded, 2 failed, 130 cancelled."""
    return {"succeeded": PASS, "cancelled": INTERRUPTED}.get(job.status.value, MISTAKE)


def progress_of(job: Job) -> Progress | None:
    """The progress that a worker wrote to the job; ``None`` before it did."""
    from agentdyno.model import Progress

    told = job.progress
    done, planned = _number(told.get("done")), _number(told.get("planned"))
    if done is None or planned is None:
        return None
    return Progress(
        job.run_id,
        int(done),
        int(planned),
        int(_number(told.get("errors")) or 0),
        _number(told.get("elapsed_s")) or 0.0,
        _number(told.get("remaining_s")),
        str(told.get("doing") or ""),
        _number(told.get("pass_rate")),
        int(_number(told.get("tokens")) or 0),
        _number(told.get("cost_usd")) or 0.0,
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
