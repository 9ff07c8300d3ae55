"""What runs of one host measured, run by run: from this is learned how far its figures wander between runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Row, Text, cast, func, select

from agentdyno.model import RunStatus
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import RepeatRow
from agentdyno.store.runs.codec import decoder_of, id_bytes, id_text, loads
from agentdyno.store.runs.schema import arms, environments, runs

_REMEMBERED = 1_024


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
            cast(runs.c.vcs, Text),
            arms.c.arm_id,
            arms.c.experiment,
            cast(arms.c.params, Text),
            arms.c.benchmark,
            arms.c.agent,
            arms.c.side,
            arms.c.planned,
            cast(arms.c.metrics, Text),
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
    found = session.execute(wanted).all()
    decode = decoder_of(len(found))
    return [_repeat(row, decode) for row in found]


def _repeat(row: Row[*tuple[Any, ...]], decode: Callable[[str], Any]) -> RepeatRow:
    run_id, at, suite, python, vcs, arm_id, experiment, params, benchmark, agent, side, planned, metrics = row
    medians = {
        name: float(summary["median"])
        for name, summary in _decoded(metrics, decode).items()
        if isinstance(summary.get("median"), (int, float))
    }
    return RepeatRow(
        id_text(run_id),
        at or 0,
        "" if suite is None else str(suite),
        python or "",
        _revision(vcs),
        arm_id,
        experiment,
        _decoded(params, decode),
        benchmark or "",
        agent or "",
        side or "",
        planned,
        medians,
    )


def _decoded(text: str | None, decode: Callable[[str], Any]) -> dict[str, Any]:
    return {} if text is None else decode(text) or {}


@lru_cache(maxsize=_REMEMBERED)
def _revision(vcs: str | None) -> str:
    """Of the text of a JSON column: runs of one commit have the same."""
    told = None if vcs is None else loads(vcs)
    return "" if not told else f"{told['commit']}{'+' * bool(told['dirty'])}"
