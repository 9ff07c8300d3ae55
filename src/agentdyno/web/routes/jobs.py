"""What was asked for and how far it is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from agentdyno.model.codec import encode
from agentdyno.model.job import AuditEntry, Job, JobStatus, Scope
from agentdyno.web.auth import ServiceCaller, require
from agentdyno.web.lookups import decode_cursor, encode_cursor
from agentdyno.web.problems import finding
from agentdyno.web.replies import answer
from agentdyno.web.state import Services, services
from agentdyno.web.watching import JobWatch

router = APIRouter(prefix="/api/jobs", tags=["jobs"])
Given = Annotated[Services, Depends(services)]
Reader = Annotated[ServiceCaller, Depends(require(Scope.READ))]
JobId = Annotated[str, Path(max_length=100)]
STREAM = "text/event-stream"
EVENT = {
    "type": "object",
    "description": "One event; comments in between show life.",
    "properties": {
        "event": {"const": "job"},
        "data": {"type": "string", "contentMediaType": "application/json", "description": "A Job."},
    },
    "required": ["event", "data"],
}


@dataclass(frozen=True, slots=True)
class JobPage:
    """Newest first; ``next`` is the cursor of the following page."""

    items: tuple[Job, ...]
    next: str | None


@router.get("", response_model=JobPage)
def jobs(
    given: Given,
    _: Reader,
    status: JobStatus | None = None,
    cursor: Annotated[str | None, Query(max_length=1024)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Response:
    """Jobs, the newest first. `waits_because` says of a job that no worker offers what the workers lack."""
    place = decode_cursor(cursor, int, str)
    before = (int(place[0]), str(place[1])) if place else None
    found = given.store.service.jobs(status=status, limit=limit + 1, before=before)
    shown = tuple(_explained(given, *found[:limit]))
    following = encode_cursor((shown[-1].created_at, shown[-1].job_id)) if len(found) > limit else None
    return answer(JobPage(shown, following))


@router.get("/{job_id}", response_model=Job)
def job(given: Given, _: Reader, job_id: JobId) -> Response:
    """One job, by its id or a unique beginning of it."""
    return answer(_look_up(given, job_id))


@router.post("/{job_id}/cancel", response_model=Job)
def cancel(given: Given, caller: Annotated[ServiceCaller, Depends(require(Scope.RUN))], job_id: JobId) -> Response:
    """Cancels a job that waits, and asks the worker of one that runs to stop. One that has ended stays as it is."""
    before = _find(given, job_id)
    after = given.store.service.cancel_job(before.job_id, given.now_ms())
    if after != before:
        given.store.service.add_audit(AuditEntry(given.now_ms(), caller.name, "cancel", after.job_id))
    return answer(after)


@router.get(
    "/{job_id}/events",
    response_class=Response,
    responses={200: {"content": {STREAM: {"schema": EVENT}}, "description": "`event: job` at each change."}},
)
async def events(request: Request, given: Given, _: Reader, job_id: JobId) -> Response:
    """The job at each change until it has ended, as server-sent events; a comment every 10 s shows life."""
    found = await run_in_threadpool(_look_up, given, job_id)
    watch: JobWatch = request.app.state.watch
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_stream(watch, found, given.settings.ping_s), headers=headers, media_type=STREAM)


async def _stream(watch: JobWatch, job: Job, ping_s: float) -> AsyncIterator[str]:
    async with aclosing(watch.follow(job, ping_s)) as states:
        async for news in states:
            yield ": ping\n\n" if news is None else f"event: job\ndata: {encode(news)}\n\n"


def _look_up(given: Services, job_id: str) -> Job:
    (found,) = _explained(given, _find(given, job_id))
    return found


def _explained(given: Services, *jobs: Job) -> list[Job]:
    from agentdyno.jobs.submitting import explained

    return explained(given.store, jobs, given.now_ms())


def _find(given: Services, job_id: str) -> Job:
    with finding("path.job_id"):
        return given.store.service.job(job_id)
