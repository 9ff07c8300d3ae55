"""Suites at rest: the cases once per version, the rest with each run.

Runs of one version differ in what its digest leaves out (agents, epochs, concurrency, folders): each run keeps its
suite without the cases, and the cases are put back when it is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, bindparam, case, select, update

from agentdyno.errors import StoreError, nearest
from agentdyno.model import Case
from agentdyno.model.codec import to_plain
from agentdyno.store.boards.identities import derived_uid
from agentdyno.store.boards.schema import benchmarks, suites, workspaces
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.codec import decoded, plain_or_null

if TYPE_CHECKING:
    from agentdyno.model import Suite
    from agentdyno.model.suite import RunForm

Plain = dict[str, Any]


def part_of(form: RunForm | None) -> str | None:
    """The version of the suite that a run took a part of, "" where it is not known; ``None`` for a whole one."""
    return None if form is None or form.whole else form.suite


def keep_suite(session: DatabaseSession, suite: Suite, now_ms: int, part: str | None = None) -> int:
    """The row of this version of the suite, with its benchmarks; their baselines are as declared last.

    ``part`` is the version that it is a part of. What was once a part and is now the whole counts as whole.
    """
    digest = suite.digest
    found = session.execute(select(suites.c.id).where(suites.c.digest == digest)).scalar()
    if found is None:
        row = {
            "uid": derived_uid("suite", suite.suite_id, digest),
            "suite_id": suite.suite_id,
            "name": suite.name,
            "version": suite.version,
            "digest": digest,
            "category": suite.category.value,
            "document": plain_or_null(suite, f"the suite {suite.name}"),
            "created_at": now_ms,
            "part_of": part,
        }
        session.execute(session.backend.insert_unless_present(suites, ["digest"]), row)
        found = session.execute(select(suites.c.id).where(suites.c.digest == digest)).scalar_one()
    elif part is None:
        session.execute(update(suites).where(suites.c.id == found, suites.c.part_of.is_not(None)), {"part_of": None})
    rows = _benchmark_rows(int(found), suite, digest)
    if rows:
        session.execute(session.backend.insert_unless_present(benchmarks, ["suite", "benchmark_id"]), rows)
        _declare_baseline(session, int(found), rows)
    return int(found)


def _benchmark_rows(key: int, suite: Suite, digest: str) -> list[Plain]:
    declared = next((item for item in suite.baseline_scores if "accuracy" in item.scores), None)
    named = declared or next(iter(suite.baseline_scores), None)
    return [
        {
            "uid": derived_uid("benchmark", digest, item.benchmark_id),
            "suite": key,
            "position": position,
            "benchmark_id": item.benchmark_id,
            "name": item.name,
            "category": item.category.value,
            "test_type": item.test_type.value,
            "complexity": item.complexity.value,
            "cases": len(item.cases),
            "baseline_agent": None if named is None else named.agent_id,
            "baseline_accuracy": None if declared is None else declared.scores["accuracy"],
        }
        for position, item in enumerate(suite.benchmarks)
    ]


def _declare_baseline(session: DatabaseSession, key: int, rows: Sequence[Plain]) -> None:
    """Baselines are no part of a version: a run may declare others than the run before."""
    columns = (benchmarks.c.benchmark_id, benchmarks.c.baseline_agent, benchmarks.c.baseline_accuracy)
    before = {row[0]: (row[1], row[2]) for row in session.execute(select(*columns).where(benchmarks.c.suite == key))}
    changed = [
        {"of": row["benchmark_id"], "agent": row["baseline_agent"], "accuracy": row["baseline_accuracy"]}
        for row in rows
        if before[row["benchmark_id"]] != (row["baseline_agent"], row["baseline_accuracy"])
    ]
    if changed:
        session.execute(
            update(benchmarks)
            .where(benchmarks.c.suite == key, benchmarks.c.benchmark_id == bindparam("of"))
            .values(baseline_agent=bindparam("agent"), baseline_accuracy=bindparam("accuracy")),
            changed,
        )


def settings_of(suite: Suite) -> Plain:
    """The suite without its cases."""
    bare = [replace(item, cases=()) for item in suite.benchmarks]
    plain: Plain = to_plain(replace(suite, benchmarks=tuple(bare)))
    return plain


def suite_of(settings: Mapping[str, Any] | None, document: Mapping[str, Any]) -> Suite:
    """A run's suite, or the suite as it was first stored where a run has no say."""
    from agentdyno.model import Suite  # lists and boards read of no suite what is in it

    bare = dict(settings or document)
    bare["benchmarks"] = [{**item, "cases": []} for item in bare["benchmarks"]]
    suite = decoded(Suite, bare, "a suite")
    asked = [tuple(_case(plain) for plain in item["cases"]) for item in document["benchmarks"]]
    filled = (replace(item, cases=cases) for item, cases in zip(suite.benchmarks, asked, strict=True))
    return replace(suite, benchmarks=tuple(filled))


def _case(plain: Mapping[str, Any]) -> Case:
    """By hand: a run's header is read more often than anything, and may come with thousands of cases."""
    return Case(
        plain["id"],
        plain["input"],
        plain.get("target"),
        plain.get("metadata") or {},
        plain.get("group"),
        tuple(plain.get("turns") or ()),
    )


def suite_key(session: DatabaseSession, reference: str) -> int:
    """The row of a suite by digest, else the newest whole version with that id."""
    newest = newest_suite()
    for column in (suites.c.digest, suites.c.suite_id):
        found = session.execute(select(suites.c.id).where(column == reference).order_by(*newest).limit(1)).scalar()
        if found is not None:
            return int(found)
    known = session.execute(select(suites.c.suite_id).distinct()).scalars().all()
    raise StoreError(
        f"there is no suite {reference!r}", where=session.backend.where, remedy=nearest(reference, known)
    )


def newest_suite() -> tuple[ColumnElement[object], ...]:
    """Whole versions first, however new a part of one is."""
    return (case((suites.c.part_of.is_(None), 0), else_=1), suites.c.created_at.desc(), suites.c.id.desc())


def keep_workspace(session: DatabaseSession, name: str) -> int:
    """The row of a workspace."""
    row = {"uid": derived_uid("workspace", name), "name": name}
    session.execute(session.backend.insert_unless_present(workspaces, ["name"]), row)
    return int(session.execute(select(workspaces.c.id).where(workspaces.c.name == name)).scalar_one())
