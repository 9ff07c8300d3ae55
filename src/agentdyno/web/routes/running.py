"""Asking for a run: now, or as a job."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Header, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import Response

from agentdyno.model.job import Job, Scope
from agentdyno.model.result import RunResult
from agentdyno.specs.forms import JobOptions, OptionsModel
from agentdyno.web.auth import ServiceCaller, require
from agentdyno.web.problems import RefusedRequest
from agentdyno.web.replies import answer
from agentdyno.web.state import Services, services
from agentdyno.web.watching import JobWatch

router = APIRouter(tags=["running"])
Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
_VISIBLE = re.compile(r"[\x21-\x7e]{1,200}")
_LOOK_S = 5.0
"""How often a request that waits looks whether its client is still there."""

if TYPE_CHECKING:  # a class that is made at run time is no type for a checker
    Options = OptionsModel
else:
    Options = JobOptions


class RunBody(BaseModel):
    """A registered agent and a registered suite, by name or UUID; nothing else can be run."""

    model_config = ConfigDict(extra="forbid")

    agent_id: Name
    suite_id: Name
    configuration: Annotated[
        dict[Name, bool | int | float | str | list[str] | None],
        Field(max_length=50, description="Settings that the agent declares, and sampling options of models."),
    ] = {}
    async_execution: Annotated[bool, Field(description="Answer at once with a job.")] = False
    options: Options = JobOptions()


@dataclass(frozen=True, slots=True)
class Accepted:
    """``url`` is where the job's progress is."""

    job: Job
    url: str


@dataclass(frozen=True, slots=True)
class Finished:
    """``result`` is the run without its samples, ``None`` where the job ended before it began."""

    job: Job
    result: RunResult | None


@router.post(
    "/benchmarks/run",
    response_model=Finished,
    responses={202: {"model": Accepted, "description": "Queued; `Location` has the job."}},
)
async def run(
    request: Request,
    body: RunBody,
    caller: Annotated[ServiceCaller, Depends(require(Scope.RUN))],
    given: Annotated[Services, Depends(services)],
    idempotency_key: Annotated[
        str, Header(max_length=200, description="The same key again gives the same job, not another run.")
    ] = "",
) -> Response:
    """Runs a suite with an agent. Waits for the end, unless `async_execution`; a job that no worker offers is not
    waited for (503)."""
    if idempotency_key and not _VISIBLE.fullmatch(idempotency_key):
        raise RefusedRequest(422, "header.idempotency-key: expected visible ASCII characters without spaces")
    job = await to_thread.run_sync(_submit, given, body, caller, idempotency_key)
    url = f"/api/jobs/{job.job_id}"
    if body.async_execution:
        return answer(Accepted(job, url), status=202, headers={"Location": url})
    watch: JobWatch = request.app.state.watch
    async with aclosing(watch.follow(job, _LOOK_S)) as states:
        async for news in states:
            if news is None:
                if await request.is_disconnected():
                    return Response(status_code=499)
                continue
            job = news
            if job.waits_because:
                raise _unanswered(job.waits_because, f"The job stays in the queue; GET {url} tells.", url, 30)
    if not job.status.ended:
        raise _unanswered("the service stops", f"The job goes on; GET {url} tells.", url, 2)
    result = await to_thread.run_sync(_result, given, job) if job.run_id else None
    return answer(Finished(job, result), headers={"Location": url})


def _unanswered(why: str, told: str, url: str, retry_after_s: int) -> RefusedRequest:
    return RefusedRequest(503, why, told, headers={"Location": url, "Retry-After": str(retry_after_s)})


def _submit(given: Services, body: RunBody, caller: ServiceCaller, idempotency_key: str) -> Job:
    from agentdyno.jobs.submitting import submit

    configuration: Mapping[str, object] = body.configuration
    return submit(
        given.store,
        given.catalogue,
        agent=body.agent_id,
        suite=body.suite_id,
        configuration=configuration,
        options=body.options.model_dump(exclude_none=True),
        who=caller.name,
        idempotency_key=idempotency_key,
        now_ms=given.now_ms(),
        queue_limit=given.settings.queue_limit,
    )


def _result(given: Services, job: Job) -> RunResult | None:
    from agentdyno.findings.case.ask import header_of

    store = given.store
    return header_of(store.runs.load(job.run_id, samples=False)) if store.runs.has(job.run_id) else None
