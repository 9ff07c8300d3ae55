"""What boards show, read from the summaries only; and the agents and suites that there are."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, func, or_, select

from agentdyno.errors import StoreError, nearest
from agentdyno.model import Suite
from agentdyno.store.execution_schema import (
    SCORES,
    SUMMED,
    agents,
    agg_day,
    benchmarks,
    executions,
    latest,
    suites,
)
from agentdyno.store.identities import uid_text
from agentdyno.store.link import Link
from agentdyno.store.rows import AgentRow, LeaderboardRow, MatrixRow, SuiteRow
from agentdyno.store.suites import suite_of
from agentdyno.store.summaries import CASE_UNITS, DAY_MS, SCALES

_MATRIX_FIGURES = (*SCORES, "cost_usd", "duration_s", "tokens_used", "scored", "case_mean", "case_variance")
_COUNTS = ("attempts", "n", "passed", "samples", "scored", "case_sum", "case_squares")


def list_agents(link: Link) -> list[AgentRow]:
    """By name, the version that came last first."""
    times = (func.max(latest.c.attempt_at), func.max(latest.c.success_at))
    columns = [agents.c[name] for name in ("uid", "name", "version", "digest", "uses", "created_at")]
    rows = link.execute(
        select(*columns, *times)
        .outerjoin(latest, latest.c.agent == agents.c.id)
        .group_by(agents.c.id, *columns)
        .order_by(agents.c.name, agents.c.created_at.desc(), agents.c.id.desc())
    )
    return [AgentRow(uid_text(row[0]), *row[1:]) for row in rows]


def list_suites(link: Link) -> list[SuiteRow]:
    """By id, the version that came last first."""
    columns = [suites.c[name] for name in ("uid", "suite_id", "name", "version", "digest", "category")]
    rows = link.execute(
        select(
            *columns, func.count(benchmarks.c.id), func.coalesce(func.sum(benchmarks.c.cases), 0), suites.c.created_at
        )
        .outerjoin(benchmarks, benchmarks.c.suite == suites.c.id)
        .group_by(suites.c.id, *columns, suites.c.created_at)
        .order_by(suites.c.suite_id, suites.c.created_at.desc(), suites.c.id.desc())
    )
    return [SuiteRow(*[uid_text(row[0]), *row[1:7], int(row[7]), row[8]]) for row in rows]


def load_suite(link: Link, reference: str) -> Suite:
    """A suite by its digest, or the version of a suite id that came last."""
    document = link.execute(select(suites.c.document).where(suites.c.id == suite_key(link, reference))).scalar_one()
    return suite_of(None, document)


def suite_key(link: Link, reference: str) -> int:
    """The row of a suite by digest, else the newest with that id."""
    newest = (suites.c.created_at.desc(), suites.c.id.desc())
    for column in (suites.c.digest, suites.c.suite_id):
        found = link.execute(select(suites.c.id).where(column == reference).order_by(*newest).limit(1)).scalar()
        if found is not None:
            return int(found)
    known = link.execute(select(suites.c.suite_id).distinct()).scalars().all()
    raise StoreError(f"there is no suite {reference!r}", where=link.backend.where, remedy=nearest(reference, known))


def matrix_rows(link: Link, suite: str | None, category: str | None) -> list[MatrixRow]:
    """One row per agent and benchmark that met, agents by name, benchmarks in the order of their suite."""
    success, attempt = executions.alias("success"), executions.alias("attempt")
    asked = (
        select(
            agents.c.uid,
            agents.c.name,
            agents.c.version,
            suites.c.digest,
            benchmarks.c.benchmark_id,
            latest.c.category,
            latest.c.attempt_at,
            attempt.c.status,
            latest.c.success_at,
            success.c.uid,
            *(success.c[name] for name in _MATRIX_FIGURES),
        )
        .select_from(latest)
        .join(agents, agents.c.id == latest.c.agent)
        .join(benchmarks, benchmarks.c.id == latest.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .join(attempt, attempt.c.id == latest.c.attempt)
        .outerjoin(success, success.c.id == latest.c.success)
        .order_by(agents.c.name, agents.c.id, suites.c.id, benchmarks.c.position)
    )
    if suite is not None:
        asked = asked.where(benchmarks.c.suite == suite_key(link, suite))
    if category is not None:
        asked = asked.where(latest.c.category == category)
    return [
        MatrixRow(*[uid_text(row[0]), *row[1:9], None if row[9] is None else uid_text(row[9]), *row[10:]])
        for row in link.execute(asked)
    ]


def leaderboard_rows(link: Link, days: int, category: str | None, now_ms: int) -> list[LeaderboardRow]:
    """One row per category and agent with an execution on one of the last ``days`` days (UTC, today included)."""
    first_day = now_ms // DAY_MS - days + 1
    recent: list[ColumnElement[bool]] = [agg_day.c.day >= first_day]
    last_recent: list[ColumnElement[bool]] = [latest.c.success_at >= first_day * DAY_MS]
    if category is not None:
        recent.append(agg_day.c.category == category)
        last_recent.append(latest.c.category == category)
    summed = [*_COUNTS, *(f"sum_{name}" for name in SUMMED), *(f"n_{name}" for name in SUMMED)]
    totals = (
        select(agg_day.c.agent, agg_day.c.category, *(func.sum(agg_day.c[name]).label(name) for name in summed))
        .where(*recent)
        .group_by(agg_day.c.agent, agg_day.c.category)
        .subquery("totals")
    )
    lasts = (
        select(
            latest.c.agent,
            latest.c.category,
            func.count().label("benchmarks"),
            func.max(latest.c.success_at).label("last_success_at"),
        )
        .where(*last_recent)
        .group_by(latest.c.agent, latest.c.category)
        .subquery("lasts")
    )
    same = (lasts.c.agent == totals.c.agent) & (lasts.c.category == totals.c.category)
    asked = (
        select(totals, agents.c.uid, agents.c.name, agents.c.version, lasts.c.benchmarks, lasts.c.last_success_at)
        .select_from(totals)
        .join(agents, agents.c.id == totals.c.agent)
        .outerjoin(lasts, same)
        .order_by(totals.c.category, agents.c.name, agents.c.id)
    )
    return [_leaderboard_row(row._mapping) for row in link.execute(asked)]


def _leaderboard_row(row: Any) -> LeaderboardRow:  # a mapping of column names to values
    scored = int(row["scored"])
    mean, variance = _pooled(scored, int(row["case_sum"]), int(row["case_squares"]))
    means = {name: _mean(int(row[f"sum_{name}"]), int(row[f"n_{name}"]), SCALES[name]) for name in SUMMED}
    return LeaderboardRow(
        agent_uid=uid_text(row["uid"]),
        agent=row["name"],
        agent_version=row["version"],
        category=row["category"],
        attempts=int(row["attempts"]),
        n=int(row["n"]),
        benchmarks=row["benchmarks"] or 0,
        last_success_at=row["last_success_at"],
        **means,
        passed=int(row["passed"]),
        samples=int(row["samples"]),
        scored=scored,
        case_mean=mean,
        case_variance=variance,
        known=tuple(int(row[f"n_{name}"]) for name in SUMMED),
    )


def _mean(units: int, count: int, scale: int) -> float | None:
    return units / (count * scale) if count else None


def _pooled(count: int, units: int, square_units: int) -> tuple[float | None, float | None]:
    """Mean and variance of all cases, from whole numbers: nothing is lost in the difference of large sums."""
    if not count:
        return None, None
    mean = units / (count * CASE_UNITS)
    if count < 2:
        return mean, None
    spread = square_units * CASE_UNITS * count - units * units
    return mean, max(0.0, spread / (count * (count - 1) * CASE_UNITS * CASE_UNITS))


def find_suites(reference: str) -> ColumnElement[bool]:
    """All versions of a suite id, or one by its digest."""
    return or_(suites.c.digest == reference, suites.c.suite_id == reference)
