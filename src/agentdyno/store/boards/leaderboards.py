"""Leaderboards, read from the summaries only.

Scores are means over the days of ``agg_day``. How many benchmarks an agent succeeded in, when last, and the standard
errors of its scores come from ``latest``: in a window that ended some time ago these do not know of a benchmark in
which the agent succeeded again since.

Whole runs of a suite and all others (quick, limited, cut short) are kept apart: only who asks for it gets both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import sqrt
from operator import add, mul
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
    func,
    literal,
    literal_column,
    or_,
    select,
)

from agentdyno.findings.board.model_rows import LeaderboardRow
from agentdyno.model.form import WHOLE, Form
from agentdyno.store.boards.identities import uid_text
from agentdyno.store.boards.matrix import in_category, in_suite, with_parts
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
from agentdyno.store.runs.suites import suite_key

_SCALES = [SCALES[name] for name in SUMMED]
_COUNTS = ("attempts", "n", "not_whole", "passed", "samples", "scored", "case_sum", "case_squares")
_TOTALS = (*_COUNTS, *(f"sum_{name}" for name in SUMMED), *(f"n_{name}" for name in SUMMED))
_BRIEF = ("n", *(f"{kind}_{name}" for name in SCORES[:-1] for kind in ("sum", "n")))
_FORMS = [form.value for form in WHOLE]
_NOT_WHOLE = func.sum(case((agg_day.c.form.in_(_FORMS), 0), else_=agg_day.c.n))


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
    rows = _added_up(session.execute(_leaderboard(asked), given).all(), together)
    ends = {} if brief else _ends(session, asked, given)
    return [_leaderboard_row(row, ends.get((row[0], row[4]), _NONE)) for row in rows]


class BoardEnd(NamedTuple):
    """What the last success in each benchmark tells of a row: see ``LeaderboardRow``."""

    benchmarks: int
    last_success_at: int | None
    errors: tuple[float | None, ...]
    spreads: tuple[bytes | None, ...]
    last_scored: int
    last_cases: int


_NONE = BoardEnd(0, None, (None,) * len(ERRORS), (), 0, 0)


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
    """Successes and attempts of runs that are not known to be full, by their form, over the same days.

    Parts of the suite are counted, too. Full runs are not: there are many, and their rows would have to be sorted.
    """
    window = DayWindow.ending(now_ms, days)
    asked = (
        select(agg_day.c.form, _whole(func.sum(agg_day.c.n), "n"), _whole(func.sum(agg_day.c.attempts), "attempts"))
        .where(agg_day.c.day.between(window.first, window.last), agg_day.c.form != Form.FULL.value)
        .group_by(agg_day.c.form)
    )
    if suite is not None:
        asked = asked.where(agg_day.c.suite.in_(with_parts(literal(suite_key(session, suite), BigInteger))))
    return {row[0]: (row[1], row[2]) for row in session.execute(asked)}


@cache
def _leaderboard(asked: BoardQuestion) -> Select[*tuple[Any, ...]]:
    """Put together once: that takes as long as running it."""
    names = _BRIEF if asked.brief else _TOTALS
    totals = _day_sums(names, asked).subquery("totals")
    head = [agents.c.id, *(agents.c[name] for name in ("uid", "label", "version"))]
    known = [totals.c[name] if name in names else literal_column("0").label(name) for name in _TOTALS]
    return select(*head, totals.c.category, *known).join(agents, agents.c.id == totals.c.agent)


def _day_sums(names: Sequence[str], asked: BoardQuestion) -> Select[*tuple[Any, ...]]:
    """By suite, category and agent, as the table is in that order: sorted by another one it takes twice the time."""
    totals: dict[str, ColumnElement[int]] = {name: func.sum(agg_day.c[name]) for name in names if name != "not_whole"}
    totals["not_whole"] = _NOT_WHOLE if asked.partial else literal_column("0", BigInteger)
    found = (
        select(agg_day.c.agent, agg_day.c.category, *(_whole(totals[name], name) for name in names))
        .where(agg_day.c.day.between(bindparam("first_day"), bindparam("last_day")))
        .group_by(agg_day.c.suite, agg_day.c.category, agg_day.c.agent)
    )
    if asked.of_suite:
        key = bindparam("suite", type_=BigInteger)
        found = found.where(agg_day.c.suite.in_(with_parts(key)) if asked.partial else agg_day.c.suite == key)
    if asked.of_category:
        of_suite = select(suites.c.id).where(suites.c.category == bindparam("category"))
        found = found.where(or_(agg_day.c.category == bindparam("category"), agg_day.c.suite.in_(of_suite)))
    return found if asked.partial else found.where(agg_day.c.form.in_(_FORMS))


def _added_up(parts: Sequence[Sequence[Any]], together: bool) -> list[Sequence[Any]]:
    """One row per agent and category, or per agent where its categories are taken ``together``; by category and name.

    Added up here: only an agent that ran several suites has something to add.
    """
    found: dict[tuple[int, str], Sequence[Any]] = {}
    for row in parts:
        key = row[0], "" if together else row[4]
        before = found.get(key)
        if before is not None:
            row = (*row[:5], *map(add, before[5:], row[5:]))
        found[key] = (*row[:4], "", *row[5:]) if together else row
    return sorted(found.values(), key=lambda row: (row[4], row[2], row[0]))


def _whole(total: ColumnElement[int], name: str) -> Label[int]:
    """PostgreSQL adds whole numbers up to decimal ones."""
    return cast(total, BigInteger).label(name)


def _ends(
    session: DatabaseSession, asked: BoardQuestion, given: dict[str, object]
) -> dict[tuple[int, str], BoardEnd]:
    """By agent and category, from the last success in each benchmark.

    Put together here: these rows are few, and how the scores move together has to be read anyway.
    """
    found: dict[tuple[int, str], list[Sequence[Any]]] = {}
    for row in session.execute(_last_successes(asked), given).all():
        found.setdefault((row[0], "" if asked.together else row[1]), []).append(row)
    return {key: _end(rows) for key, rows in found.items()}


@cache
def _last_successes(asked: BoardQuestion) -> Select[*tuple[Any, ...]]:
    # A benchmark is one, whatever version of its suite it was run in; within one version its key tells as much.
    one_version = asked.of_suite and not asked.partial
    name = latest.c.benchmark if one_version else suites.c.suite_id + "/" + benchmarks.c.benchmark_id
    shown = [*(latest.c[column] for column in (*ERRORS, *SCORES[:-1], "spread", "scored")), benchmarks.c.cases]
    wanted = select(latest.c.agent, latest.c.category, name, latest.c.success_at, *shown)
    wanted = wanted.join(benchmarks, benchmarks.c.id == latest.c.benchmark)
    if not one_version:
        wanted = wanted.join(suites, suites.c.id == benchmarks.c.suite)
    return wanted.where(*_of_latest(asked)).order_by(latest.c.agent, latest.c.benchmark)


def _end(rows: Sequence[Sequence[Any]]) -> BoardEnd:
    _, _, names, times, *figures, spreads, scored, cases = zip(*rows, strict=True)
    errors, scores = figures[: len(ERRORS)], figures[len(ERRORS) :]
    pooled = tuple(map(_pooled_error, errors, scores))
    # Parts of a suite hold the same cases: of a benchmark only the newest one counts.
    newest = {name: place for _, place, name in sorted(zip(times, range(len(rows)), names, strict=True))}
    sizes = (sum(column[place] or 0 for place in newest.values()) for column in (scored, cases))
    return BoardEnd(len(newest), max(times), pooled, spreads, *sizes)


def _pooled_error(errors: Sequence[float | None], scores: Sequence[float | None]) -> float | None:
    """Of the mean; ``None`` where a score comes without its error."""
    if errors.count(None) == len(errors):
        return None
    known = [error for error in errors if error is not None]
    if len(known) != len(scores) - scores.count(None):
        return None
    return sqrt(sum(map(mul, known, known))) / len(known)


def _of_latest(asked: BoardQuestion) -> list[ColumnElement[bool]]:
    found = [_in_window(latest.c.success_at)]
    if asked.of_suite:
        found.append(latest.c.benchmark.in_(in_suite(asked.partial)))
    if asked.of_category:
        found.append(in_category(latest.c.category))
    if not asked.partial:
        found.append(latest.c.whole == 1)
    return found


def _in_window(time: ColumnElement[int]) -> ColumnElement[bool]:
    return and_(time >= bindparam("from"), time < bindparam("until"))


def _leaderboard_row(row: Sequence[Any], end: BoardEnd) -> LeaderboardRow:
    """By position, because a board has hundreds of rows of many columns."""
    _, uid, name, version, category = row[:5]
    attempts, n, not_whole, passed, samples, scored, case_sum, case_squares = row[5:13]
    sums, known = row[13:20], row[20:]
    means = [
        units / (count * scale) if count else None for units, count, scale in zip(sums, known, _SCALES, strict=True)
    ]
    head = (uid_text(uid), name, version, category, attempts, n, end.benchmarks, end.last_success_at)
    cases = (passed, samples, scored, *_pooled(scored, case_sum, case_squares))
    return LeaderboardRow._make((*head, *means, *cases, known, end.errors, end.spreads, not_whole, *end[4:], ""))


def _pooled(count: int, units: int, square_units: int) -> tuple[float | None, float | None]:
    """Mean and variance of all cases, from whole numbers: nothing is lost in the difference of large sums."""
    if not count:
        return None, None
    mean = units / (count * CASE_UNITS)
    if count < 2:
        return mean, None
    spread = square_units * CASE_UNITS * count - units * units
    return mean, max(0.0, spread / (count * (count - 1) * CASE_UNITS * CASE_UNITS))
