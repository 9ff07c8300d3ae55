"""Executions of an agent, a page at a time.

A page goes on after the last row of the one before, whatever was added in between: no row comes twice, and none that
was there at the beginning is left out.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Integer, Select, and_, bindparam, func, select

from agentdyno.store.boards.histories import AskedExecutions, own_executions
from agentdyno.store.boards.queries import execution_of, whole_executions
from agentdyno.store.boards.schema import benchmarks, executions, suites
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
    asked = AskedExecutions(wanted.agent, wanted.version, wanted.suite, None, wanted.since)
    statement = _page(asked.given, wanted.latest, after is not None)
    values = {**asked.values, "most": limit}
    if after is not None:
        values |= {"after_at": after.at, "after_uid": id_bytes(after.uid)}
    return [execution_of(row) for row in session.execute(statement, values)]


@cache
def _page(given: frozenset[str], latest: bool, goes_on: bool) -> Select[Any]:
    """Put together once for each kind of question, which takes as long as the answer."""
    own = own_executions(given)
    if latest:
        own = [executions.c.id.in_(_latest(own))]
    if goes_on:
        place = select(executions.c.id).where(executions.c.uid == bindparam("after_uid")).scalar_subquery()
        own.append(
            behind_row(executions.c.created_at, executions.c.id, bindparam("after_at", type_=BigInteger), place)
        )
    keys = select(executions.c.id).where(*own).order_by(*_NEWEST).limit(bindparam("most", type_=Integer))
    return whole_executions().where(executions.c.id.in_(keys))


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
