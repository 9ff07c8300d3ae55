"""Sentences about the agents of a run."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.findings.standing.model import AgentStanding

_ROUNDING = 1e-9


def too_small(agent: AgentStanding, least: float) -> str:
    """What is wrong with an agent whose accuracy is below ``least`` (``fail_under``), or not known; "" for others."""
    accuracy = agent.scores["accuracy"].value
    if accuracy is not None and accuracy >= least - _ROUNDING:
        return ""
    found = "not known" if accuracy is None else f"{accuracy:.3f}"
    return f"The accuracy of {agent.agent} is {found}, at least {least:g} is asked for (fail_under)."


def all_too_small(agents: Sequence[AgentStanding], least: float | None) -> list[str]:
    """A sentence for each agent that is not as accurate as is asked for."""
    return [] if least is None else [text for agent in agents if (text := too_small(agent, least))]
