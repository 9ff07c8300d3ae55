"""Asking for a run: now, or as a job."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Header, Request
from starlette.responses import Response

from agentdyno.jobs.estimating import RunEstimate, estimate
from agentdyno.model.job import Job, Scope
from agentdyno.model.result import RunResult
from agentdyno.web.asked import Configuration, RunBody, described, run_asked
from agentdyno.web.auth import ServiceCaller, require
from agentdyno.web.problems import RefusedRequest
from agentdyno.web.replies import answer
from agentdyno.web.state import Services, services
from agentdyno.web.watching import JobWatch

router = APIRouter(tags=["running"])
_VISIBLE = re.compile(r"[\x21-\x7e]{1,200}")
_LOOK_S = 5.0
"""How often a request that waits looks whether its client is still there."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """``url`` is where the job's progress is; ``job_id`` is the job's."""

    job: Job
    url: str
    job_id: str


@dataclass(frozen=True, slots=True)
class Finished:
    """``result`` is the run without its samples, ``None`` where the job ended before it began.

    ``job_id`` and ``run_id`` ("" without a run) are the job's.
    """

    job: Job
    result: RunResult | None
    job_id: str
    run_id: str


@router.post(
    "/benchmarks/run",
    response_model=Finished,
    responses={202: {"model": Accepted, "description": "Queued; `Location` has the job."}},
    openapi_extra=described(RunBody, Configuration),
)
async def run(
    request: Request,
    body: Annotated[RunBody, Depends(run_asked)],
    caller: Annotated[ServiceCaller, Depends(require(Scope.RUN))],
    given: Annotated[Services, Depends(services)],
    idempotency_key: Annotated[
        str, Header(max_length=200, description="The same key again gives the same job, not another run.")
    ] = "",
) -> Response:
    """Runs a suite with an agent. Waits for the end, unless `async_execution`; a job that no worker offers is not
    waited for (503).

    Asked for in a JSON object; or with parameters, the body then being the agent's configuration, if any.
    """
    if idempotency_key and not _VISIBLE.fullmatch(idempotency_key):
        raise RefusedRequest(422, "header.idempotency-key: expected visible ASCII characters without spaces")
    job = await to_thread.run_sync(_submit, given, body, caller, idempotency_key)
    url = f"/api/jobs/{job.job_id}"
    if body.async_execution:
        return answer(Accepted(job, url, job.job_id), status=202, headers={"Location": url})
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
    return answer(Finished(job, result, job.job_id, job.run_id or ""), headers={"Location": url})


@router.post("/benchmarks/estimate", response_model=RunEstimate, openapi_extra=described(RunBody, Configuration))
def estimated(
    body: Annotated[RunBody, Depends(run_asked)], given: Annotated[Services, Depends(services)]
) -> Response:
    """How many calls a run would make, what it is expected to cost and how long it would take. Starts nothing."""
    found = estimate(
        given.store,
        given.catalogue,
        agent=body.agent_id,
        suite=body.suite_id,
        configuration=body.configuration,
        options=body.options.model_dump(exclude_none=True),
    )
    return answer(found)


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
