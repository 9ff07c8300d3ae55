"""One case with every answer to it, and two answers side by side."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from agentdyno.findings.case.ask import Answer, Browsing, CaseView
from agentdyno.findings.case.ask_grid import CaseGrid, case_grid, last_run_suite
from agentdyno.model import Status
from agentdyno.model.job import Scope
from agentdyno.web.auth import require
from agentdyno.web.lookups import LONGEST_NAME, find_agent, find_run, find_stored_suite
from agentdyno.web.problems import RefusedRequest
from agentdyno.web.replies import answer, kept_answer
from agentdyno.web.schemas import DivergenceView
from agentdyno.web.state import Services, services

router = APIRouter(tags=["cases"], dependencies=[Depends(require(Scope.READ))])

Given = Annotated[Services, Depends(services)]
Text = Annotated[str | None, Query(max_length=LONGEST_NAME)]
Reference = Annotated[str, Query(min_length=1, max_length=100)]


@router.get("/api/runs/{run_id}/cases/{case_id:path}", response_model=CaseView)
def case(
    run_id: Annotated[str, Path(max_length=100)],
    case_id: Annotated[str, Path(max_length=2000)],
    benchmark: Text = None,
    *,
    services: Given,
) -> Response:
    """A case: what was asked, and every answer with its score, its trajectory and what it took.

    `benchmark` is needed where several of them have a case of that id. Outputs end after 200,000 characters.
    """
    found = find_run(services, run_id)
    return answer(Browsing(services.store).case(found, case_id, benchmark=benchmark or None))


@router.get("/api/case-grid", response_model=CaseGrid)
def grid(
    suite_id: Annotated[
        str | None, Query(max_length=LONGEST_NAME, description="Else the one that was run last.")
    ] = None,
    agent_id: Annotated[str | None, Query(max_length=LONGEST_NAME, description="All its versions.")] = None,
    *,
    services: Given,
) -> Response:
    """Cases by the versions of one agent, else by agents: what was passed by whom, and where that flips."""

    def make() -> CaseGrid:
        name = find_agent(services, agent_id).name if agent_id else None
        suite = find_stored_suite(services, suite_id) or last_run_suite(services.store, name)
        if suite is None:
            return CaseGrid("", "", (), ())
        return case_grid(services.store, suite, name)

    return kept_answer(services, ("case grid", suite_id, agent_id), make)


@router.get("/api/divergence", response_model=DivergenceView)
def divergence(
    first_run: Reference,
    second_run: Reference,
    case_id: Annotated[str, Query(min_length=1, max_length=2000)],
    benchmark: Text = None,
    first_agent: Text = None,
    second_agent: Text = None,
    *,
    services: Given,
) -> Response:
    """Two answers to one case, and the first step in which their trajectories differ.

    Of several answers of an agent, the first side shows one that passed and the second one that did not, where there
    are such: that is what one wants to see of a case that broke.
    """
    from agentdyno.findings.case.judge import first_divergence

    browsing = Browsing(services.store)
    one = browsing.case(
        find_run(services, first_run, "first_run"), case_id, benchmark=benchmark or None, agent=first_agent or None
    )
    other = browsing.case(
        find_run(services, second_run, "second_run"), case_id, benchmark=one.benchmark, agent=second_agent or None
    )
    first = _chosen(one, passed=True)
    second = _chosen(other, passed=first.status is not Status.OK)
    return answer(
        DivergenceView(one.benchmark, one.case, first, second, first_divergence(first.events, second.events))
    )


def _chosen(view: CaseView, *, passed: bool) -> Answer:
    """The first answer that passed (or did not), else the first."""
    if not view.answers:
        raise RefusedRequest(
            404,
            f"run {view.run_id[:13]} has no answer to case {view.case.id!r}",
            "`GET /api/runs/{run_id}/cases/{case_id}` shows what there is.",
        )
    fitting = [item for item in view.answers if (item.status is Status.OK) == passed]
    return (fitting or view.answers)[0]
