"""Which agent of a store somebody means: by its label, by where it comes from, or by the name that its runs use."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.errors import StoreError, nearest
from agentdyno.model.identity import SHORTEST_VERSION
from agentdyno.store.rows import AgentRow

_MOST_LISTED = 8


def agents_called(rows: Sequence[AgentRow], text: str) -> list[AgentRow]:
    """All versions of those that ``text`` may mean; one whose label it is goes before others of that name."""
    for own in ("name", "identity", "called"):
        found = [row for row in rows if getattr(row, own) == text]
        if found:
            return found
    return []


def is_agent(rows: Sequence[AgentRow], text: str) -> bool:
    """Whether ``text`` names agents, or a version of one, that may not be there."""
    name, at, _ = text.rpartition("@")
    return bool(agents_called(rows, text) or (at and agents_called(rows, name)))


def known_agent(rows: Sequence[AgentRow], text: str) -> tuple[str, str | None]:
    """The label of the agent that ``text`` means, and its version where one is named.

    A version may be cut short where that is unique. Raises ``StoreError`` for what nobody is called, and for what
    several are: the labels tell them apart.
    """
    found = agents_called(rows, text)
    if found:
        return _one(found, text), None
    name, at, version = text.rpartition("@")
    own = [row for row in rows if name in (row.name, row.called, row.identity)] if at else []
    if not own:
        raise StoreError(
            f"no agent {text!r} has been benchmarked here",
            remedy=nearest(name or text, list(dict.fromkeys(row.name for row in rows))),
        )
    exact = [row for row in own if row.version == version]
    enough = len(version) >= SHORTEST_VERSION
    fitting = exact or [row for row in own if enough and row.version.startswith(version)]
    versions = list(dict.fromkeys(row.version for row in fitting))
    if len(versions) == 1:
        return _one(agents_called(fitting, name) or fitting, text), versions[0]
    problem = f"{version} begins {len(versions)} versions of {name}" if versions else ""
    listed = ", ".join((versions or list(dict.fromkeys(row.version for row in own)))[:_MOST_LISTED])
    raise StoreError(problem or f"{name} has no version {version!r} here", where=text, remedy=f"Known: {listed}.")


def _one(rows: Sequence[AgentRow], text: str) -> str:
    labels = list(dict.fromkeys(row.name for row in rows))
    if len(labels) == 1:
        return labels[0]
    listed = " or ".join(labels[:_MOST_LISTED])
    raise StoreError(f"{len(labels)} agents are called {text!r} here", where=text, remedy=f"Say {listed}.")
