"""What people say of answers: right or wrong, with who, when and why."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from agentdyno.findings.case.ask import Browsing
from agentdyno.model.job import AuditEntry, Scope
from agentdyno.model.sample import AnswerMark
from agentdyno.web.auth import ServiceCaller, require
from agentdyno.web.lookups import LONGEST_NAME, find_run
from agentdyno.web.problems import RefusedRequest
from agentdyno.web.replies import answer
from agentdyno.web.schemas import MarkBody, MarkItems
from agentdyno.web.state import Services, services

router = APIRouter(tags=["marks"])

Given = Annotated[Services, Depends(services)]
Runner = Annotated[ServiceCaller, Depends(require(Scope.RUN))]
RunId = Annotated[str, Path(max_length=100)]


@router.get("/api/runs/{run_id}/marks", response_model=MarkItems, dependencies=[Depends(require(Scope.READ))])
def marks(run_id: RunId, case_id: Annotated[str | None, Query(max_length=2000)] = None, *, given: Given) -> Response:
    """The marks of a run, or of one case of it. `dyno judge calibrate` takes them as labels."""
    found = find_run(given, run_id)
    return answer(MarkItems(tuple(given.store.judging.marks(found, case_id or None))))


@router.put("/api/runs/{run_id}/marks", response_model=AnswerMark)
def put_mark(run_id: RunId, body: MarkBody, given: Given, caller: Runner) -> Response:
    """Marks an answer right or wrong, in place of what the same person said of it before.

    Who it was is the name of the key, not what the request says.
    """
    found, now = find_run(given, run_id), given.now_ms()
    view = Browsing(given.store).case(found, body.case_id, benchmark=body.benchmark)
    if not any((item.agent, item.iteration) == (body.agent, body.iteration) for item in view.answers):
        raise RefusedRequest(
            404,
            f"{body.agent} has no answer {body.iteration} to case {body.case_id!r}",
            "`GET /api/runs/{run_id}/cases/{case_id}` shows what there is.",
        )
    answered = (found, view.benchmark, body.case_id, body.agent, body.iteration)
    mark = AnswerMark(*answered, caller.name, now, body.is_right, body.note)
    given.store.judging.mark(mark)
    given.store.service.add_audit(AuditEntry(now, caller.name, "mark.set", found, body.model_dump()))
    return answer(mark)


@router.delete("/api/runs/{run_id}/marks", response_model=MarkItems)
def delete_mark(
    run_id: RunId,
    case_id: Annotated[str, Query(min_length=1, max_length=2000)],
    benchmark: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME)],
    agent: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME)],
    iteration: Annotated[int, Query(ge=0, le=10**6)] = 0,
    *,
    given: Given,
    caller: Runner,
) -> Response:
    """Takes the caller's own mark of an answer back; the marks of the case that are left."""
    found, now = find_run(given, run_id), given.now_ms()
    own = AnswerMark(found, benchmark, case_id, agent, iteration, caller.name, now, is_right=False)
    if given.store.judging.unmark(own):
        entry = AuditEntry(now, caller.name, "mark.clear", found, {"case_id": case_id, "agent": agent})
        given.store.service.add_audit(entry)
    return answer(MarkItems(tuple(given.store.judging.marks(found, case_id))))
