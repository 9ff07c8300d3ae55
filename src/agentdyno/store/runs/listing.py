"""Lists of runs: what each was about and what came of it, from the figures of its arms and without its samples."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Text, case, cast, exists, func, or_, select

from agentdyno.model import RunStatus, Status
from agentdyno.store.boards.schema import agents, executions, suites
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import RunRow, RunSubject
from agentdyno.store.runs.codec import id_text
from agentdyno.store.runs.queries import NEWEST_FIRST
from agentdyno.store.runs.schema import IS_SAMPLE, arms, runs, samples

_UNANSWERED = (Status.ERROR.value, Status.TIMEOUT.value, Status.LIMIT.value)
_FIRST_METRICS = ("duration_s", "latency_p50_s")
"""What is told of an arm where it has one of these; else its first metric."""
_OF_ARMS = ("run", "name", "experiment", "params", "benchmark", "agent", "side", "metrics", "scores")
_LONGEST_PARAMS = 120


def newest_runs(session: DatabaseSession, limit: int = 20) -> list[RunRow]:
    """At most ``limit`` runs, newest first."""
    return list_runs(session, limit)


def newest_status(session: DatabaseSession) -> tuple[str, RunStatus] | None:
    """The id and the status of the newest run, and nothing else of it: pages ask for this every other second."""
    row = session.execute(select(runs.c.run_id, runs.c.status).order_by(*NEWEST_FIRST).limit(1)).one_or_none()
    return None if row is None else (id_text(row.run_id), RunStatus(row.status))


def list_runs(session: DatabaseSession, limit: int, only: Sequence[ColumnElement[bool]] = ()) -> list[RunRow]:
    """The newest runs first."""
    wanted = select(runs, suites.c.suite_id).outerjoin(suites, runs.c.suite == suites.c.id).where(*only)
    rows = session.execute(wanted.order_by(*NEWEST_FIRST).limit(limit)).all()
    keys = [row.id for row in rows]
    unanswered = func.sum(case((samples.c.status.in_(_UNANSWERED), 1), else_=0))
    counted = (
        select(arms.c.run, func.count(arms.c.id.distinct()), func.count(samples.c.id), unanswered)
        .select_from(arms.outerjoin(samples, (samples.c.arm == arms.c.id) & IS_SAMPLE))
        .where(arms.c.run.in_(keys))
        .group_by(arms.c.run)
    )
    counts = {row[0]: (row[1], row[2], row[3]) for row in session.execute(counted)}
    told = select(executions.c.run, func.min(executions.c.form)).where(executions.c.run.in_(keys))
    forms = {row[0]: row[1] for row in session.execute(told.group_by(executions.c.run))}
    subjects = _subjects(session, keys)
    return [
        RunRow(
            id_text(row.run_id),
            row.kind,
            row.name,
            RunStatus(row.status),
            row.started_at,
            row.finished_at,
            *counts.get(row.id, (0, 0, 0)),
            tuple(row.tags or ()),
            forms.get(row.id, ""),
            subjects.get(row.id, ()),
            row.suite_id or "",
            (row.vcs or {}).get("commit") or "",
            row.paused_ms,
        )
        for row in rows
    ]


def mentions(text: str) -> ColumnElement[bool]:
    """Runs that have ``text`` in their name, an agent, an experiment, the suite, a tag or the commit."""
    # What stands in JSON is written with escapes, as the text that is looked for has to be.
    written = json.dumps(text)[1:-1]
    of_arms = or_(*(column.icontains(text, autoescape=True) for column in (arms.c.agent, arms.c.name)))
    of_suite = or_(*(column.icontains(text, autoescape=True) for column in (suites.c.suite_id, suites.c.name)))
    return or_(
        runs.c.name.icontains(text, autoescape=True),
        cast(runs.c.tags, Text).icontains(written, autoescape=True),
        runs.c.vcs["commit"].as_string().icontains(text, autoescape=True),
        exists().where(arms.c.run == runs.c.id, of_arms),
        runs.c.suite.in_(select(suites.c.id).where(of_suite).correlate(None)),
    )


def _subjects(session: DatabaseSession, keys: Sequence[int]) -> dict[int, tuple[RunSubject, ...]]:
    columns = (*(arms.c[name] for name in _OF_ARMS), arms.c.case_figures, arms.c.totals)
    named = (executions.c.arm == arms.c.id) & (agents.c.id == executions.c.agent)
    label = select(agents.c.label + "@" + agents.c.version).where(named).scalar_subquery().label("shown")
    wanted = select(*columns, label).where(arms.c.run.in_(keys)).order_by(arms.c.run, arms.c.position)
    found: dict[int, dict[object, list[Any]]] = defaultdict(dict)  # rows of ``arms``
    for row in session.execute(wanted):
        # An agent has an arm in each benchmark; everything else is one arm.
        key = (row.agent, row.side) if row.benchmark else len(found[row.run])
        found[row.run].setdefault(key, []).append(row)
    return {run: tuple(_subject(rows) for rows in of.values()) for run, of in found.items()}


def _subject(rows: Sequence[Row[*tuple[Any, ...]]]) -> RunSubject:
    first = rows[0]
    metric, summary = _first_metric(first.metrics or {})
    if first.benchmark:
        figures = [row.case_figures or {} for row in rows]
        tried = sum(own.get("samples") or 0 for own in figures)
        return RunSubject(
            first.shown or first.agent or first.name,
            side=first.side or "",
            score=_mean((row.scores or {}).get("overall") for row in rows),
            pass_rate=sum(own.get("passed") or 0 for own in figures) / tried if tried else None,
            metric=metric,
            unit=str(summary.get("unit", "")),
            median=_mean(_first_metric(row.metrics or {})[1].get("median") for row in rows),
            cost_usd=_sum((row.totals or {}).get("cost_usd") for row in rows),
        )
    # A command is named by itself, which is one of its parameters.
    by_params = first.agent is None and first.name not in (first.params or {}).values()
    return RunSubject(
        first.experiment if by_params else first.name,
        # Of a load it is the target that tells scenarios of one name apart.
        _params_text(first.params or {}) if by_params else first.agent or "",
        first.side or "",
        metric=metric,
        unit=str(summary.get("unit", "")),
        median=summary.get("median"),
    )


def _first_metric(metrics: Mapping[str, Mapping[str, Any]]) -> tuple[str, Mapping[str, Any]]:
    name = next((name for name in (*_FIRST_METRICS, *metrics) if name in metrics), "")
    return name, metrics.get(name, {})


def _params_text(params: Mapping[str, object]) -> str:
    text = " ".join(f"{name}={value}" for name, value in params.items())
    return text if len(text) <= _LONGEST_PARAMS else f"{text[: _LONGEST_PARAMS - 1]}…"


def _mean(values: Iterable[float | None]) -> float | None:
    known = list(values)
    total = _sum(known)
    return None if total is None else total / len(known)


def _sum(values: Iterable[float | None]) -> float | None:
    """``None`` where one of them is not known."""
    known = list(values)
    return sum(value for value in known if value is not None) if known and None not in known else None
