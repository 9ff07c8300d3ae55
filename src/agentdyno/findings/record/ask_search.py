"""Finding things by a part of their name: agents, suites, runs, cases and tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from agentdyno.store import Store

MOST_OF_KIND = 8
LOOKED_THROUGH = 40
"""Suites whose cases are looked through, the newest."""
FoundKind = Literal["agent", "suite", "run", "case", "tag"]


@dataclass(frozen=True, slots=True)
class FoundThing:
    """``name`` is what was found, ``note`` tells it from others of that name.

    A run has its ``run_id``; a case the ``suite_id`` that it is in and its ``benchmark``; a suite its ``suite_id``.
    """

    kind: FoundKind
    name: str
    note: str = ""
    run_id: str = ""
    suite_id: str = ""
    benchmark: str = ""


def search_store(store: Store, text: str) -> tuple[FoundThing, ...]:
    """At most eight things of each kind whose names hold ``text``, in small or capital letters. Of agents and suites
    those that are called so come first, and then those whose names begin so."""
    wanted = text.strip().lower()
    if not wanted:
        return ()
    kinds = (_agents, _suites, _runs, _cases, _tags)
    return tuple(thing for kind in kinds for thing in islice(kind(store, wanted), MOST_OF_KIND))


def _agents(store: Store, wanted: str) -> Iterator[FoundThing]:
    versions: dict[str, list[str]] = {}
    for row in store.boards.agents():
        versions.setdefault(row.name, []).append(row.version)
    for name, known in sorted(versions.items(), key=lambda item: _distance(item[0], wanted)):
        if wanted in name.lower() or any(wanted in f"{name}@{version}".lower() for version in known):
            yield FoundThing("agent", name, f"{len(known)} version{'s' * (len(known) != 1)}")


def _suites(store: Store, wanted: str) -> Iterator[FoundThing]:
    known = {row.suite_id: row.name for row in store.boards.suites() if not row.part_of}
    for suite_id, name in sorted(known.items(), key=lambda item: min(_distance(text, wanted) for text in item)):
        if wanted in suite_id.lower() or wanted in name.lower():
            yield FoundThing("suite", name or suite_id, suite_id, suite_id=suite_id)


def _distance(name: str, wanted: str) -> int:
    found = name.lower()
    return 0 if found == wanted else 1 if found.startswith(wanted) else 2


def _runs(store: Store, wanted: str) -> Iterator[FoundThing]:
    for row in store.runs.named_like(wanted, limit=MOST_OF_KIND):
        yield FoundThing("run", row.name, f"{row.kind}, {row.status.value}, {row.run_id[:13]}", run_id=row.run_id)


def _cases(store: Store, wanted: str) -> Iterator[FoundThing]:
    newest = {row.suite_id: row.digest for row in store.boards.suites() if not row.part_of}
    for suite_id, digest in islice(reversed(newest.items()), LOOKED_THROUGH):
        for part in store.boards.load_suite(digest).benchmarks:
            for case in part.cases:
                if wanted in case.id.lower() or (isinstance(case.input, str) and wanted in case.input.lower()):
                    note = f"{part.benchmark_id} of {suite_id}"
                    yield FoundThing("case", case.id, note, suite_id=suite_id, benchmark=part.benchmark_id)


def _tags(store: Store, wanted: str) -> Iterator[FoundThing]:
    seen = set[str]()
    for row in store.runs.tagged_like(wanted, limit=100):
        for tag in row.tags:
            if wanted in tag.lower() and tag not in seen:
                seen.add(tag)
                yield FoundThing("tag", tag, f"last on {row.name}", run_id=row.run_id)
