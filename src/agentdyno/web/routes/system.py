"""How the service itself is: alive, ready, its figures, its documents, and who asks."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic.dataclasses import dataclass
from starlette.responses import Response

from agentdyno.model.job import Scope
from agentdyno.version import __version__
from agentdyno.web import metrics
from agentdyno.web.auth import ServiceCaller, require
from agentdyno.web.docs_page import STYLE, page
from agentdyno.web.problems import StrictJson
from agentdyno.web.state import Services, services

router = APIRouter(tags=["service"])
Given = Annotated[Services, Depends(services)]
Reader = Annotated[ServiceCaller, Depends(require(Scope.READ))]


@dataclass(frozen=True, slots=True)
class Health:
    status: str
    version: str


@dataclass(frozen=True, slots=True)
class Session:
    """Who asks, and what they ask. ``generation`` changes with results.

    ``store`` is its URL without password, for administrators; the others need not know where results lie.
    """

    who: str
    scope: Scope
    keyless: bool
    version: str
    store: str | None
    generation: int
    workspace: str


@router.get("/health")
async def health() -> Health:
    """Whether the process is alive."""
    return Health("alive", __version__)


@router.get("/ready")
def ready(given: Given) -> Health:
    """Whether the store answers."""
    given.store.ping()
    return Health("ready", __version__)


@router.get("/api/session")
def session(given: Given, caller: Reader) -> Session:
    """Who the service takes you for."""
    store = given.store
    return Session(
        who=caller.name,
        scope=caller.scope,
        keyless=caller.keyless,
        version=__version__,
        store=store.url if caller.scope.allows(Scope.ADMIN) else None,
        generation=store.boards.generation(),
        workspace=given.workspace.name,
    )


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def prometheus(request: Request, given: Given, _: Reader) -> Response:
    """Figures of the service in Prometheus' text format."""
    store = given.store
    counted = {status.value: count for status, count in store.service.job_counts().items()}
    kept: metrics.Metrics = request.app.state.metrics
    return Response(kept.text(counted, store.boards.generation()), media_type=metrics.MEDIA_TYPE)


@router.get("/openapi.json", include_in_schema=False)
def openapi(request: Request, _: Reader) -> StrictJson:
    return StrictJson(request.app.openapi())


@router.get("/docs", include_in_schema=False)
def docs(request: Request, _: Reader) -> Response:
    return Response(page(request.app.openapi()), media_type="text/html; charset=utf-8")


@router.get("/docs/style.css", include_in_schema=False)
async def docs_style(_: Reader) -> Response:
    return Response(STYLE, media_type="text/css; charset=utf-8", headers={"Cache-Control": "no-cache"})
