"""The steps of a workflow as its trajectory tells them: when each ran, what it needed, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentdyno.model.sample import Sample


@dataclass(frozen=True, slots=True)
class ShownStep:
    """``at_s`` counts from the beginning of the case; ``start`` names the start that it belongs to, where a workflow
    was started more than once. A step that did not run has no duration."""

    name: str
    command: str
    state: str
    at_s: float
    duration_s: float | None
    start: str = ""
    needs: tuple[str, ...] = ()
    critical: bool = False
    details: Mapping[str, object] | None = None


def workflow_steps(sample: Sample) -> tuple[ShownStep, ...]:
    """Every step of an execution, in the order of the plan; none for what is no workflow."""
    events = sample.details.get("events")
    found = []
    for event in events if isinstance(events, (list, tuple)) else ():
        details = event.get("details") if isinstance(event, Mapping) else None
        if not isinstance(details, Mapping) or event.get("kind") != "step" or "state" not in details:
            continue
        took, needs = event.get("duration_s"), details.get("needs")
        found.append(
            ShownStep(
                str(event.get("name", "")),
                str(event.get("content", "")),
                str(details["state"]),
                _number(event.get("at_s")),
                None if took is None else _number(took),
                str(details.get("parent", "")).removeprefix("workflow").strip("-"),
                tuple(map(str, needs)) if isinstance(needs, (list, tuple)) else (),
                details.get("critical") is True,
                details,
            )
        )
    return tuple(found)


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
