"""Leaderboards, read from the summaries only.

Scores are means over the days of ``agg_day``. How many benchmarks an agent succeeded in, when last, and the standard
errors of its scores come from ``latest``: in a window that ended some time ago these do not know of a benchmark in
which the agent succeeded again since.

Whole runs of a suite and all others (quick, limited, cut short) are kept apart: only who asks for it gets both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import sqrt
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Label,
    Select,
    and_,
    bindparam,
    case,
    cast,
    distinct,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
)

from agentdyno.model.form import WHOLE
from agentdyno.store.boards.identities import uid_text
from agentdyno.store.boards.matrix import in_category, in_suite, suite_key, with_parts
from agentdyno.store.boards.schema import (
    ERRORS,
    SCORES,
    SUMMED,
    agents,
    agg_day,
    benchmarks,
    latest,
    suites,
)
from agentdyno.store.boards.summaries import CASE_UNITS, DAY_MS, SCALES
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import LeaderboardRow

_SCALES = [SCALES[name] for name in SUMMED]
_COUNTS = ("attempts", "n", "not_whole", "passed", "samples", "scored", "case_sum", "case_squares")
_TOTALS = (*_COUNTS, *(f"sum_{name}" for name in SUMMED), *(f"n_{name}" for name in SUMMED))
_BRIEF = ("n", *(f"{kind}_{name}" for name in SCORES[:-1] for kind in ("sum", "n")))
_FORMS = [form.value for form in WHOLE]
_NOT_WHOLE = func.sum(case((agg_day.c.form.in_(_FORMS), 0), else_=agg_day.c.n))
_SQUARES = tuple(f"sum_{name}" for name in ERRORS)
_KNOWN = tuple(f"with_{name}" for name in SCORES[:-1])
_CASES = ("last_scored", "last_cases")
_ENDS = ("benchmarks", "last_success_at", *_SQUARES, *(f"n_{name}" for name in ERRORS), *_KNOWN, *_CASES)


class DayWindow(NamedTuple):
    """Days since 1970 (UTC), the first and the last."""

    first: int
    last: int

    @classmethod
    def ending(cls, now_ms: int, days: int) -> DayWindow:
        """``days`` days, the one of ``now_ms`` the last."""
        last = now_ms // DAY_MS
        return cls(last - days + 1, last)


def leaderboard_rows(
    session: DatabaseSession,
    *,
    days: int,
    now_ms: int,
    category: str | None = None,
    suite: str | None = None,
    brief: bool = False,
    together: bool = False,
    partial: bool = False,
) -> list[LeaderboardRow]:
    """What each agent achieved per category of benchmarks over ``days`` days (UTC), that of ``now_ms`` included.

    Nothing later is in it: ``now_ms`` less ``days`` days gives the window before. ``benchmarks``,
    ``last_success_at``, ``errors`` and ``spreads`` come from the last success in each benchmark, so that a window
    which is past leaves out benchmarks with a success since.

    ``suite`` is a digest, or an id for its newest version; without one, all of them. ``category`` is that of a
    benchmark or of its suite. ``together``: one row per agent, over all its categories, with ``category`` "".
    ``partial``: what was no whole run of the suite (quick, limited, cut short) is in it, too.
    ``brief`` rows have ``n`` and the mean scores alone, which a trend takes and which are faster to read.
    """
    window = DayWindow.ending(now_ms, days)
    given: dict[str, object] = {
        "from": window.first * DAY_MS,
        "until": (window.last + 1) * DAY_MS,
        "first_day": window.first,
        "last_day": window.last,
    }
    if category is not None:
        given["category"] = category
    if suite is not None:
        given["suite"] = suite_key(session, suite)
    asked = BoardQuestion(category is not None, suite is not None, brief, together, partial)
    rows = session.execute(_leaderboard(asked), given).all()
    spreads = {} if brief else _spreads(session, asked, given)
    made = [_leaderboard_row(row, spreads.get((row[0], row[4]), ())) for row in rows]
    if brief or not partial:
        return made
    counts = _last_counts(session, asked, given)
    sized = ((item, counts.get((row[0], row[4]), (0, 0))) for item, row in zip(made, rows, strict=True))
    return [replace(item, last_scored=scored, last_cases=cases) for item, (scored, cases) in sized]


class BoardQuestion(NamedTuple):
    """Which statement: what is put into it is given when it runs."""

    of_category: bool
    of_suite: bool
    brief: bool
    together: bool
    partial: bool


def form_counts(
    session: DatabaseSession, *, days: int, now_ms: int, suite: str | None = None
) -> dict[str, tuple[int, int]]:
    """Successes and attempts by the form of their run, over the same days; parts of the suite are counted, too."""
    window = DayWindow.ending(now_ms, days)
    asked = (
        select(agg_day.c.form, _whole(func.sum(agg_day.c.n), "n"), _whole(func.sum(agg_day.c.attempts), "attempts"))
        .where(agg_day.c.day.between(window.first, window.last))
        .group_by(agg_day.c.form)
    )
    if suite is not None:
        asked = asked.where(agg_day.c.suite.in_(with_parts(literal(suite_key(session, suite), BigInteger))))
    return {row[0]: (row[1], row[2]) for row in session.execute(asked)}


@cache
def _leaderboard(asked: BoardQuestion) -> Select[*tuple[Any, ...]]:
    """Put together once: that takes as long as running it."""
    names = _BRIEF if asked.brief else _TOTALS
    sums = _day_sums(names, asked)
    ends = _ends(asked)
    if asked.together:
        sums = _over_categories(sums, names)
        ends = _over_categories(ends, _ENDS)
    totals, lasts = sums.subquery("totals"), ends.subquery("lasts")
    head = [agents.c.id, *(agents.c[name] for name in ("uid", "name", "version"))]
    if asked.brief:
        known = [totals.c[name] if name in _BRIEF else literal_column("0").label(name) for name in _TOTALS]
        unknown = [null().label(name) for name in _ENDS]
        return select(*head, totals.c.category, *unknown, *known).join(agents, agents.c.id == totals.c.agent)
    return (
        select(
            *head,
            totals.c.category,
            *(lasts.c[name] for name in _ENDS),
            *(totals.c[name] for name in _TOTALS),
        )
        .select_from(totals)
        .join(agents, agents.c.id == totals.c.agent)
        .outerjoin(lasts, (lasts.c.agent == totals.c.agent) & (lasts.c.category == totals.c.category))
        .order_by(totals.c.category, agents.c.name, agents.c.id)
    )


def _day_sums(names: Sequence[str], asked: BoardQuestion) -> Select[*tuple[Any, ...]]:
    found = (
        select(
            agg_day.c.agent,
            agg_day.c.category,
            *(_whole(_NOT_WHOLE if name == "not_whole" else func.sum(agg_day.c[name]), name) for name in names),
        )
        .where(agg_day.c.day.between(bindparam("first_day"), bindparam("last_day")))
        .group_by(agg_day.c.category, agg_day.c.agent)
    )
    if asked.of_suite:
        key = bindparam("suite", type_=BigInteger)
        found = found.where(agg_day.c.suite.in_(with_parts(key)) if asked.partial else agg_day.c.suite == key)
    if asked.of_category:
        of_suite = select(suites.c.id).where(suites.c.category == bindparam("category"))
        found = found.where(or_(agg_day.c.category == bindparam("category"), agg_day.c.suite.in_(of_suite)))
    return found if asked.partial else found.where(agg_day.c.form.in_(_FORMS))


def _over_categories(parts: Select[*tuple[Any, ...]], names: Sequence[str]) -> Select[*tuple[Any, ...]]:
    """One row per agent of what is there per category; summed in two steps, as the table is in that order."""
    inner = parts.subquery()
    return select(
        inner.c.agent, literal("").label("category"), *(_pool(inner.c[name], name) for name in names)
    ).group_by(inner.c.agent)


def _pool(column: ColumnElement[Any], name: str) -> Label[Any]:
    if name == "last_success_at":
        return func.max(column).label(name)
    total = func.sum(column)
    return total.label(name) if name in _SQUARES else _whole(total, name)


def _whole(total: ColumnElement[int], name: str) -> Label[int]:
    """PostgreSQL adds whole numbers up to decimal ones."""
    return cast(total, BigInteger).label(name)


def _ends(asked: BoardQuestion) -> Select[*tuple[Any, ...]]:
    found = (
        select(
            latest.c.agent,
            latest.c.category,
            # A benchmark is one, whatever version of its suite it was run in.
            func.count(distinct(suites.c.suite_id + "/" + benchmarks.c.benchmark_id)).label("benchmarks"),
            func.max(latest.c.success_at).label("last_success_at"),
            *(func.sum(latest.c[name] * latest.c[name]).label(f"sum_{name}") for name in ERRORS),
            *(func.count(latest.c[name]).label(f"n_{name}") for name in ERRORS),
            *(func.count(latest.c[name]).label(f"with_{name}") for name in SCORES[:-1]),
            _whole(func.sum(latest.c.scored), "last_scored"),
            _whole(func.sum(benchmarks.c.cases), "last_cases"),
        )
        .select_from(latest)
        .join(benchmarks, benchmarks.c.id == latest.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .group_by(latest.c.agent, latest.c.category)
    )
    return found.where(*_of_latest(asked))


def _of_latest(asked: BoardQuestion) -> list[ColumnElement[bool]]:
    found = [_in_window(latest.c.success_at)]
    if asked.of_suite:
        found.append(latest.c.benchmark.in_(in_suite(asked.partial)))
    if asked.of_category:
        found.append(in_category(latest.c.category))
    if not asked.partial:
        found.append(latest.c.whole == 1)
    return found


def _spreads(
    session: DatabaseSession, asked: BoardQuestion, given: dict[str, object]
) -> dict[tuple[int, str], tuple[bytes | None, ...]]:
    """By agent and category how the scores of its last successes move together, one after the other."""
    found: dict[tuple[int, str], list[bytes | None]] = {}
    for agent, category, spread in session.execute(_last_spreads(asked), given):
        found.setdefault((agent, "" if asked.together else category), []).append(spread)
    return {key: tuple(spreads) for key, spreads in found.items()}


@cache
def _last_spreads(asked: BoardQuestion) -> Select[*tuple[Any, ...]]:
    wanted = select(latest.c.agent, latest.c.category, latest.c.spread).where(*_of_latest(asked))
    return wanted.order_by(latest.c.agent, latest.c.benchmark)


def _last_counts(
    session: DatabaseSession, asked: BoardQuestion, given: dict[str, object]
) -> dict[tuple[int, str], tuple[int, int]]:
    """By agent and category how many cases were scored and how many there are, in the last success in a benchmark.

    Parts of a suite hold the same cases: of a benchmark only the newest one counts.
    """
    places = (suites.c.suite_id, benchmarks.c.benchmark_id)
    wanted = (
        select(latest.c.agent, latest.c.category, *places, latest.c.scored, benchmarks.c.cases)
        .join(benchmarks, benchmarks.c.id == latest.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .where(*_of_latest(asked))
        .order_by(latest.c.success_at)
    )
    newest = {tuple(row[:4]): (row[4] or 0, row[5]) for row in session.execute(wanted, given)}
    found: dict[tuple[int, str], tuple[int, int]] = {}
    for (agent, category, *_), (scored, cases) in newest.items():
        key = (agent, "" if asked.together else category)
        before = found.get(key, (0, 0))
        found[key] = (before[0] + scored, before[1] + cases)
    return found


def _in_window(time: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(time >= bindparam("from"), time < bindparam("until"))


def _leaderboard_row(row: Sequence[Any], spreads: tuple[bytes | None, ...]) -> LeaderboardRow:
    """By position, because a board has hundreds of rows of many columns."""
    uid, name, version, category, ended, last_success_at = row[1:7]
    squares, counts, scores = row[7:12], row[12:17], row[17:22]
    counted = row[22:24]
    attempts, n, not_whole, passed, samples, scored, case_sum, case_squares = row[24:32]
    sums, known = row[32:39], row[39:]
    means = [
        units / (count * scale) if count else None for units, count, scale in zip(sums, known, _SCALES, strict=True)
    ]
    errors = [
        sqrt(square) / count if count and count == number else None
        for square, count, number in zip(squares, counts, scores, strict=True)
    ]
    head = [uid_text(uid), name, version, category, attempts, n, ended or 0, last_success_at]
    cases = [passed, samples, scored, *_pooled(scored, case_sum, case_squares)]
    last = (counted[0] or 0, counted[1] or 0)
    return LeaderboardRow(*[*head, *means, *cases, known, tuple(errors), spreads, not_whole, *last])


def _pooled(count: int, units: int, square_units: int) -> tuple[float | None, float | None]:
    """Mean and variance of all cases, from whole numbers: nothing is lost in the difference of large sums."""
    if not count:
        return None, None
    mean = units / (count * CASE_UNITS)
    if count < 2:
        return mean, None
    spread = square_units * CASE_UNITS * count - units * units
    return mean, max(0.0, spread / (count * (count - 1) * CASE_UNITS * CASE_UNITS))
