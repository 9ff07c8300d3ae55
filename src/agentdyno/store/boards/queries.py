"""Executions as values, newest first."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, select

from agentdyno.store.boards.identities import uid_text
from agentdyno.store.boards.matrix import find_suites
from agentdyno.store.boards.naming import called
from agentdyno.store.boards.schema import ERRORS, NUMBERS, agents, benchmarks, executions, suites, workspaces
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import Execution, ExecutionFilter
from agentdyno.store.runs.codec import id_bytes, id_text
from agentdyno.store.runs.schema import arms, runs

_LAST = len(ERRORS) + 1
"""Columns behind the ids: the errors and the form."""


def list_executions(
    session: DatabaseSession, wanted: ExecutionFilter | None = None, *, limit: int | None = 100
) -> list[Execution]:
    """Executions that match, newest first by the time they were recorded."""
    asked = whole_executions().where(*_conditions(wanted or ExecutionFilter()))
    rows = session.execute(asked if limit is None else asked.limit(limit))
    return [execution_of(row) for row in rows]


@cache
def whole_executions() -> Select[*tuple[Any, ...]]:
    """The columns that ``execution_of`` takes, newest first; put together once."""
    return (
        select(
            agents.c.label,
            agents.c.version,
            suites.c.digest,
            benchmarks.c.benchmark_id,
            executions.c.created_at,
            executions.c.status,
            executions.c.started_at,
            executions.c.finished_at,
            workspaces.c.name,
            *(executions.c[name] for name in NUMBERS),
            executions.c.simulated,
            executions.c.error_details,
            benchmarks.c.category,
            executions.c.uid,
            runs.c.run_id,
            arms.c.arm_id,
            *(executions.c[name] for name in ERRORS),
            executions.c.form,
        )
        .select_from(executions)
        .join(agents, agents.c.id == executions.c.agent)
        .join(benchmarks, benchmarks.c.id == executions.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .join(workspaces, workspaces.c.id == executions.c.workspace)
        .outerjoin(runs, runs.c.id == executions.c.run)
        .outerjoin(arms, arms.c.id == executions.c.arm)
        .order_by(executions.c.created_at.desc(), executions.c.id.desc())
    )


def execution_of(row: Row[*tuple[Any, ...]]) -> Execution:
    """A row of ``whole_executions``, whose columns are the fields of an ``Execution`` in their order."""
    *plain, simulated, error_details, category, uid, run_id, arm_id = row[:-_LAST]
    shown = "" if run_id is None else id_text(run_id)
    last = row[-_LAST:]
    values = [*plain, bool(simulated), error_details, category, uid_text(uid), shown, arm_id or "", *last]
    return Execution(*values)


def _conditions(wanted: ExecutionFilter) -> list[ColumnElement[bool]]:
    equal: list[tuple[ColumnElement[object], object]] = [
        (agents.c.version, wanted.agent_version),
        (benchmarks.c.benchmark_id, wanted.benchmark),
        (benchmarks.c.category, wanted.category),
        (workspaces.c.name, wanted.workspace),
        (executions.c.status, wanted.status),
    ]
    found: list[ColumnElement[bool]] = [column == value for column, value in equal if value is not None]
    if wanted.agent is not None:
        found.append(called(wanted.agent, wanted.agent_version))
    if wanted.suite is not None:
        found.append(find_suites(wanted.suite))
    if wanted.since is not None:
        found.append(executions.c.created_at >= wanted.since)
    if wanted.simulated is not None:
        found.append(executions.c.simulated == int(wanted.simulated))
    if wanted.run_id is not None:
        found.append(runs.c.run_id == id_bytes(wanted.run_id))
    return found
