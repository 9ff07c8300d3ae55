"""What changed against its baseline, and the alerts that follow from it."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from agentdyno.errors import DynoError
from agentdyno.findings.change.model import Alert, Changes
from agentdyno.model.job import AuditEntry, Scope
from agentdyno.store.answers import Answers
from agentdyno.web.asked import StrictBodyRoute
from agentdyno.web.auth import ServiceCaller, require
from agentdyno.web.problems import RefusedRequest
from agentdyno.web.replies import NOT_MODIFIED, answer, kept_answer, tag_of, tagged
from agentdyno.web.schemas import AcknowledgeBody, AlertItems
from agentdyno.web.state import Services, services

if TYPE_CHECKING:
    from agentdyno.findings.change.ask import Answer, Changing
    from agentdyno.findings.change.ask_rows import ChangeMemo

router = APIRouter(tags=["changes"], route_class=StrictBodyRoute)

Given = Annotated[Services, Depends(services)]
Reader = Annotated[ServiceCaller, Depends(require(Scope.READ))]
Runner = Annotated[ServiceCaller, Depends(require(Scope.RUN))]
AlertId = Annotated[str, Path(max_length=200)]
HOUR_MS = 3_600_000
PATIENCE_S = 0.5
"""Seconds that changes are waited for: a run that has ended is to be on the page within two seconds."""

_caches: WeakKeyDictionary[Services, tuple[Answers[Answer], ChangeMemo]] = WeakKeyDictionary()


@router.get("/api/changes", response_model=Changes, responses=NOT_MODIFIED)
def changes(request: Request, given: Given, _: Reader) -> Response:
    """One row per agent and suite, worst first: the newest version against its baseline."""
    store, question = given.store, _question(given)
    tag = tag_of(store.boards.generation(), store.runs.newest_status(), *question)
    return tagged(request, tag, lambda: _kept_changes(given, question))


def warm_up(given: Services) -> None:
    """Makes the answer of the dashboard's first page, so that who opens it first does not wait for all of it."""
    with suppress(DynoError):
        _kept_changes(given, _question(given))


def _question(given: Services) -> tuple[Hashable, ...]:
    """All that changes depend on besides executions."""
    workspace = given.workspace
    baselines = tuple(given.store.boards.baselines(workspace.name))
    return "changes", given.now_ms() // HOUR_MS, baselines, workspace.gate.rules


def _kept_changes(given: Services, question: tuple[Hashable, ...]) -> Response:
    patience_s = max(PATIENCE_S, given.settings.patience_s)
    return kept_answer(given, question, lambda: _changing(given).changes(), patience_s=patience_s)


@router.get("/api/alerts", response_model=AlertItems)
def alerts(all_of_them: Annotated[bool, Query(alias="all")] = False, *, given: Given, _: Reader) -> Response:
    """Regressions to look at; with `all` those that somebody acknowledged too."""
    return answer(AlertItems(tuple(_changing(given).alerts(all=all_of_them))))


@router.post("/api/alerts/{alert_id}/acknowledge", response_model=Alert)
def acknowledge(alert_id: AlertId, body: AcknowledgeBody | None = None, *, given: Given, caller: Runner) -> Response:
    """Marks an alert as seen, in place of an earlier mark."""
    _find(given, alert_id)
    note, now = ("" if body is None else body.note), given.now_ms()
    given.store.service.acknowledge(alert_id, caller.name, note, now)
    given.store.service.add_audit(AuditEntry(now, caller.name, "alert.acknowledge", alert_id, {"note": note}))
    return answer(_find(given, alert_id))


@router.delete("/api/alerts/{alert_id}/acknowledge", response_model=Alert)
def unacknowledge(alert_id: AlertId, given: Given, caller: Runner) -> Response:
    """Takes the mark away."""
    _find(given, alert_id)
    given.store.service.unacknowledge(alert_id)
    given.store.service.add_audit(AuditEntry(given.now_ms(), caller.name, "alert.unacknowledge", alert_id, {}))
    return answer(_find(given, alert_id))


def _find(given: Services, alert_id: str) -> Alert:
    for item in _changing(given).alerts(all=True):
        if item.alert_id == alert_id:
            return item
    raise RefusedRequest(404, f"there is no alert {alert_id!r}", "GET /api/alerts lists them.")


def _changing(given: Services) -> Changing:
    from agentdyno.findings.change.ask import Changing
    from agentdyno.findings.change.ask_rows import ChangeMemo

    kept = _caches.get(given)
    if kept is None:
        kept = _caches.setdefault(given, (Answers(), ChangeMemo()))
    workspace, (cache, memo) = given.workspace, kept
    return Changing(
        given.store, workspace=workspace.name, now_ms=given.now_ms(), cache=cache, memo=memo, policy=workspace.gate
    )
