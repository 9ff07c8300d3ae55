"""The matrix, read from the summaries only; and the agents and suites that there are."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, or_, select

from agentdyno.errors import StoreError, nearest
from agentdyno.model import Suite
from agentdyno.store.boards.identities import uid_text
from agentdyno.store.boards.schema import SHOWN, agents, benchmarks, latest, suites
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import AgentRow, MatrixRow, SuiteRow
from agentdyno.store.runs.suites import suite_of


def list_agents(session: DatabaseSession) -> list[AgentRow]:
    """By name, the version that came last first."""
    times = (func.max(latest.c.attempt_at), func.max(latest.c.success_at))
    columns = [agents.c[name] for name in ("uid", "name", "version", "digest", "uses", "created_at")]
    rows = session.execute(
        select(*columns, *times)
        .outerjoin(latest, latest.c.agent == agents.c.id)
        .group_by(agents.c.id, *columns)
        .order_by(agents.c.name, agents.c.created_at.desc(), agents.c.id.desc())
    )
    return [AgentRow(uid_text(row[0]), *row[1:]) for row in rows]


def list_suites(session: DatabaseSession) -> list[SuiteRow]:
    """By id, the version that came last first."""
    columns = [suites.c[name] for name in ("uid", "suite_id", "name", "version", "digest", "category")]
    rows = session.execute(
        select(
            *columns, func.count(benchmarks.c.id), func.coalesce(func.sum(benchmarks.c.cases), 0), suites.c.created_at
        )
        .outerjoin(benchmarks, benchmarks.c.suite == suites.c.id)
        .group_by(suites.c.id, *columns, suites.c.created_at)
        .order_by(suites.c.suite_id, suites.c.created_at.desc(), suites.c.id.desc())
    )
    return [SuiteRow(*[uid_text(row[0]), *row[1:7], int(row[7]), row[8]]) for row in rows]


def load_suite(session: DatabaseSession, reference: str) -> Suite:
    """A suite by its digest, or the version of a suite id that came last."""
    document = session.execute(
        select(suites.c.document).where(suites.c.id == suite_key(session, reference))
    ).scalar_one()
    return suite_of(None, document)


def suite_key(session: DatabaseSession, reference: str) -> int:
    """The row of a suite by digest, else the newest with that id."""
    newest = (suites.c.created_at.desc(), suites.c.id.desc())
    for column in (suites.c.digest, suites.c.suite_id):
        found = session.execute(select(suites.c.id).where(column == reference).order_by(*newest).limit(1)).scalar()
        if found is not None:
            return int(found)
    known = session.execute(select(suites.c.suite_id).distinct()).scalars().all()
    raise StoreError(
        f"there is no suite {reference!r}", where=session.backend.where, remedy=nearest(reference, known)
    )


def matrix_rows(session: DatabaseSession, suite: int | None, category: str | None) -> list[MatrixRow]:
    """One row per agent and benchmark that met, agents by name, benchmarks in the order of their suite.

    Names are joined to the cells here: they are few, and a database would send them once per cell.
    """
    asked = {"suite": suite, "category": category}
    given = {name: value for name, value in asked.items() if value is not None}
    who = {row[0]: row for row in session.execute(_AGENTS).all()}
    what = {row[0]: row for row in session.execute(_BENCHMARKS).all()}
    heads = {key: (uid_text(row[1]), row[2], row[3]) for key, row in who.items()}
    tails = {key: (row[1], row[2]) for key, row in what.items()}
    by_name = {key: place for place, key in enumerate(sorted(who, key=lambda key: (who[key][2], key)))}
    in_suite = {key: place for place, key in enumerate(sorted(what, key=lambda key: what[key][3:]))}
    cells = session.execute(_matrix("suite" in given, "category" in given), given).all()
    return [
        MatrixRow._make((*heads[row[0]], *tails[row[1]], *row[2:6], row[6] and uid_text(row[6]), *row[7:]))
        for row in sorted(cells, key=lambda row: (by_name[row[0]], in_suite[row[1]]))
    ]


_AGENTS = select(agents.c.id, agents.c.uid, agents.c.name, agents.c.version)
_BENCHMARKS = select(
    benchmarks.c.id, suites.c.digest, benchmarks.c.benchmark_id, suites.c.id, benchmarks.c.position
).join(suites, suites.c.id == benchmarks.c.suite)


@cache
def _matrix(of_suite: bool, of_category: bool) -> Select[*tuple[Any, ...]]:
    """Put together once: that takes as long as running it."""
    shown = ("agent", "benchmark", "category", "attempt_at", "attempt_status", "success_at", "success_uid", *SHOWN)
    asked = select(*(latest.c[name] for name in shown))
    if of_suite:
        own = select(benchmarks.c.id).where(benchmarks.c.suite == bindparam("suite"))
        asked = asked.where(latest.c.benchmark.in_(own))
    return asked.where(latest.c.category == bindparam("category")) if of_category else asked


def find_suites(reference: str) -> ColumnElement[bool]:
    """All versions of a suite id, or one by its digest."""
    return or_(suites.c.digest == reference, suites.c.suite_id == reference)
