"""What agents cost, how far they can be relied on, and how their cases spread."""

from __future__ import annotations

import math
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from agentdyno.errors import SpecError, nearest
from agentdyno.findings.cost.judge import cost_report
from agentdyno.findings.cost.model import CostReport, SpendItem, SpendItems
from agentdyno.findings.record.ask import Records
from agentdyno.findings.reliability.judge import reliabilities
from agentdyno.model import known_metric
from agentdyno.model.job import Scope
from agentdyno.model.record import AgentRecord
from agentdyno.store.rows import SpendRow
from agentdyno.web.auth import require
from agentdyno.web.lookups import find_agents, find_stored_suite
from agentdyno.web.replies import DAY_MS, about, kept_answer
from agentdyno.web.schemas import ReliabilityItems, Spread, SpreadItems
from agentdyno.web.state import Services, services

router = APIRouter(tags=["cost and reliability"], dependencies=[Depends(require(Scope.READ))])

Given = Annotated[Services, Depends(services)]
SuiteId = Annotated[str | None, Query(max_length=500)]
AgentIds = Annotated[str | None, Query(max_length=10_000, description="Names or UUIDs, with commas between them.")]
SCORE = "score"
USED = (
    "duration_s",
    "ttft_s",
    "cost_usd",
    "total_tokens",
    "input_tokens",
    "output_tokens",
    "cpu_s",
    "peak_rss_bytes",
)


@router.get("/api/cost", response_model=CostReport)
def cost(
    suite_id: SuiteId = None,
    agent_ids: AgentIds = None,
    volume: Annotated[int, Query(ge=1, le=1_000_000_000)] = 1000,
    *,
    services: Given,
) -> Response:
    """What the agents of a suite cost for what they achieve. Savings are for `volume` tasks."""

    def make() -> CostReport:
        records = _records(services, suite_id, agent_ids)
        return cost_report(records, volume=volume) if records else CostReport(suite_id or "", volume, ())

    return kept_answer(services, ("cost", suite_id, agent_ids, volume), make)


@router.get("/api/spend", response_model=SpendItems)
def spend(days: Annotated[int, Query(ge=1, le=366)] = 30, *, services: Given) -> Response:
    """What was spent on each of the last `days` days (UTC), by agent and by the model that answered."""
    today = services.now_ms() // DAY_MS

    def make() -> SpendItems:
        rows = services.store.boards.spending((today - days + 1) * DAY_MS)
        return SpendItems(days, tuple(_spent(row) for row in rows))

    return kept_answer(services, ("spend", days, today), make)


def _spent(row: SpendRow) -> SpendItem:
    cost = row.cost_usd if row.priced and math.isfinite(row.cost_usd) else None
    return SpendItem(*row[:5], cost, row.counted, row.tokens if row.counted else None)


@router.get("/api/reliability", response_model=ReliabilityItems)
def reliability(suite_id: SuiteId = None, agent_ids: AgentIds = None, *, services: Given) -> Response:
    """How far the agents of a suite can be relied on: again and again, and in other words."""

    def make() -> ReliabilityItems:
        return ReliabilityItems(tuple(reliabilities(_records(services, suite_id, agent_ids))))

    return kept_answer(services, ("reliability", suite_id, agent_ids), make)


@router.get("/api/spread", response_model=SpreadItems)
def spread(
    agent_ids: AgentIds = None,
    suite_id: SuiteId = None,
    metric: Annotated[str, Query(min_length=1, max_length=200)] = "duration_s",
    *,
    services: Given,
) -> Response:
    """One value per case and agent: of `score`, or of what an execution uses (`duration_s`, `cost_usd`…)."""

    def make() -> SpreadItems:
        records = _records(services, suite_id, agent_ids)
        known = {SCORE, *USED, *(name for record in records for case in record.cases for name in case.used)}
        if metric not in known:
            with about("query.metric"):
                raise SpecError(f"no case has a metric {metric!r}", remedy=nearest(metric, known))
        unit = "score" if metric == SCORE else known_metric(metric).unit
        return SpreadItems(
            tuple(Spread(record.agent, _values(record, metric), unit, record.simulated) for record in records)
        )

    return kept_answer(services, ("spread", suite_id, agent_ids, metric), make)


def _records(services: Services, suite_id: str | None, agent_ids: str | None) -> list[AgentRecord]:
    """Of the agents that are named, else of all that have run the suite; empty where nothing has run at all."""
    agents = find_agents(services, agent_ids)
    suite = find_stored_suite(services, suite_id)
    store = services.store
    if not agents and suite is None and not store.boards.executions(limit=1):
        return []
    return Records(store).chosen(agents, suite)


def _values(record: AgentRecord, metric: str) -> tuple[float, ...]:
    found = [case.score if metric == SCORE else case.used.get(metric) for case in record.cases]
    return tuple(value for value in found if value is not None and math.isfinite(value))
