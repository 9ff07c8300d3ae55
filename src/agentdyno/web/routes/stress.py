"""What targets did under load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from agentdyno.findings.stress.model import StressReport
from agentdyno.model import RunStatus
from agentdyno.model.job import Scope
from agentdyno.model.result import LOAD_KIND
from agentdyno.store import Store
from agentdyno.web.auth import require
from agentdyno.web.lookups import LONGEST_NAME
from agentdyno.web.replies import answer
from agentdyno.web.state import Services, services

router = APIRouter(tags=["stress"], dependencies=[Depends(require(Scope.READ))])

Given = Annotated[Services, Depends(services)]
LOOKED_AT = 200
"""Load runs that are looked through for those of one target."""
CLOSED = (RunStatus.COMPLETE, RunStatus.PARTIAL)


@dataclass(frozen=True, slots=True)
class StressItems:
    """Load runs, newest first."""

    items: tuple[StressReport, ...] = ()


@router.get("/api/stress", response_model=StressItems)
def stress(
    agent_id: Annotated[
        str | None, Query(max_length=LONGEST_NAME, description="The target, as the run names it.")
    ] = None,
    run_id: Annotated[str | None, Query(max_length=64, description="A run that may be older.")] = None,
    limit: Annotated[int, Query(ge=1, le=20)] = 5,
    *,
    services: Given,
) -> Response:
    """Results of stress tests: per scenario what was asked, what came of it over time, where it broke and why."""
    found = _reports(services.store, agent_id or None, limit)
    if run_id and all(item.run_id != run_id for item in found):
        found += _report(services.store, run_id)
    return answer(StressItems(tuple(found)))


def _report(store: Store, run_id: str) -> list[StressReport]:
    from agentdyno.findings.stress.judge import stress_report

    if not store.runs.has(run_id) or store.runs.load(run_id, samples=False).kind != LOAD_KIND:
        return []
    return [stress_report(store.runs.load(run_id))]


def _reports(store: Store, agent: str | None, limit: int) -> list[StressReport]:
    from agentdyno.findings.stress.judge import stress_report

    found: list[StressReport] = []
    for row in store.runs.page(LOAD_KIND, statuses=CLOSED, limit=LOOKED_AT):
        if len(found) >= limit:
            break
        if agent is not None and not any(
            arm.agent == agent for arm in store.runs.load(row.run_id, samples=False).arms
        ):
            continue
        found.append(stress_report(store.runs.load(row.run_id)))
    return found
