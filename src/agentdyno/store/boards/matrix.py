"""The matrix, read from the summaries only; and the agents and suites that there are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Select,
    Text,
    bindparam,
    case,
    cast,
    func,
    or_,
    select,
)

from agentdyno.findings.board.model_rows import MatrixRow
from agentdyno.model.case import RECORDING_COST
from agentdyno.model.naming import GIVEN
from agentdyno.store.boards.identities import uid_text
from agentdyno.store.boards.schema import SHOWN, agents, benchmarks, configurations, executions, latest, suites
from agentdyno.store.database.columns import Words
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import AgentRow, SuiteRow
from agentdyno.store.runs.schema import runs
from agentdyno.store.runs.suites import newest_suite, suite_key, suite_of

if TYPE_CHECKING:
    from agentdyno.model import Suite


def list_agents(session: DatabaseSession) -> list[AgentRow]:
    """Every agent that has an execution, by name, newest version first."""
    success = func.max(case((latest.c.whole == 1, latest.c.success_at)))
    times = (func.max(latest.c.attempt_at), success)
    columns = [agents.c[name] for name in ("uid", "label", "version", "digest", "uses", "created_at")]
    also = [agents.c.name, agents.c.identity]
    rows = session.execute(
        select(*columns, *times, *also)
        .outerjoin(latest, latest.c.agent == agents.c.id)
        .group_by(agents.c.id, *columns, *also)
        .order_by(agents.c.label, agents.c.created_at.desc(), agents.c.id.desc())
    )
    return [AgentRow(*[uid_text(row[0]), *row[1:-1], row[-1] or GIVEN + row[-2]]) for row in rows]


def list_suites(session: DatabaseSession) -> list[SuiteRow]:
    """Every version of every suite, by id, newest version first; parts of a version come after all whole ones."""
    columns = [suites.c[name] for name in ("uid", "suite_id", "name", "version", "digest", "category", "part_of")]
    rows = session.execute(
        select(
            *columns, func.count(benchmarks.c.id), func.coalesce(func.sum(benchmarks.c.cases), 0), suites.c.created_at
        )
        .outerjoin(benchmarks, benchmarks.c.suite == suites.c.id)
        .group_by(suites.c.id, *columns, suites.c.created_at)
        .order_by(suites.c.suite_id, *newest_suite())
    )
    return [SuiteRow(*[uid_text(row[0]), *row[1:6], row[7], int(row[8]), row[9], row[6] or ""]) for row in rows]


def last_suite(
    session: DatabaseSession, *, category: str | None = None, partial: bool = False, own_first: bool = False
) -> str | None:
    """The digest of the version of a suite that was completed last, else tried last; ``None`` where there is none.

    Of a part of a version (``--limit``) it is that version. ``category`` is that of the suite or of a benchmark; with
    ``own_first`` suites of that category come before those that have a benchmark of it.
    """
    digest = func.coalesce(func.nullif(suites.c.part_of, ""), suites.c.digest)
    own = [case((suites.c.category == category, 0), else_=1)] if own_first and category is not None else []
    asked = (
        select(digest)
        .select_from(latest)
        .join(benchmarks, benchmarks.c.id == latest.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .order_by(*own, func.coalesce(latest.c.success_at, 0).desc(), latest.c.attempt_at.desc(), suites.c.id.desc())
        .limit(1)
    )
    if not partial:
        asked = asked.where(latest.c.whole == 1)
    if category is not None:
        asked = asked.where(or_(latest.c.category == category, suites.c.category == category))
    found = session.execute(asked).scalar()
    return None if found is None else str(found)


def list_categories(session: DatabaseSession) -> set[str]:
    """The categories of suites with results, and of their benchmarks."""
    own = select(latest.c.category).distinct()
    whole = (
        select(suites.c.category)
        .join(benchmarks, benchmarks.c.suite == suites.c.id)
        .join(latest, latest.c.benchmark == benchmarks.c.id)
        .distinct()
    )
    return {str(name) for asked in (own, whole) for name in session.execute(asked).scalars()}


def load_suite(session: DatabaseSession, reference: str) -> Suite:
    """A suite by its digest, or the version of a suite id that came last."""
    document = session.execute(
        select(suites.c.document).where(suites.c.id == suite_key(session, reference))
    ).scalar_one()
    return suite_of(None, document)


def with_parts(of: ColumnElement[int]) -> Select[int]:
    """The keys of a version of a suite and of all parts of it."""
    whole = suites.alias("whole")
    digest = select(whole.c.digest).where(whole.c.id == of).scalar_subquery()
    return select(suites.c.id).where(or_(suites.c.id == of, suites.c.part_of == digest))


def matrix_rows(
    session: DatabaseSession, *, suite: str | None = None, category: str | None = None, partial: bool = False
) -> list[MatrixRow]:
    """What each agent last achieved in each benchmark; ``suite`` is a digest, or an id for its newest version.

    ``category`` is that of the benchmark or of its suite. With ``partial`` also what was no whole run of the suite
    (quick, limited, cut short): such rows may come beside the whole one of the same agent and benchmark.

    One row per agent and benchmark that met, agents by name, benchmarks in the order of their suite. Names are joined
    to the cells here: they are few, and a database would send them once per cell.
    """
    asked = {"suite": None if suite is None else suite_key(session, suite), "category": category}
    given = {name: value for name, value in asked.items() if value is not None}
    who = {row[0]: row for row in session.execute(_AGENTS).all()}
    what = {row[0]: row for row in session.execute(_BENCHMARKS).all()}
    heads = {key: (uid_text(row[1]), row[2], row[3]) for key, row in who.items()}
    tails = {key: (row[1], row[2]) for key, row in what.items()}
    sizes = {key: row[5] for key, row in what.items()}
    by_name = {key: place for place, key in enumerate(sorted(who, key=lambda key: (who[key][2], key)))}
    in_suite = {key: place for place, key in enumerate(sorted(what, key=lambda key: what[key][3:5]))}
    cells = session.execute(_matrix("suite" in given, "category" in given, partial), given).all()
    return [
        MatrixRow._make(
            (*heads[row[0]], *tails[row[1]], *row[2:6], row[6] and uid_text(row[6]), *row[7:], sizes[row[1]])
        )
        for row in sorted(cells, key=lambda row: (by_name[row[0]], in_suite[row[1]]))
    ]


_AGENTS = select(agents.c.id, agents.c.uid, agents.c.label, agents.c.version)
_BENCHMARKS = select(
    benchmarks.c.id,
    suites.c.digest,
    benchmarks.c.benchmark_id,
    suites.c.id,
    benchmarks.c.position,
    benchmarks.c.cases,
).join(suites, suites.c.id == benchmarks.c.suite)


@cache
def _matrix(of_suite: bool, of_category: bool, partial: bool) -> Select[*tuple[Any, ...]]:
    """Put together once: that takes as long as running it."""
    shown = (
        "agent",
        "benchmark",
        "category",
        "attempt_at",
        "attempt_status",
        "success_at",
        "success_uid",
        *SHOWN,
        "whole",
    )
    asked = select(*(latest.c[name] for name in shown))
    if of_suite:
        asked = asked.where(latest.c.benchmark.in_(in_suite(partial)))
    if not partial:
        asked = asked.where(latest.c.whole == 1)
    return asked.where(in_category(latest.c.category)) if of_category else asked


def agents_of_versions(session: DatabaseSession, suite_id: str, *, since: int = 0) -> dict[str, set[str]]:
    """By digest of every whole version of a suite the names of the agents that succeeded in it since that time."""
    asked = (
        select(suites.c.digest, agents.c.label)
        .select_from(latest)
        .join(agents, agents.c.id == latest.c.agent)
        .join(benchmarks, benchmarks.c.id == latest.c.benchmark)
        .join(suites, suites.c.id == benchmarks.c.suite)
        .where(suites.c.suite_id == suite_id, latest.c.whole == 1, latest.c.success_at >= since)
        .distinct()
    )
    found: dict[str, set[str]] = {}
    for digest, name in session.execute(asked):
        found.setdefault(digest, set()).add(name)
    return found


def recorded_agents(session: DatabaseSession, digests: Sequence[str], *, partial: bool = False) -> set[str]:
    """``name@version`` of agents whose last success in a benchmark of these suites was recorded by a proxy."""
    told = cast(configurations.c.document, Text).like(f"%{RECORDING_COST}%")
    if session.execute(select(configurations.c.id).where(told).limit(1)).scalar() is None:
        return set()  # nothing was ever recorded here, and looking at every cell takes a tenth of a board's time
    of_suites = select(suites.c.id).where(or_(suites.c.digest.in_(digests), suites.c.part_of.in_(digests)))
    asked = (
        select(agents.c.label, agents.c.version, configurations.c.document)
        .select_from(latest)
        .join(benchmarks, benchmarks.c.id == latest.c.benchmark)
        .join(executions, executions.c.id == latest.c.success)
        .join(runs, runs.c.id == executions.c.run)
        .join(configurations, configurations.c.id == executions.c.configuration)
        .join(agents, agents.c.id == latest.c.agent)
        .where(benchmarks.c.suite.in_(of_suites), runs.c.form["proxied"].as_boolean())
    )
    if not partial:
        asked = asked.where(latest.c.whole == 1)
    # Of a run that was recorded, the agents that call no model through the proxy were not.
    rows = session.execute(asked)
    return {f"{name}@{version}" for name, version, known in rows if RECORDING_COST in known.get("observed", {})}


def in_suite(partial: bool) -> Select[int]:
    """The benchmarks of the suite that is asked about; with ``partial`` those of its parts, too."""
    key = bindparam("suite", type_=BigInteger)
    own = benchmarks.c.suite.in_(with_parts(key)) if partial else benchmarks.c.suite == key
    return select(benchmarks.c.id).where(own)


def in_category(of: ColumnElement[str]) -> ColumnElement[bool]:
    """For ``latest``: benchmarks of the category that is asked about, and all of a suite of that category."""
    whole = select(benchmarks.c.id).join(suites, suites.c.id == benchmarks.c.suite)
    asked = bindparam("category", type_=Words())
    return or_(of == asked, latest.c.benchmark.in_(whole.where(suites.c.category == asked)))


def find_suites(reference: str | BindParameter[str]) -> ColumnElement[bool]:
    """All versions of a suite id, or one by its digest."""
    return or_(suites.c.digest == reference, suites.c.suite_id == reference)
