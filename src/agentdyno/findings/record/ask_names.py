"""What somebody may call an agent, a suite or a run, and which one that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from agentdyno.errors import SpecError, StoreError, nearest
from agentdyno.findings.engine.versions import version_number
from agentdyno.findings.record.ask_labels import agents_called, known_agent
from agentdyno.store import Store
from agentdyno.store.rows import AgentRow, SuiteRow

MOST_NEAR = 3


class UnknownName(SpecError):
    """Nothing here has that name. ``near`` are the known names closest to it, the closest first."""

    def __init__(self, message: str, *, near: Iterable[str] = (), remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.near = tuple(near)

    @classmethod
    def of(cls, kind: str, name: str, known: Iterable[str]) -> UnknownName:
        """No ``kind`` is called ``name``; ``known`` are those that there are."""
        names = sorted(set(known))
        near = get_close_matches(name, names, n=MOST_NEAR, cutoff=0.5)
        return cls(f"there is no {kind} {name!r} here", near=near, remedy=nearest(name, names))


@dataclass(frozen=True, slots=True)
class AgentName:
    """An agent, or one version of it."""

    name: str
    version: str | None = None

    @property
    def label(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"


def agent_named(store: Store, reference: str, registered: Iterable[str] = ()) -> AgentName:
    """An agent by label, ``LABEL@VERSION`` or the UUID of one of its versions; by its identity or the name that its
    runs use, where that is one agent alone.

    ``registered`` are names that are known without having run. Raises ``UnknownName``.
    """
    rows = store.boards.agents()
    known = {row.name for row in rows} | set(registered)
    if reference in known:
        return AgentName(reference)
    for row in rows:
        if row.uid == reference.lower():
            return AgentName(row.name, row.version)
    name, at, version = reference.rpartition("@")
    own = agents_called(rows, reference) or (agents_called(rows, name) if at else [])
    if not own and name not in known:
        raise UnknownName.of("agent", reference, known)
    try:
        return AgentName(*known_agent(rows, reference))
    except StoreError as error:
        others = dict.fromkeys(row.name for row in own)
        near = [f"{name}@{item}" for item in get_close_matches(version, [row.version for row in own], MOST_NEAR, 0.0)]
        near = list(others) if len(others) > 1 else near
        raise UnknownName(error.message, near=near, remedy=error.remedy) from None


def suite_named(store: Store, reference: str, registered: Iterable[str] = ()) -> str:
    """A suite by id or name (its id: all versions); by digest, UUID or ``ID@VERSION`` (a digest: that version).

    Raises ``UnknownName``.
    """
    rows = store.boards.suites()
    for row in rows:
        if reference in (row.digest, row.uid) or reference.lower() == row.uid:
            return row.digest
    for row in rows:
        if reference in (row.suite_id, row.name):
            return row.suite_id
    suite_id, _, version = reference.rpartition("@")
    for row in rows:
        if suite_id and suite_id in (row.suite_id, row.name) and row.version == version:
            return row.digest
    known = {*(row.suite_id for row in rows), *registered}
    if reference in known:
        return reference
    raise UnknownName.of("suite", reference, known)


def run_named(store: Store, reference: str) -> str:
    """The full id of a run: by id, a unique beginning of one, ``last`` or ``last~N``. Raises ``UnknownName``."""
    try:
        return store.runs.find(reference)
    except StoreError as error:
        if is_outage(error):
            raise
        raise UnknownName(error.message, remedy=error.remedy) from None


def is_outage(error: StoreError) -> bool:
    """Whether the database failed, and not the question: the former come from what the driver said."""
    return error.__cause__ is not None


def versions_of(rows: Iterable[AgentRow], name: str) -> list[AgentRow]:
    """The versions of one agent, the one that came last first; of those that came together the highest."""
    own = [row for row in rows if row.name == name]
    return sorted(own, key=lambda row: (row.created_at, version_number(row.version) or ()), reverse=True)


def versions_of_suite(rows: Iterable[SuiteRow], reference: str) -> list[SuiteRow]:
    """The versions that ``suite_named`` stands for, the one that came last first."""
    return [row for row in rows if reference in (row.suite_id, row.digest)]
