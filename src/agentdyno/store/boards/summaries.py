"""The summaries that boards read, kept in step with ``executions`` by whoever changes those.

``latest`` holds per agent and benchmark the last attempt and the last success, of whole runs and of all others apart.
``agg_day`` adds up a day of one agent, suite, category, workspace and form. Its sums are whole numbers of small units
(``SCALES``): whole numbers add up to the same in any order, so that taking an execution out and putting another in
gives exactly what building anew gives.

A change is made within one transaction: ``lock``, ``remove`` what is to change, change it, ``add`` it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Delete,
    Double,
    Select,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal,
    literal_column,
    not_,
    or_,
    select,
    true,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from agentdyno.model.form import WHOLE
from agentdyno.store.boards.schema import SCORES, SHOWN, SUMMED, agg_day, benchmarks, counters, executions, latest
from agentdyno.store.database.session import DatabaseSession

DAY_MS = 86_400_000
SCORE_UNITS = 10**12
CASE_UNITS = 10**9
SCALES = {**dict.fromkeys(SCORES, SCORE_UNITS), "cost_usd": 10**9}
"""How many units of a sum make 1: a score is added up in millionths of a millionth, money in nano-dollars."""
_MOST_UNITS = 1e15
"""One execution adds no more than this, so that a nonsensical value cannot make a sum pass 63 bits."""
_MOST_SCORE = 1e3
_LEAST = 1e-20
_KEY = ("suite", "category", "agent", "day", "workspace", "form")
_OTHER_TARGETS = ("speed", "efficiency", "cost", "overall")
"""Scores of a stale execution that are left out."""
_GENERATION = "generation"
_SUCCESS = executions.c.status == "success"
_REAL = executions.c.simulated == 0
_IS_WHOLE = or_(*(executions.c.form == form.value for form in WHOLE))  # a list cannot be given many times at once

TABLES = (latest, agg_day)

Place = tuple[int, int, int]
"""A row of ``latest``: the keys of an agent and of a benchmark, and whether it is of whole runs (1) or all others."""


class Whole(FunctionElement[int]):
    """A number cut off after the point; both databases and Python's ``int`` agree on it."""

    type = BigInteger()
    inherit_cache = True
    name = "whole"


@compiles(Whole, "sqlite")
def _whole_sqlite(element: Whole, compiler: SQLCompiler, **options: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **options)} AS INTEGER)"


@compiles(Whole, "postgresql")
def _whole_postgresql(element: Whole, compiler: SQLCompiler, **options: Any) -> str:
    return f"CAST(trunc({compiler.process(element.clauses, **options)}) AS BIGINT)"


def lock(session: DatabaseSession) -> None:
    """Counts a change, and keeps every other one out until this transaction ends."""
    session.execute(session.backend.insert_or_add(counters, ["name"]), {"name": _GENERATION, "value": 1})


def generation(session: DatabaseSession) -> int:
    """A number that changes with every change of an execution: boards made at the same one are the same."""
    return int(session.execute(select(counters.c.value).where(counters.c.name == _GENERATION)).scalar() or 0)


def remove(session: DatabaseSession, which: ColumnElement[bool]) -> set[Place]:
    """Takes executions out of the sums, before they change; the places that ``refresh`` has to look at afterwards."""
    _add_up(session, which, -1)
    session.execute(delete(agg_day).where(agg_day.c.attempts == 0))
    return places_of(session, which)


def add(session: DatabaseSession, which: ColumnElement[bool], places: Iterable[Place] = ()) -> None:
    """Puts executions into the sums and brings ``latest`` up to date for theirs and for further ``places``."""
    add_known(session, which, places_of(session, which) | set(places))


def add_known(session: DatabaseSession, which: ColumnElement[bool], places: Iterable[Place]) -> None:
    """The same where the caller knows their places: of very many executions, finding them takes a while."""
    _add_up(session, which, 1)
    refresh(session, places)


def rebuild(session: DatabaseSession) -> None:
    """All summaries anew, from the executions alone."""
    lock(session)
    session.execute(delete(latest))
    session.execute(delete(agg_day))
    add(session, true())


def places_of(session: DatabaseSession, which: ColumnElement[bool]) -> set[Place]:
    whole = case((_IS_WHOLE, literal_column("1")), else_=literal_column("0"))
    wanted = select(executions.c.agent, executions.c.benchmark, whole).where(which, _REAL).distinct()
    return {(row[0], row[1], row[2]) for row in session.execute(wanted)}


def refresh(session: DatabaseSession, places: Iterable[Place]) -> None:
    """These rows of ``latest``, looked up by the index of ``executions``.

    Only these: an agent with a thousand whole runs and no other has nothing to find among the others, and looking
    for that takes all thousand.
    """
    wanted = sorted(places)
    names = [column.name for column in latest.columns]
    for whole in (1, 0):
        keys = [{"of_agent": place[0], "of_benchmark": place[1]} for place in wanted if place[2] == whole]
        if keys:
            session.execute(_forget(whole), keys)
            session.execute(insert(latest).from_select(names, _last(whole)), keys)


def _forget(whole: int) -> Delete:
    c = latest.c
    own = (c.agent == bindparam("of_agent"), c.benchmark == bindparam("of_benchmark"))
    return delete(latest).where(*own, c.whole == literal_column(str(whole)))


@cache
def _last(whole: int) -> Select[*tuple[Any, ...]]:
    """The row of ``latest`` for an agent and a benchmark; none where they have no execution of that kind."""
    own = and_(
        executions.c.agent == bindparam("of_agent", type_=BigInteger),
        executions.c.benchmark == bindparam("of_benchmark", type_=BigInteger),
        _REAL,
        _IS_WHOLE if whole else not_(_IS_WHOLE),
    )
    newest = (executions.c.created_at.desc(), executions.c.id.desc())
    attempt = select(executions).where(own).order_by(*newest).limit(1).subquery("attempt")
    success = select(executions).where(own, _SUCCESS).order_by(*newest).limit(1).subquery("success")
    return (
        select(
            attempt.c.agent,
            attempt.c.benchmark,
            literal_column(str(whole)),
            benchmarks.c.category,
            attempt.c.id,
            attempt.c.created_at,
            attempt.c.status,
            success.c.id,
            success.c.created_at,
            success.c.uid,
            *(_fresh(success.c, name) for name in SHOWN),
        )
        .select_from(attempt)
        .join(benchmarks, benchmarks.c.id == attempt.c.benchmark)
        .outerjoin(success, true())
    )


def _add_up(session: DatabaseSession, which: ColumnElement[bool], sign: int) -> None:
    session.execute(session.backend.insert_or_add(agg_day, _KEY, _contributions(which)), {"sign": sign})


def _contributions(which: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """What executions add to ``agg_day`` times ``sign``, in the order of its columns."""
    day = executions.c.created_at.op("/")(literal_column(str(DAY_MS)))  # both databases cut whole numbers off
    key = [
        benchmarks.c.suite,
        benchmarks.c.category,
        executions.c.agent,
        day,
        executions.c.workspace,
        executions.c.form,
    ]
    sign = bindparam("sign", type_=BigInteger)
    return (
        select(*key, *(sign * figure for figure in figures().values()))
        .select_from(executions)
        .join(benchmarks, benchmarks.c.id == executions.c.benchmark)
        .where(which, _REAL)
        .group_by(*key)
    )


@cache
def figures() -> dict[str, ColumnElement[int]]:
    """What a group of executions comes to, by the columns of ``agg_day`` outside its key, in their order.

    Only successes have figures; the first two columns count attempts and successes.
    """
    c = executions.c
    # The sum of the cases and of their squares, from mean and variance.
    mean, variance = (_within(c[name], _MOST_SCORE) for name in ("case_mean", "case_variance"))
    case_sum = c.scored * mean
    squares = func.coalesce(variance, 0.0) * (c.scored - 1) + c.scored * mean * mean
    made = [
        func.count(),
        func.count(case((_SUCCESS, 1))),
        *(_sum(_units(_fresh(c, name), SCALES[name])) for name in SUMMED),
        *(func.count(case((_SUCCESS, _fresh(c, name)))) for name in SUMMED),
        *(_sum(c[name]) for name in ("passed", "samples", "scored")),
        _sum(_units(case_sum, CASE_UNITS)),
        _sum(_units(squares, CASE_UNITS)),
    ]
    names = [column.name for column in agg_day.columns if column.name not in _KEY]
    return dict(zip(names, made, strict=True))


def _fresh(columns: ReadOnlyColumnCollection[str, Any], name: str) -> ColumnElement[Any]:
    """A figure, without those that were made with other targets than the ones in force."""
    return case((columns.stale == 0, columns[name])) if name in _OTHER_TARGETS else columns[name]


def _sum(units: ColumnElement[int]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((_SUCCESS, units))), 0)


def _units(value: ColumnElement[Any], scale: int) -> ColumnElement[int]:
    return Whole(_within(value, _MOST_UNITS / scale) * _number(scale) + _number(0.5))


def _within(value: ColumnElement[Any], most: float) -> ColumnElement[float]:
    """PostgreSQL refuses a product that is too large or too small to be told from 0."""
    low, high = _number(-most), _number(most)
    nothing = value.between(_number(-_LEAST), _number(_LEAST))
    return case((nothing, _number(0)), (value > high, high), (value < low, low), else_=value)


def _number(value: float) -> ColumnElement[float]:
    """In the statement itself: it stays the same, and so does the plan that a server keeps for it."""
    return literal(float(value), Double, literal_execute=True)
