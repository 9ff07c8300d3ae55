"""Agents of smolagents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentdyno.agents.frameworks.trail import ToolRun, Trail, question, tokens


class SmolAgent:
    """One ``run`` a turn; later turns of a case go on with the agent's own memory.

    The framework knows no conversation from elsewhere, so one that a case brings along becomes part of the task. A
    step is timed as a whole: what the model took of it and what its tools took is not told.
    """

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    def run(self, prompt: object, history: list[dict[str, object]], *, max_steps: int | None = None) -> object:
        trail = Trail()
        goes_on = bool(history) and trail.recorder.memory is self
        asked = question(prompt, () if goes_on else history)
        done_before = len(self._agent.memory.steps) if goes_on else 0
        try:
            return self._agent.run(asked.flattened, reset=not goes_on, max_steps=max_steps)
        finally:
            trail.recorder.memory = self
            _note(trail, self._agent.memory.steps[done_before:])


def _note(trail: Trail, steps: Sequence[Any]) -> None:
    for step in steps:
        timing = getattr(step, "timing", None)
        if timing is None:  # the task itself
            continue
        began_s, ended_s = trail.at(timing.start_time), trail.at(timing.end_time or timing.start_time)
        number = getattr(step, "step_number", None)
        span = f"step-{number}" if number is not None else "plan"
        error = getattr(step, "error", None)
        details = {"span": span} | ({"error": str(error)[:500]} if error else {})
        trail.recorder.event(
            "step", span.replace("-", " "), duration_s=ended_s - began_s, details=details, ended_s=ended_s
        )
        told = getattr(step, "token_usage", None)
        usage = tokens(given=getattr(told, "input_tokens", 0), made=getattr(told, "output_tokens", 0))
        asked = getattr(step, "model_output_message", None) is not None or number is None
        trail.used(usage, int(asked))
        calls = getattr(step, "tool_calls", None) or ()
        for call in calls:
            result = step.observations if len(calls) == 1 else None
            trail.tool(ToolRun(call.name, call.arguments, ended_s, None, result, parent=span))
