"""What boards show, read from the summaries only; and the agents and suites that there are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import itemgetter
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, bindparam, cast, func, or_, select

from agentdyno.errors import StoreError, nearest
from agentdyno.model import Suite
from agentdyno.store.execution_schema import (
    SHOWN,
    SUMMED,
    agents,
    agg_day,
    benchmarks,
    latest,
    suites,
)
from agentdyno.store.identities import uid_text
from agentdyno.store.link import Link
from agentdyno.store.rows import AgentRow, LeaderboardRow, MatrixRow, SuiteRow
from agentdyno.store.suites import suite_of
from agentdyno.store.summaries import CASE_UNITS, DAY_MS, SCALES

_SCALES = [SCALES[name] for name in SUMMED]
_PLACE = itemgetter(1, -3, -2, -1)
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
    asked = {"suite": None if suite is None else suite_key(link, suite), "category": category}
    given = {name: value for name, value in asked.items() if value is not None}
    rows = list(link.execute(_matrix("suite" in given, "category" in given), given).all())
    rows.sort(key=_PLACE)  # cheaper here than in PostgreSQL
    return [MatrixRow._make((uid_text(row[0]), *row[1:9], row[9] and uid_text(row[9]), *row[10:-3])) for row in rows]


@cache
def _matrix(of_suite: bool, of_category: bool) -> Select[*tuple[Any, ...]]:
    """Put together once: that takes as long as running it."""
    asked = (
        select(
            agents.c.uid,
            agents.c.name,
            agents.c.version,
            suites.c.digest,
            benchmarks.c.benchmark_id,
            *(latest.c[name] for name in ("category", "attempt_at", "attempt_status", "success_at", "success_uid")),
            *(latest.c[name] for name in SHOWN),
            agents.c.id,
            suites.c.id,
            benchmarks.c.position,
        )
        .select_from(latest)
        .join(agents, agents.c.id == latest.c.agent)
        .join(benchmarks, benchmarks.c.id == latest.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
    )
    if of_suite:
        asked = asked.where(benchmarks.c.suite == bindparam("suite"))
    return asked.where(latest.c.category == bindparam("category")) if of_category else asked


def leaderboard_rows(link: Link, days: int, category: str | None, now_ms: int) -> list[LeaderboardRow]:
    """One row per category and agent with an execution on one of the last ``days`` days (UTC, today included)."""
    first_day = now_ms // DAY_MS - days + 1
    given: dict[str, object] = {"day": first_day, "time": first_day * DAY_MS}
    if category is not None:
        given["category"] = category
    return [_leaderboard_row(row) for row in link.execute(_leaderboard(category is not None), given).all()]


@cache
def _leaderboard(of_category: bool) -> Select[*tuple[Any, ...]]:
    """Put together once, as ``_matrix`` is."""
    summed = [*_COUNTS, *(f"sum_{name}" for name in SUMMED), *(f"n_{name}" for name in SUMMED)]
    sums = (
        select(
            agg_day.c.agent,
            agg_day.c.category,
            *(cast(func.sum(agg_day.c[name]), BigInteger).label(name) for name in summed),
        )
        .where(agg_day.c.day >= bindparam("day"))
        .group_by(agg_day.c.category, agg_day.c.agent)
    )
    ends = (
        select(
            latest.c.agent,
            latest.c.category,
            func.count().label("benchmarks"),
            func.max(latest.c.success_at).label("last_success_at"),
        )
        .where(latest.c.success_at >= bindparam("time"))
        .group_by(latest.c.agent, latest.c.category)
    )
    if of_category:
        sums = sums.where(agg_day.c.category == bindparam("category"))
        ends = ends.where(latest.c.category == bindparam("category"))
    totals, lasts = sums.subquery("totals"), ends.subquery("lasts")
    return (
        select(agents.c.uid, agents.c.name, agents.c.version, lasts.c.benchmarks, lasts.c.last_success_at, totals)
        .select_from(totals)
        .join(agents, agents.c.id == totals.c.agent)
        .outerjoin(lasts, (lasts.c.agent == totals.c.agent) & (lasts.c.category == totals.c.category))
        .order_by(totals.c.category, agents.c.name, agents.c.id)
    )


def _leaderboard_row(row: Sequence[Any]) -> LeaderboardRow:
    """By position, because a board has hundreds of rows of many columns."""
    uid, name, version, ended, last_success_at, _agent, category, *numbers = row
    attempts, n, passed, samples, scored, case_sum, case_squares, *rest = map(int, numbers)
    known = rest[len(SUMMED) :]
    means = [
        units / (count * scale) if count else None for units, count, scale in zip(rest, known, _SCALES, strict=False)
    ]
    head = [uid_text(uid), name, version, category, attempts, n, ended or 0, last_success_at]
    cases = [passed, samples, scored, *_pooled(scored, case_sum, case_squares)]
    return LeaderboardRow(*[*head, *means, *cases, tuple(known)])


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
