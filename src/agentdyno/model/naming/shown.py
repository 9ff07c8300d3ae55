"""What the agents of a run are called where people read it; its arms call them ``name@version``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from agentdyno.model.naming.labels import GIVEN, labels

if TYPE_CHECKING:
    from agentdyno.model.result import RunResult
    from agentdyno.model.suite import AgentUse, Suite


def shown_agents(suite: Suite | None) -> dict[str, str]:
    """``label@version`` by what the arms say, for agents that are called otherwise than their name."""
    uses = () if suite is None else suite.agents
    return {f"{use.name}@{use.at_version}": f"{use.label}@{use.at_version}" for use in uses if use.label}


def shown_agent(suite: Suite | None, agent: str) -> str:
    """One agent of a run as ``label@version``."""
    return shown_agents(suite).get(agent, agent)


def shown_result(result: RunResult) -> RunResult:
    """A run as people read it: its arms call agents ``label@version``. Stored is what they said before."""
    known = shown_agents(result.suite)
    if not known:
        return result
    arms = (replace(arm, agent=known.get(arm.agent, arm.agent)) if arm.agent else arm for arm in result.arms)
    return replace(result, arms=tuple(arms))


def with_shown_arms(result: RunResult) -> RunResult:
    """The same, for sentences that name an arm: ``adding · triage.answer``."""
    shown = shown_result(result)
    agents = dict.fromkeys(arm.agent for arm in shown.arms if arm.agent)
    names = Counter(agent.rpartition("@")[0] for agent in agents)
    arms = []
    for arm, now in zip(result.arms, shown.arms, strict=True):
        name = (now.agent or "").rpartition("@")[0]
        whole = now.agent if names[name] > 1 else name
        arms.append(arm if now.agent == arm.agent else replace(now, name=f"{arm.benchmark} · {whole}"))
    return replace(shown, arms=tuple(arms))


def meant_by(suite: Suite | None, agent: str, text: str) -> bool:
    """Whether somebody means this agent of a run: by name or label, each alone or with its version."""
    known = (agent, shown_agent(suite, agent))
    return any(text in (name, name.rpartition("@")[0]) for name in known)


def with_labels(uses: Iterable[AgentUse], known: Mapping[str, str]) -> tuple[AgentUse, ...]:
    """Agents with what they are called; ``known`` are labels by identity."""
    return tuple(replace(use, label=_unlike(known.get(use.identity, ""), use.name)) for use in uses)


def labels_among(uses: Iterable[AgentUse]) -> dict[str, str]:
    """By identity what agents are called where there are no others."""
    return labels(use.identity or GIVEN + use.name for use in uses)


def _unlike(label: str, name: str) -> str:
    return "" if label == name else label
