"""Agents as they read in tables and charts: short where that is enough to tell them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from agentdyno.show.wording import one_line

_HASH = 10
"""Characters shown of a version that is a digest."""


def agent_names(agents: Iterable[str]) -> dict[str, str]:
    """By ``name@version`` the name, with the version where two share a name."""
    known = list(dict.fromkeys(agents))
    short = {agent: agent.rpartition("@")[0] or agent for agent in known}
    names = Counter(short.values())
    return {agent: one_line(name if names[name] == 1 else _with_version(agent)) for agent, name in short.items()}


def shortened(text: str, most: int) -> str:
    """The beginning and the end of a long name: what tells two apart is often at the end."""
    if len(text) <= most:
        return text
    head = most // 2 - 1
    return f"{text[:head]}…{text[len(text) - (most - head - 1) :]}"


def _with_version(agent: str) -> str:
    name, _, version = agent.rpartition("@")
    return f"{name}@{version[:_HASH] if len(version) > _HASH + 2 else version}" if name else agent
