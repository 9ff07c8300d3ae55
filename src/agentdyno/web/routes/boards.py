"""Where agents stand: leaderboard, matrix, coverage."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from agentdyno.findings.board.ask import ALL_SUITES, EACH
from agentdyno.findings.board.model import Coverage, Matrix
from agentdyno.findings.success.model import SuccessReport
from agentdyno.model.job import Scope
from agentdyno.settings.judging import INCLUDE_PARTIAL
from agentdyno.web.auth import require
from agentdyno.web.document_shapes import LeaderboardAnswer, leaderboard_answer
from agentdyno.web.lookups import find_stored_suite
from agentdyno.web.problems import FieldProblem, RefusedRequest
from agentdyno.web.replies import DAY_MS, NOT_MODIFIED, Lasting, answer, kept_answer, tag_of, tagged
from agentdyno.web.state import Services, services

router = APIRouter(tags=["boards"], dependencies=[Depends(require(Scope.READ))])

Given = Annotated[Services, Depends(services)]
HOUR_MS = 3_600_000
CategoryName = Literal["overall", "speed", "accuracy", "cost", "reliability", "scalability", "comprehensive"]
BoardCategory = Literal["overall", "each", "speed", "accuracy", "cost", "reliability", "scalability", "comprehensive"]
MetricName = Literal["all", "overall", "accuracy", "speed", "efficiency", "cost", "reliability"]
Days = Annotated[int, Query(ge=1, le=36_500)]
SuiteId = Annotated[str | None, Query(max_length=500)]
Partial = Annotated[bool, Query(description=INCLUDE_PARTIAL.description)]


@router.get("/benchmarks/leaderboard", response_model=LeaderboardAnswer, responses=NOT_MODIFIED)
def leaderboard(
    request: Request,
    category: BoardCategory = "overall",
    metric: MetricName = "all",
    limit: Annotated[int, Query(ge=1, le=1000)] = 20,
    days: Days = 30,
    suite_id: SuiteId = None,
    include_partial: Partial = False,
    *,
    services: Given,
) -> Response:
    """Agents by what they achieved in the last `days` days in the suite that was run last, or in `suite_id`.

    `all` compares agents over the suites that they share. `category` is that of suites or benchmarks; `each` gives
    every category that has results, ranks within it, each from the suite of it that was run last. Simulated results
    are not in it, and runs that were quick, limited or cut short only with `include_partial`.
    """
    if category == EACH and suite_id:
        message = "every category is of the suites that have it"
        errors = (FieldProblem("query.suite_id", message),)
        raise RefusedRequest(422, message, "Leave suite_id out, or name one category.", errors=errors)
    digest = _digest(services, suite_id)
    question = _question(services, "leaderboard", category, metric, limit, days, digest, include_partial)

    def make() -> LeaderboardAnswer:
        boards = services.boards
        if category == EACH:
            own = boards.by_category(metric=metric, days=days, limit=limit, partial=include_partial)
            return leaderboard_answer(boards.together(own, metric=metric, days=days))
        board = boards.leaderboard(
            category=category, metric=metric, limit=limit, days=days, suite=digest, partial=include_partial
        )
        return leaderboard_answer(board)

    return tagged(request, _tag(services, question), lambda: kept_answer(services, question, make))


@router.get("/api/matrix", response_model=Matrix, responses=NOT_MODIFIED)
def matrix(
    request: Request,
    suite_id: SuiteId = None,
    category: CategoryName = "overall",
    include_partial: Partial = False,
    *,
    services: Given,
) -> Response:
    """Every agent × every dimension, from each agent's last success in each benchmark of a suite, as in the board."""
    digest = _digest(services, suite_id)
    question = _question(services, "matrix", digest, category, include_partial)

    def make() -> Matrix:
        return services.boards.matrix(suite=digest, category=category, partial=include_partial)

    return tagged(request, _tag(services, question), lambda: kept_answer(services, question, make))


@router.get("/api/coverage", response_model=Coverage)
def coverage(days: Days = 30, *, services: Given) -> Response:
    """Which agents were benchmarked in the last `days` days, and which were not."""
    return answer(services.boards.coverage(days=days))


@router.get("/api/success", response_model=SuccessReport)
def success(days: Days = 30, *, services: Given) -> Response:
    """How well benchmarking itself does: agents benchmarked, accuracy of regression detection (stored pairs of runs
    are judged again), optimisation opportunities taken, degradation incidents; each with how it is counted."""
    from agentdyno.findings.success.ask import Successes

    names = sorted({agent.name for agent in services.workspace.agents.values()})
    policy = services.workspace.gate

    def make() -> Lasting:
        now = services.now_ms()
        asked = Successes(services.store, registered=names, now_ms=now, policy=policy)
        return Lasting(asked.report(days), now + HOUR_MS)

    return kept_answer(services, ("success", days, tuple(names), policy.rules), make)


def _digest(services: Services, suite_id: str | None) -> str | None:
    known = suite_id if suite_id == ALL_SUITES else find_stored_suite(services, suite_id)
    return services.boards.suite_digest(known)


def _question(services: Services, *asked: Hashable) -> tuple[Hashable, ...]:
    """All that a board depends on besides the executions: weights and the day (UTC)."""
    return services.now_ms() // DAY_MS, tuple(sorted(services.workspace.weights.items())), *asked


def _tag(services: Services, question: tuple[Hashable, ...]) -> str:
    """The same while no execution changes, and nothing of the question does."""
    return tag_of(services.store.boards.generation(), *question)
