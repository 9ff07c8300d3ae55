"""Which agents were benchmarked lately, and which were not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from agentdyno.errors import SpecError
from agentdyno.findings.board.model import Coverage, StaleAgent

DAY_MS = 86_400_000


class Benched(Protocol):
    """A version of an agent and when it was last on the bench; UTC milliseconds, ``None`` for never."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def created_at(self) -> int: ...
    @property
    def last_success_at(self) -> int | None: ...
    @property
    def last_attempt_at(self) -> int | None: ...


_Agent = TypeVar("_Agent", bound=Benched)


def coverage(agents: Iterable[Benched], *, days: int, now_ms: int, all_versions: bool = False) -> Coverage:
    """The agents with a success in the ``days`` days up to ``now_ms`` (UTC milliseconds), and those without.

    Of each name only the version that came last counts, unless ``all_versions``. Stale agents come in the order of
    their last success, those that never had one first. Raises ``SpecError`` for fewer than 1 day.
    """
    if days < 1:
        raise SpecError(f"{days} days are no time to look back on", remedy="Ask for 1 day or more.")
    counted = list(agents) if all_versions else newest(agents)
    stale = []
    for agent in counted:
        last = agent.last_success_at
        age = None if last is None else max(0, now_ms - last) / DAY_MS
        if age is None or age > days:
            label = f"{agent.name}@{agent.version}"
            stale.append(StaleAgent(label, agent.name, agent.version, last, agent.last_attempt_at, age))
    stale.sort(key=lambda item: (-1 if item.last_success_at is None else item.last_success_at, item.agent))
    return Coverage(days, len(counted), len(counted) - len(stale), tuple(stale))


def newest(agents: Iterable[_Agent]) -> list[_Agent]:
    """The version of each name that was created last; of equals the one that was tried last."""
    found: dict[str, _Agent] = {}
    for agent in agents:
        other = found.get(agent.name)
        if other is None or _age(agent) > _age(other):
            found[agent.name] = agent
    return list(found.values())


def _age(agent: Benched) -> tuple[int, int, str]:
    return agent.created_at, -1 if agent.last_attempt_at is None else agent.last_attempt_at, agent.version
