"""Agents, crews and flows of crewai."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentdyno.agents.frameworks.trail import ToolRun, Trail, arguments_of, question, tokens
from agentdyno.contracts import CaseFailed
from agentdyno.model.sample import FailureKind

ONLY_INPUT = "input"
"""What the input of a case is called for a crew or a flow that names no variable."""


class CrewAgent:
    """One kickoff a turn: an agent gets the conversation, a crew or a flow its inputs by name.

    A text becomes the only variable of a crew's descriptions, else ``input``. When the calls happened is not told.
    """

    def __init__(self, subject: Any) -> None:
        self._subject = subject
        names = {kind.__name__ for kind in type(subject).__mro__}
        self._takes_messages = "BaseAgent" in names
        fetch = getattr(subject, "fetch_inputs", None)
        self._variables = tuple(sorted(fetch())) if callable(fetch) else ()

    def run(self, prompt: object, history: list[dict[str, object]]) -> object:
        trail = Trail()
        if self._takes_messages:
            asked = question(prompt, history)
            messages = [{"role": message.role, "content": message.content} for message in asked.messages]
            done = self._subject.kickoff(messages if asked.before else asked.text)
        else:
            done = self._subject.kickoff(inputs=self._inputs(prompt, history))
        _note(trail, done)
        return _answer(done)

    def _inputs(self, prompt: object, history: list[dict[str, object]]) -> dict[str, object]:
        if isinstance(prompt, dict):
            return prompt
        text = question(prompt, history).flattened
        if len(self._variables) > 1:
            names = ", ".join(self._variables)
            raise CaseFailed(FailureKind.EXCEPTION, f"the crew takes {names}; give a case input with these keys")
        return {self._variables[0] if self._variables else ONLY_INPUT: text}


def _answer(done: Any) -> object:
    if not hasattr(done, "raw"):
        return done  # a flow's own value
    for name in ("pydantic", "json_dict"):
        if getattr(done, name, None) is not None:
            return getattr(done, name)
    return done.raw


def _note(trail: Trail, done: Any) -> None:
    told = getattr(done, "usage_metrics", None) or {}
    told = told if isinstance(told, Mapping) else told.model_dump()
    usage = tokens(
        given=told.get("prompt_tokens"),
        made=told.get("completion_tokens"),
        cached=told.get("cached_prompt_tokens"),
        reasoning=told.get("reasoning_tokens"),
    )
    trail.used(usage, int(told.get("successful_requests") or 0))
    tasks = getattr(done, "tasks_output", None)
    for messages in [task.messages for task in tasks] if tasks else [getattr(done, "messages", ())]:
        _note_tools(trail, messages)


def _note_tools(trail: Trail, messages: Iterable[Mapping[str, Any]]) -> None:
    calls: dict[str, Mapping[str, Any]] = {}
    now_s = trail.now()
    for message in messages:
        for call in message.get("tool_calls") or ():
            calls[str(call.get("id"))] = call.get("function") or {}
        if message.get("role") == "tool":
            function = calls.pop(str(message.get("tool_call_id")), {})
            name = str(function.get("name") or message.get("name") or "")
            given = arguments_of(function.get("arguments"))
            trail.tool(ToolRun(name, given, now_s, None, message.get("content")))
