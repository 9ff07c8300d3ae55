"""Leaderboards, read from the summaries only.

Scores are means over the days of ``agg_day``. How many benchmarks an agent succeeded in, when last, and the standard
errors of its scores come from ``latest``: in a window that ended some time ago these do not know of a benchmark in
which the agent succeeded again since.

``agg_day`` does not tell suites apart. A board of one suite is therefore made of ``latest`` alone: of each benchmark
the last attempt and the last success, where they are within the days.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    cast,
    distinct,
    func,
    literal,
    literal_column,
    null,
    select,
    union,
)

from agentdyno.store.boards.identities import uid_text
from agentdyno.store.boards.matrix import suite_key
from agentdyno.store.boards.schema import (
    ERRORS,
    SCORES,
    SUMMED,
    agents,
    agg_day,
    benchmarks,
    executions,
    latest,
    suites,
)
from agentdyno.store.boards.summaries import CASE_UNITS, DAY_MS, SCALES, figures
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import LeaderboardRow

_SCALES = [SCALES[name] for name in SUMMED]
_COUNTS = ("attempts", "n", "passed", "samples", "scored", "case_sum", "case_squares")
_TOTALS = (*_COUNTS, *(f"sum_{name}" for name in SUMMED), *(f"n_{name}" for name in SUMMED))
_BRIEF = ("n", *(f"{kind}_{name}" for name in SCORES[:-1] for kind in ("sum", "n")))
_SQUARES = tuple(f"sum_{name}" for name in ERRORS)
_KNOWN = tuple(f"with_{name}" for name in SCORES[:-1])
_ENDS = ("benchmarks", "last_success_at", *_SQUARES, *(f"n_{name}" for name in ERRORS), *_KNOWN)


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
) -> list[LeaderboardRow]:
    """What each agent achieved per category of benchmarks over ``days`` days (UTC), that of ``now_ms`` included.

    Nothing later is in it: ``now_ms`` less ``days`` days gives the window before. ``benchmarks``,
    ``last_success_at`` and ``errors`` come from the last success in each benchmark, so that a window which is
    past leaves out benchmarks with a success since.

    With a ``suite`` (a digest, or an id for its newest version) the row is made of the last success in each of
    its benchmarks, and of the last attempt where that came later, as far as they are within the days.
    ``together``: one row per agent, over all its categories, with ``category`` "".
    ``brief`` rows have ``n`` and the mean scores alone, which a trend takes and which are faster to read.
    """
    window = DayWindow.ending(now_ms, days)
    given: dict[str, object] = {"from": window.first * DAY_MS, "until": (window.last + 1) * DAY_MS}
    if category is not None:
        given["category"] = category
    if suite is None:
        given |= {"first_day": window.first, "last_day": window.last}
    else:
        given["suite"] = suite_key(session, suite)
    asked = _leaderboard(category is not None, suite is not None, brief and suite is None, together)
    return [_leaderboard_row(row) for row in session.execute(asked, given).all()]


@cache
def _leaderboard(of_category: bool, of_suite: bool, brief: bool, together: bool) -> Select[*tuple[Any, ...]]:
    """Put together once: that takes as long as running it."""
    sums = _suite_sums() if of_suite else _day_sums(_BRIEF if brief else _TOTALS)
    ends = _ends(of_suite)
    if of_category:
        sums = sums.where((benchmarks if of_suite else agg_day).c.category == bindparam("category"))
        ends = ends.where(latest.c.category == bindparam("category"))
    if together:
        sums = _over_categories(sums, _BRIEF if brief else _TOTALS)
        ends = _over_categories(ends, _ENDS)
    totals, lasts = sums.subquery("totals"), ends.subquery("lasts")
    if brief:
        head = [agents.c[name] for name in ("uid", "name", "version")]
        known = [totals.c[name] if name in _BRIEF else literal_column("0").label(name) for name in _TOTALS]
        unknown = [null().label(name) for name in _ENDS]
        return select(*head, totals.c.category, *unknown, *known).join(agents, agents.c.id == totals.c.agent)
    return (
        select(
            *(agents.c[name] for name in ("uid", "name", "version")),
            totals.c.category,
            *(lasts.c[name] for name in _ENDS),
            *(totals.c[name] for name in _TOTALS),
        )
        .select_from(totals)
        .join(agents, agents.c.id == totals.c.agent)
        .outerjoin(lasts, (lasts.c.agent == totals.c.agent) & (lasts.c.category == totals.c.category))
        .order_by(totals.c.category, agents.c.name, agents.c.id)
    )


def _day_sums(names: Sequence[str]) -> Select[*tuple[Any, ...]]:
    return (
        select(
            agg_day.c.agent,
            agg_day.c.category,
            *(_whole(func.sum(agg_day.c[name]), name) for name in names),
        )
        .where(agg_day.c.day.between(bindparam("first_day"), bindparam("last_day")))
        .group_by(agg_day.c.category, agg_day.c.agent)
    )


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


def _suite_sums() -> Select[*tuple[Any, ...]]:
    """What ``agg_day`` would hold if there were nothing but the last executions in the suite."""
    named = figures()
    own = benchmarks.c.suite == bindparam("suite")
    last = [
        select(key).join(benchmarks, benchmarks.c.id == latest.c.benchmark).where(own, _in_window(at))
        for key, at in ((latest.c.success, latest.c.success_at), (latest.c.attempt, latest.c.attempt_at))
    ]
    return (
        select(executions.c.agent, benchmarks.c.category, *(_whole(named[name], name) for name in _TOTALS))
        .select_from(executions)
        .join(benchmarks, benchmarks.c.id == executions.c.benchmark)
        .where(executions.c.id.in_(union(*last)))
        .group_by(benchmarks.c.category, executions.c.agent)
    )


def _whole(total: ColumnElement[int], name: str) -> Label[int]:
    """PostgreSQL adds whole numbers up to decimal ones."""
    return cast(total, BigInteger).label(name)


def _ends(of_suite: bool) -> Select[*tuple[Any, ...]]:
    asked = (
        select(
            latest.c.agent,
            latest.c.category,
            # A benchmark is one, whatever version of its suite it was run in.
            func.count(distinct(suites.c.suite_id + "/" + benchmarks.c.benchmark_id)).label("benchmarks"),
            func.max(latest.c.success_at).label("last_success_at"),
            *(func.sum(latest.c[name] * latest.c[name]).label(f"sum_{name}") for name in ERRORS),
            *(func.count(latest.c[name]).label(f"n_{name}") for name in ERRORS),
            *(func.count(latest.c[name]).label(f"with_{name}") for name in SCORES[:-1]),
        )
        .select_from(latest)
        .join(benchmarks, benchmarks.c.id == latest.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .where(_in_window(latest.c.success_at))
        .group_by(latest.c.agent, latest.c.category)
    )
    return asked.where(benchmarks.c.suite == bindparam("suite")) if of_suite else asked


def _in_window(time: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(time >= bindparam("from"), time < bindparam("until"))


def _leaderboard_row(row: Sequence[Any]) -> LeaderboardRow:
    """By position, because a board has hundreds of rows of many columns."""
    uid, name, version, category, ended, last_success_at = row[:6]
    squares, counts, scores = row[6:11], row[11:16], row[16:21]
    attempts, n, passed, samples, scored, case_sum, case_squares = row[21:28]
    sums, known = row[28:35], row[35:]
    means = [
        units / (count * scale) if count else None for units, count, scale in zip(sums, known, _SCALES, strict=True)
    ]
    errors = [
        sqrt(square) / count if count and count == number else None
        for square, count, number in zip(squares, counts, scores, strict=True)
    ]
    head = [uid_text(uid), name, version, category, attempts, n, ended or 0, last_success_at]
    cases = [passed, samples, scored, *_pooled(scored, case_sum, case_squares)]
    return LeaderboardRow(*[*head, *means, *cases, known, tuple(errors)])


def _pooled(count: int, units: int, square_units: int) -> tuple[float | None, float | None]:
    """Mean and variance of all cases, from whole numbers: nothing is lost in the difference of large sums."""
    if not count:
        return None, None
    mean = units / (count * CASE_UNITS)
    if count < 2:
        return mean, None
    spread = square_units * CASE_UNITS * count - units * units
    return mean, max(0.0, spread / (count * (count - 1) * CASE_UNITS * CASE_UNITS))
