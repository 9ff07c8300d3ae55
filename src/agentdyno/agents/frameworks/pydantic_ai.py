"""Agents of pydantic-ai."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from importlib import import_module
from typing import Any

from agentdyno.agents.frameworks.handed import NOT_GIVEN, handed
from agentdyno.agents.frameworks.trail import ChatText, FrameworkCall, ToolRun, Trail, arguments_of, question, tokens
from agentdyno.contracts import CaseFailed
from agentdyno.model.case import Usage
from agentdyno.model.sample import FailureKind


class PydanticAgent:
    """One ``run`` a turn, with the messages before it as history.

    The framework leaves its system prompt out as soon as there is a history, because that is expected to begin with
    it. So it is put in front of a conversation that a case brings along.
    """

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._parts: Any = import_module("pydantic_ai.messages")

    async def run(
        self,
        prompt: object,
        history: list[dict[str, object]],
        *,
        stream: bool = False,
        deps: object = NOT_GIVEN,
    ) -> object:
        trail = Trail()
        asked = question(prompt, history)
        options: dict[str, object] = {"deps": await self._deps(deps)}
        kept = trail.recorder.memory
        if isinstance(kept, list) and history:
            options["message_history"] = kept
        elif asked.before:
            options["message_history"] = await self._history(asked.before)
        if stream:
            options["event_stream_handler"] = self._watching(trail)
        done = await self._agent.run(asked.text, **options)
        trail.recorder.memory = done.all_messages()
        self._note(trail, done.new_messages())
        return done.output

    async def _deps(self, given: object) -> object:
        kind = getattr(self._agent, "deps_type", None)
        if given is not NOT_GIVEN:
            return await handed("deps", given, kind)
        if not isinstance(kind, type) or kind in (type(None), object):
            return None
        raise CaseFailed(
            FailureKind.EXCEPTION,
            f"the agent wants dependencies of its deps_type, {kind.__name__}, and has none",
            fatal=True,
            remedy="Give `deps:` in the agent's config: its fields, or file.py@name of a function that makes them.",
        )

    async def _history(self, before: Sequence[ChatText]) -> list[object]:
        parts = self._parts
        opening: list[object] = await self._system_prompts()
        found: list[object] = []
        for message in before:
            if message.role == "assistant":
                if opening:
                    found.append(parts.ModelRequest(parts=opening))
                    opening = []
                found.append(parts.ModelResponse(parts=[parts.TextPart(message.content)]))
                continue
            kind = parts.SystemPromptPart if message.role in ("system", "developer") else parts.UserPromptPart
            opening.append(kind(message.content))
        if opening:
            found.append(parts.ModelRequest(parts=opening))
        return found

    async def _system_prompts(self) -> list[object]:
        """Older versions do not tell them; their attribute has the fixed ones."""
        told = getattr(self._agent, "system_prompt_parts", None)
        if told is not None:
            return list(await told())
        fixed = getattr(self._agent, "_system_prompts", ())
        return [self._parts.SystemPromptPart(text) for text in fixed if isinstance(text, str)]

    def _watching(self, trail: Trail) -> object:
        async def watch(_context: object, events: AsyncIterable[Any]) -> None:
            async for event in events:
                part = getattr(event, "part", None) or getattr(event, "delta", None)
                kind = getattr(part, "part_kind", None) or getattr(part, "part_delta_kind", None)
                if kind == "text" and (getattr(part, "content", "") or getattr(part, "content_delta", "")):
                    trail.delta()

        return watch

    def _note(self, trail: Trail, messages: Sequence[Any]) -> None:
        """Every message has the time at which it was complete."""
        asked_s, answered_s = 0.0, 0.0
        calls: dict[str, Any] = {}
        for message in messages:
            if message.kind == "request":
                for part in message.parts:
                    self._note_result(trail, part, calls, answered_s)
                asked_s = trail.at(message.timestamp.timestamp()) if message.timestamp else answered_s
                continue
            answered_s = trail.at(message.timestamp.timestamp())
            reason = message.finish_reason
            model = message.model_name
            trail.model_call(FrameworkCall(asked_s, answered_s, model, _usage(message.usage), reason))
            calls = {part.tool_call_id: part for part in message.parts if part.part_kind == "tool-call"}
            if calls:
                for part in message.parts:
                    if part.part_kind == "text":
                        trail.said(part.content, answered_s)

    def _note_result(self, trail: Trail, part: Any, calls: dict[str, Any], answered_s: float) -> None:
        if part.part_kind not in ("tool-return", "retry-prompt") or part.tool_call_id not in calls:
            return
        call = calls[part.tool_call_id]
        failed = part.part_kind == "retry-prompt" or getattr(part, "outcome", "success") == "failed"
        shown = part.model_response() if part.part_kind == "retry-prompt" else part.content
        trail.tool(
            ToolRun(
                call.tool_name,
                arguments_of(call.args),
                answered_s,
                trail.at(part.timestamp.timestamp()),
                shown,
                str(shown)[:500] if failed else None,
                span=call.tool_call_id,
            )
        )


def _usage(told: Any) -> Usage | None:
    details = getattr(told, "details", None) or {}
    return tokens(
        given=told.input_tokens,
        made=told.output_tokens,
        cached=getattr(told, "cache_read_tokens", 0),
        reasoning=details.get("reasoning_tokens", 0),
    )
