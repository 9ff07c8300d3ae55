"""The agents that are registered here or have been benchmarked."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from starlette.responses import Response

from agentdyno.findings.board.model import MatrixEntry
from agentdyno.findings.engine.versions import version_number
from agentdyno.findings.record.ask_names import versions_of
from agentdyno.jobs.catalogue import RegisteredAgent
from agentdyno.model.job import Scope
from agentdyno.store.boards.pages import ResultFilter
from agentdyno.store.rows import AgentRow, Execution, SuiteRow
from agentdyno.web.auth import require
from agentdyno.web.lookups import LONGEST_NAME, find_agent
from agentdyno.web.replies import answer
from agentdyno.web.schemas import AgentItems, AgentSummary, AgentView, SuiteRun, VersionView
from agentdyno.web.state import Services, services

router = APIRouter(tags=["agents"], dependencies=[Depends(require(Scope.READ))])

Given = Annotated[Services, Depends(services)]
MOST_RESULTS = 1000


@router.get("/api/agents", response_model=AgentItems)
def agents(services: Given) -> Response:
    """Every agent by name, its versions with the newest first."""
    rows, known = services.store.boards.agents(), services.catalogue.agents.values()
    names = sorted({*(row.name for row in rows), *(item.name for item in known)})
    return answer(
        AgentItems(tuple(_summary(name, versions_of(rows, name), _registered(services, name)) for name in names))
    )


@router.get("/api/agents/{agent_id:path}", response_model=AgentView)
def agent(agent_id: Annotated[str, Path(max_length=LONGEST_NAME)], services: Given) -> Response:
    """An agent: its versions, the suites it has run, and its newest scores and results."""
    named = find_agent(services, agent_id)
    store = services.store
    rows = versions_of(store.boards.agents(), named.name)
    registered = _registered(services, named.name)
    runnable = {item.version for item in registered}
    wanted = ResultFilter(named.name, named.version, latest=True)
    results = store.boards.execution_page(wanted, limit=MOST_RESULTS)
    entries = _newest_scores(services, named.name, results)
    return answer(
        AgentView(
            agent=_summary(named.name, rows, registered),
            versions=tuple(_version(row, runnable) for row in rows),
            suites=tuple(_suites_run(results, store.boards.suites())),
            scores=tuple(entry for entry in entries if named.version in (None, entry.version)),
            results=tuple(results),
        )
    )


def _newest_scores(services: Services, name: str, results: list[Execution]) -> list[MatrixEntry]:
    """Of each version those in the suite that it was run with last; suites are not averaged."""
    found: dict[str, MatrixEntry] = {}
    boards = services.boards
    # A limited run has a suite of its own, by its digest: what counts is in the whole one of the same id.
    ids = {row.digest: row.suite_id for row in services.store.boards.suites()}
    for suite_id in dict.fromkeys(ids.get(item.suite, item.suite) for item in results):
        for entry in boards.matrix(suite=boards.suite_digest(suite_id)).entries:
            if entry.name == name:
                found.setdefault(entry.version, entry)
    return list(found.values())


def _registered(services: Services, name: str) -> list[RegisteredAgent]:
    """What can be run here under that name, the highest version first."""
    found = [item for item in services.catalogue.agents.values() if item.name == name]
    return sorted(found, key=lambda item: version_number(item.version) or (), reverse=True)


def _version(row: AgentRow, runnable: Collection[str]) -> VersionView:
    times = (row.created_at, row.last_success_at, row.last_attempt_at)
    return VersionView(row.version, row.uid, row.uses, *times, registered=row.version in runnable)


def _summary(name: str, rows: list[AgentRow], registered: list[RegisteredAgent]) -> AgentSummary:
    newest = registered[0] if registered else None
    runnable = tuple(dict.fromkeys(item.version for item in registered))
    uid = rows[0].uid if rows else ""
    return AgentSummary(
        name=name,
        versions=tuple(dict.fromkeys(row.version for row in rows)) or runnable,
        uid=uid or (newest.uid if newest is not None else ""),
        registered=newest is not None,
        description=newest.description if newest is not None else "",
        paid=newest.paid if newest is not None else None,
        last_success_at=_newest(row.last_success_at for row in rows),
        last_attempt_at=_newest(row.last_attempt_at for row in rows),
        settings=newest.allowed if newest is not None else {},
        registered_versions=runnable,
        identity=rows[0].identity if rows else "",
    )


def _newest(times: Iterable[int | None]) -> int | None:
    return max((time for time in times if time is not None), default=None)


def _suites_run(results: list[Execution], suites: list[SuiteRow]) -> list[SuiteRun]:
    """By when they were run, the newest first."""
    known = {row.digest: row for row in suites}
    grouped: dict[str, list[Execution]] = {}
    for item in results:
        grouped.setdefault(known[item.suite].suite_id, []).append(item)
    return [
        SuiteRun(
            suite_id=suite_id,
            name=known[own[0].suite].name,
            digest=own[0].suite,
            version=own[0].agent_version,
            last_at=own[0].created_at,
            benchmarks=len(own),
            simulated=any(item.simulated for item in own),
        )
        for suite_id, own in grouped.items()
    ]
