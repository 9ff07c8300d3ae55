"""What runs of one host measured, run by run: from this is learned how far its figures wander between runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, func, select

from agentdyno.model import RunStatus
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import RepeatRow
from agentdyno.store.runs.codec import id_bytes, id_text
from agentdyno.store.runs.schema import arms, environments, runs


def hosts_of(session: DatabaseSession, run_ids: Sequence[str]) -> dict[str, str]:
    """The host of each run, "" where it was not recorded; runs that the store does not hold are left out."""
    host = environments.c.document["host_id"].as_string()
    wanted = (
        select(runs.c.run_id, host)
        .select_from(runs)
        .join(environments, environments.c.id == runs.c.environment)
        .where(runs.c.run_id.in_([id_bytes(item) for item in run_ids]))
    )
    return {id_text(run_id): found or "" for run_id, found in session.execute(wanted)}


def finished_runs(session: DatabaseSession) -> tuple[int, int]:
    """How many runs are finished, and when the last one was: this changes when a run ends or is judged anew."""
    row = session.execute(select(func.count(runs.c.finished_at), func.max(runs.c.finished_at))).one()
    return int(row[0]), int(row[1] or 0)


def repeated_arms(session: DatabaseSession, host_id: str, *, limit: int) -> list[RepeatRow]:
    """Arms of runs that were made on this host to their planned end, newest first; none of an unknown host."""
    if not host_id:
        return []
    document = environments.c.document
    wanted = (
        select(
            runs.c.run_id,
            runs.c.finished_at,
            runs.c.suite,
            document["python"].as_string(),
            runs.c.vcs,
            arms.c.arm_id,
            arms.c.experiment,
            arms.c.params,
            arms.c.benchmark,
            arms.c.agent,
            arms.c.side,
            arms.c.planned,
            arms.c.metrics,
        )
        .select_from(arms)
        .join(runs, runs.c.id == arms.c.run)
        .join(environments, environments.c.id == runs.c.environment)
        .where(
            document["host_id"].as_string() == host_id,
            runs.c.status == RunStatus.COMPLETE.value,
            runs.c.stopped_because.is_(None),
        )
        .order_by(runs.c.id.desc(), arms.c.position)
        .limit(limit)
    )
    return [_repeat(row) for row in session.execute(wanted)]


def _repeat(row: Row[*tuple[Any, ...]]) -> RepeatRow:
    run_id, at, suite, python, vcs, arm_id, experiment, params, benchmark, agent, side, planned, metrics = row
    medians = {
        name: float(summary["median"])
        for name, summary in (metrics or {}).items()
        if isinstance(summary.get("median"), (int, float))
    }
    return RepeatRow(
        id_text(run_id),
        at or 0,
        "" if suite is None else str(suite),
        python or "",
        "" if not vcs else f"{vcs['commit']}{'+' * bool(vcs['dirty'])}",
        arm_id,
        experiment,
        params or {},
        benchmark or "",
        agent or "",
        side or "",
        planned,
        medians,
    )
