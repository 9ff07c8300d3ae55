"""Executions of an agent, a page at a time.

A page goes on after the last row of the one before, whatever was added in between: no row comes twice, and none that
was there at the beginning is left out.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, select

from agentdyno.store.boards.matrix import find_suites
from agentdyno.store.boards.naming import called
from agentdyno.store.boards.queries import execution_of, whole_executions
from agentdyno.store.boards.schema import agents, benchmarks, executions, suites
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import Execution
from agentdyno.store.runs.codec import id_bytes
from agentdyno.store.runs.pages import After, behind_row

_NEWEST = (executions.c.created_at.desc(), executions.c.id.desc())


class ResultFilter(NamedTuple):
    """Which executions of an agent: ``suite`` is a digest or the id of a suite (all its versions), ``since`` a time.

    ``latest``: of each benchmark the newest one alone, whichever version of its suite that is of.
    """

    agent: str
    version: str | None = None
    suite: str | None = None
    since: int | None = None
    latest: bool = False


def execution_page(
    session: DatabaseSession, wanted: ResultFilter, after: After | None = None, *, limit: int
) -> list[Execution]:
    """Executions of an agent, newest first, from the one behind ``after`` on.

    The keys come from the index, the rest of the shown rows alone.
    """
    named = select(agents.c.id).where(called(wanted.agent, wanted.version))
    own: list[ColumnElement[bool]] = [executions.c.agent.in_(named)]
    if wanted.suite is not None:
        asked = select(benchmarks.c.id).join(suites, suites.c.id == benchmarks.c.suite)
        own.append(executions.c.benchmark.in_(asked.where(find_suites(wanted.suite))))
    if wanted.since is not None:
        own.append(executions.c.created_at >= wanted.since)
    if wanted.latest:
        own = [executions.c.id.in_(_latest(own))]
    if after is not None:
        place = select(executions.c.id).where(executions.c.uid == id_bytes(after.uid)).scalar_subquery()
        own.append(behind_row(executions.c.created_at, executions.c.id, after.at, place))
    keys = select(executions.c.id).where(*own).order_by(*_NEWEST).limit(limit)
    return [execution_of(row) for row in session.execute(whole_executions().where(executions.c.id.in_(keys)))]


def _latest(own: list[ColumnElement[bool]]) -> Select[int]:
    """The newest time per agent and benchmark comes from the index; the few rows of those times are ranked."""
    keys = (executions.c.agent, executions.c.benchmark)
    newest = select(*keys, func.max(executions.c.created_at).label("at")).where(*own).group_by(*keys).subquery()
    place = func.row_number().over(partition_by=(suites.c.suite_id, benchmarks.c.benchmark_id), order_by=_NEWEST)
    same = (
        executions.c.agent == newest.c.agent,
        executions.c.benchmark == newest.c.benchmark,
        executions.c.created_at == newest.c.at,
    )
    ranked = (
        select(executions.c.id, place.label("place"))
        .join(newest, and_(*same))
        .join(benchmarks, benchmarks.c.id == executions.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .subquery()
    )
    return select(ranked.c.id).where(ranked.c.place == 1)
