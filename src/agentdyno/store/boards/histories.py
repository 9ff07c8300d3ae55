"""What agents and arms of experiments did over time, as light rows: read by the thousand, so by position."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Integer, Select, Text, bindparam, cast, func, select

from agentdyno.model import Direction, Provenance
from agentdyno.model.form import WHOLE
from agentdyno.store.boards.identities import uid_text
from agentdyno.store.boards.matrix import find_suites
from agentdyno.store.boards.naming import called
from agentdyno.store.boards.schema import agents, benchmarks, executions, suites
from agentdyno.store.database.columns import Words
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import AgentExecutionRow, ArmMetric, ArmSeriesRow, SeriesRow
from agentdyno.store.runs.codec import decoder_of, loads
from agentdyno.store.runs.schema import arms, environments, runs

_direction, _provenance = cache(Direction), cache(Provenance)
"""A series has thousands of either, and an enumeration takes its time to find a member."""
_FIGURES = SeriesRow._fields[SeriesRow._fields.index("status") : SeriesRow._fields.index("proxied")]
_HISTORY = 1_000
_REMEMBERED = 1_024
_NEWEST = (executions.c.created_at.desc(), executions.c.id.desc())


def series(
    session: DatabaseSession,
    agent: str,
    *,
    suite: str | None = None,
    benchmark: str | None = None,
    since: int | None = None,
    limit: int | None = _HISTORY,
    partial: bool = False,
) -> list[SeriesRow]:
    """The executions of all versions of the agent of that name, whatever their status, oldest first.

    ``suite`` is a digest or an id (all its versions), ``since`` a time. At most the ``limit`` newest rows; a run
    that would be cut in two is left out. Simulated ones are not in it, and what was no whole run of the suite (quick,
    limited, cut short) only with ``partial``.
    """
    asked = AskedExecutions(agent, None, suite, benchmark, since)
    rows = _real(session, asked, limit, partial)
    return [_series_row(row) for row in reversed(rows if limit is None else _whole_runs(rows, limit))]


def _real(session: DatabaseSession, asked: AskedExecutions, limit: int | None, partial: bool) -> list[Sequence[Any]]:
    """Newest first, one more than ``limit`` where there is one, without what is simulated or no whole run.

    The newest keys come from the index alone, which does not know either: of 20,000 executions a
    thousand are read. Where some of those fall away, the next thousand are.
    """
    page = None if limit is None else limit + 1
    rows: list[Sequence[Any]] = []
    offset = 0
    statement = _newest(_points, asked.given, page is not None)
    while True:
        found = session.execute(statement, {**asked.values, "most": page, "offset": offset}).all()
        rows += [row[:-1] for row in found if not row[-1] and (partial or row[-3] in WHOLE)]
        if page is None or len(found) < page or len(rows) >= page:
            return rows[:page]
        offset += page


@cache
def _points() -> Select[*tuple[Any, ...]]:
    """The columns of a ``SeriesRow``, and whether it is simulated; put together once."""
    return (
        select(
            executions.c.created_at,
            agents.c.version,
            suites.c.digest,
            benchmarks.c.benchmark_id,
            benchmarks.c.category,
            runs.c.run_id,
            environments.c.machine_id,
            cast(runs.c.vcs, Text),
            *(executions.c[name] for name in _FIGURES),
            cast(runs.c.form, Text),
            executions.c.simulated,
        )
        .select_from(executions)
        .join(agents, agents.c.id == executions.c.agent)
        .join(benchmarks, benchmarks.c.id == executions.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .outerjoin(runs, runs.c.id == executions.c.run)
        .outerjoin(environments, environments.c.id == executions.c.environment)
    )


def _whole_runs(rows: Sequence[Sequence[Any]], limit: int) -> Sequence[Sequence[Any]]:
    """At most ``limit`` of the newest rows, without the run of which only a part is among them."""
    if len(rows) <= limit:
        return rows
    cut = rows[limit][0], rows[limit][5]
    whole = limit
    while whole and (rows[whole - 1][0], rows[whole - 1][5]) == cut:
        whole -= 1
    return rows[: whole or limit]


def _series_row(row: Sequence[Any]) -> SeriesRow:
    run_id, machine_id, vcs = row[5:8]
    return SeriesRow._make((*row[:5], _id(run_id), machine_id or "", _commit(vcs), *row[8:-1], _proxied(row[-1])))


@lru_cache(maxsize=_REMEMBERED)
def _commit(vcs: str | None) -> str:
    """Of the text of a JSON column. Runs of one commit have the same, and there are thousands of runs."""
    return "" if vcs is None else str((loads(vcs) or {}).get("commit") or "")


@lru_cache(maxsize=_REMEMBERED)
def _proxied(form: str | None) -> bool:
    """As ``_commit``, of the form of a run."""
    return form is not None and bool((loads(form) or {}).get("proxied"))


def agent_executions(
    session: DatabaseSession,
    name: str,
    version: str | None = None,
    suite: str | None = None,
    *,
    limit: int | None = _HISTORY,
) -> list[AgentExecutionRow]:
    """Where the executions of an agent are to be found, newest first, simulated ones and imported ones included.

    ``suite`` is a digest or an id (all its versions); without a ``version``, all of them.
    """
    asked = AskedExecutions(name, version, suite)
    statement = _newest(_places, asked.given, limit is not None)
    rows = session.execute(statement, {**asked.values, "most": limit, "offset": 0})
    return [
        AgentExecutionRow._make((*row[:4], _id(row[4]), row[5] or "", *row[6:8], bool(row[8]), row[9]))
        for row in rows.all()
    ]


@cache
def _places() -> Select[*tuple[Any, ...]]:
    """The columns of an ``AgentExecutionRow``; put together once."""
    return (
        select(
            agents.c.version,
            suites.c.digest,
            suites.c.suite_id,
            benchmarks.c.benchmark_id,
            runs.c.run_id,
            arms.c.arm_id,
            executions.c.created_at,
            executions.c.status,
            executions.c.simulated,
            executions.c.form,
        )
        .select_from(executions)
        .join(agents, agents.c.id == executions.c.agent)
        .join(benchmarks, benchmarks.c.id == executions.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .outerjoin(runs, runs.c.id == executions.c.run)
        .outerjoin(arms, arms.c.id == executions.c.arm)
    )


@dataclass(frozen=True, slots=True)
class AskedExecutions:
    """Of whom executions are asked for, of which suite and benchmark, and from which time on."""

    agent: str
    version: str | None = None
    suite: str | None = None
    benchmark: str | None = None
    since: int | None = None

    @property
    def values(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    @property
    def given(self) -> frozenset[str]:
        return frozenset(self.values)


@cache
def _newest(columns: Callable[[], Select[*tuple[Any, ...]]], given: frozenset[str], limited: bool) -> Select[Any]:
    """These columns of the newest executions, with parameters for what is ``given``: put together once for each kind
    of question, which takes longer than the answer.

    The keys are found first and alone: few columns are sorted, and the rest is read of the rows that are shown.
    """
    keys = select(executions.c.id).where(*own_executions(given)).order_by(*_NEWEST)
    if limited:
        keys = keys.limit(bindparam("most", type_=Integer)).offset(bindparam("offset", type_=Integer))
    return columns().where(executions.c.id.in_(keys)).order_by(*_NEWEST)


def own_executions(given: frozenset[str]) -> list[ColumnElement[bool]]:
    """As lists of keys, so that the index over agent, benchmark and time serves them."""
    asked = {name: bindparam(name, type_=Words()) for name in given - {"since"}}
    named = select(agents.c.id).where(called(asked["agent"], asked.get("version")))
    found: list[ColumnElement[bool]] = [executions.c.agent.in_(named)]
    if given & {"suite", "benchmark"}:
        own = select(benchmarks.c.id).join(suites, suites.c.id == benchmarks.c.suite)
        if "suite" in asked:
            own = own.where(find_suites(asked["suite"]))
        if "benchmark" in asked:
            own = own.where(benchmarks.c.benchmark_id == asked["benchmark"])
        found.append(executions.c.benchmark.in_(own))
    if "since" in given:
        found.append(executions.c.created_at >= bindparam("since", type_=BigInteger))
    return found


def arm_series(
    session: DatabaseSession,
    experiment: str | None = None,
    arm_name: str | None = None,
    *,
    limit: int | None = _HISTORY,
) -> list[ArmSeriesRow]:
    """The arms of runs of experiments that have ended, oldest first, in the order of the plan within a run.

    At most the ``limit`` newest ones.
    """
    ended = func.coalesce(runs.c.finished_at, runs.c.started_at)
    order = (ended.desc(), runs.c.id.desc(), arms.c.position.desc())
    # The keys alone first: sorting is cheap without the figures, which are read of the newest only.
    keys = select(arms.c.id).join(runs, runs.c.id == arms.c.run)
    keys = keys.where(runs.c.kind != "suite", arms.c.metrics.is_not(None))
    if experiment is not None:
        keys = keys.where(arms.c.experiment == experiment)
    if arm_name is not None:
        keys = keys.where(arms.c.name == arm_name)
    asked = (
        select(
            ended,
            runs.c.run_id,
            *(arms.c[column] for column in ("arm_id", "name", "experiment", "side")),
            cast(arms.c.params, Text),
            cast(arms.c.metrics, Text),
            environments.c.machine_id,
            cast(runs.c.vcs, Text),
        )
        .select_from(arms)
        .join(runs, runs.c.id == arms.c.run)
        .join(environments, environments.c.id == runs.c.environment)
        .where(arms.c.id.in_(keys.order_by(*order).limit(limit)))
        .order_by(*order)
    )
    found = session.execute(asked).all()
    decode = decoder_of(len(found))
    return [_arm_row(row, decode) for row in reversed(found)]


def _arm_row(row: Sequence[Any], decode: Callable[[str], Any]) -> ArmSeriesRow:
    at, run_id, arm_id, name, experiment, side, told, metrics, machine_id, vcs = row
    figures = decode(metrics) or {}
    medians = {metric: _arm_metric(plain) for metric, plain in figures.items() if plain["median"] is not None}
    params = {} if told is None else decode(told) or {}
    return ArmSeriesRow(
        at, _id(run_id), arm_id, name, experiment, side or "", params, medians, machine_id, _commit(vcs)
    )


def _arm_metric(plain: Mapping[str, Any]) -> ArmMetric:
    return ArmMetric(
        float(plain["median"]),
        int(plain["n"]),
        plain["unit"],
        _direction(plain["direction"]),
        _provenance(plain["provenance"]),
        *(plain.get("ci") or ()),
    )


def _id(run_id: bytes | None) -> str:
    return "" if run_id is None else uid_text(run_id)
