"""What later versions of an agent are held against."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from agentdyno.findings.baseline.ask import clear_baseline, set_baseline
from agentdyno.model.job import AuditEntry, Scope
from agentdyno.store.rows import BaselineRow
from agentdyno.web.asked import StrictBodyRoute
from agentdyno.web.auth import ServiceCaller, require
from agentdyno.web.lookups import LONGEST_NAME, find_agent, find_stored_suite
from agentdyno.web.replies import answer
from agentdyno.web.schemas import BaselineBody, BaselineItems, Cleared
from agentdyno.web.state import Services, services

router = APIRouter(tags=["baselines"], route_class=StrictBodyRoute)

Given = Annotated[Services, Depends(services)]
Admin = Annotated[ServiceCaller, Depends(require(Scope.ADMIN))]


@router.get("/api/baselines", response_model=BaselineItems, dependencies=[Depends(require(Scope.READ))])
def baselines(given: Given) -> Response:
    """The baselines of this workspace, by agent and suite."""
    return answer(BaselineItems(tuple(given.store.boards.baselines(given.workspace.name))))


@router.put("/api/baselines", response_model=BaselineRow)
def put_baseline(body: BaselineBody, given: Given, caller: Admin) -> Response:
    """Makes the newest results of an agent its baseline, in place of any before.

    Those of whole runs; runs that were quick, limited or cut short count only with `include_partial`.
    """
    agent = find_agent(given, body.agent_id, "body.agent_id")
    suite = find_stored_suite(given, body.suite_id, "body.suite_id")
    now = given.now_ms()
    row, _ = set_baseline(
        given.store,
        agent.label,
        suite=suite,
        workspace=given.workspace.name,
        note=body.note,
        now_ms=now,
        partial=body.include_partial,
    )
    details = {"suite_id": row.suite_id, "version": row.version, "run_id": row.run_id}
    given.store.service.add_audit(AuditEntry(now, caller.name, "baseline.set", row.agent, details))
    return answer(row)


@router.delete("/api/baselines", response_model=Cleared)
def delete_baseline(
    agent_id: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME)],
    suite_id: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    *,
    given: Given,
    caller: Admin,
) -> Response:
    """Takes the baseline of an agent in a suite back, or those in all suites."""
    agent = find_agent(given, agent_id)
    suite = _suite_id(given, find_stored_suite(given, suite_id))
    count = clear_baseline(given.store, agent.label, suite=suite, workspace=given.workspace.name)
    entry = AuditEntry(given.now_ms(), caller.name, "baseline.clear", agent.label, {"suite_id": suite})
    given.store.service.add_audit(entry)
    return answer(Cleared(count))


def _suite_id(given: Services, found: str | None) -> str | None:
    """The id behind a digest: a baseline is for all versions of a suite."""
    if found is None:
        return None
    return next(row.suite_id for row in given.store.boards.suites() if found in (row.suite_id, row.digest))
