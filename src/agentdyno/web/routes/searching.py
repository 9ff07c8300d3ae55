"""Everything by a part of its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from agentdyno.findings.record.ask_search import FoundThing, search_store
from agentdyno.model.job import Scope
from agentdyno.web.auth import require
from agentdyno.web.replies import answer
from agentdyno.web.state import Services, services

router = APIRouter(tags=["search"], dependencies=[Depends(require(Scope.READ))])

Given = Annotated[Services, Depends(services)]


@dataclass(frozen=True, slots=True)
class FoundThings:
    """Agents, suites, runs, cases and tags, in this order, at most eight of each."""

    items: tuple[FoundThing, ...]


@router.get("/api/search", response_model=FoundThings)
def search(
    text: Annotated[str, Query(max_length=200, description="A part of a name; of a run also of its id.")],
    *,
    services: Given,
) -> Response:
    """Agents, suites, runs, cases and tags whose names hold a text, in small or capital letters."""
    return answer(FoundThings(search_store(services.store, text)))
