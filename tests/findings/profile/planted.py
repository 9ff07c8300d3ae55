"""Executions with planted spans."""

from __future__ import annotations

from collections.abc import Mapping

from agentdyno.findings.profile.judge import ProfileSubject, make_profile
from agentdyno.findings.profile.model import PerformanceProfile, ProfiledExecution
from agentdyno.model.case import Event


def span(kind: str, at_s: float, duration_s: float, name: str = "", **details: object) -> Event:
    return Event(kind, at_s, name or kind, details.pop("content", None), duration_s, details)


def model_call(at_s: float, duration_s: float, tokens: tuple[int, int] | None = None, **details: object) -> Event:
    if tokens is not None:
        usage = details.setdefault("usage", {})
        assert isinstance(usage, dict)
        usage |= {"input_tokens": tokens[0], "output_tokens": tokens[1]}
    return span("model_call", at_s, duration_s, "gpt-x", **details)


def execution(
    *events: Event, wall_s: float | None = None, readings: Mapping[str, float] | None = None, case_id: str = "one"
) -> ProfiledExecution:
    return ProfiledExecution(case_id, "b", 0, wall_s, tuple(events), readings or {})


def profile_of(*executions: ProfiledExecution) -> PerformanceProfile:
    return make_profile(ProfileSubject("agent@1"), executions, keep_trees=True)


def phases_of(profile: PerformanceProfile) -> dict[str, float]:
    """Milliseconds by phase, those of 0 left out."""
    return {
        phase.phase_name: round(phase.duration_ms, 6)
        for phase in profile.profile_data.execution_phases
        if phase.duration_ms
    }


def critical_of(profile: PerformanceProfile) -> dict[str, float]:
    return {
        phase.phase_name: round(phase.critical_ms, 6)
        for phase in profile.profile_data.execution_phases
        if phase.critical_ms
    }
