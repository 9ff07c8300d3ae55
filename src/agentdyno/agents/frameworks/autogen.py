"""Agents and teams of autogen."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from agentdyno.agents.frameworks.trail import ChatText, FrameworkCall, ToolRun, Trail, arguments_of, question, tokens


class AutogenAgent:
    """One ``run`` a turn, after a reset at the start of each case: these agents remember what they were told."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._is_team = hasattr(agent, "reset")
        self._messages: Any = import_module("autogen_agentchat.messages")
        self._core: Any = import_module("autogen_core")
        self._models: Any = import_module("autogen_core.models")

    async def run(self, prompt: object, history: list[dict[str, object]], *, stream: bool = False) -> object:
        trail = Trail()
        goes_on = bool(history) and trail.recorder.memory is self
        asked = question(prompt, () if goes_on else history)
        if not goes_on:
            await self._forget()
        trail.recorder.memory = self
        task = [self._text(message) for message in (() if goes_on else await self._remember(asked.before))]
        task.append(self._messages.TextMessage(content=asked.text, source="user"))
        if not stream:
            done = await self._agent.run(task=task)
        else:
            async for item in self._agent.run_stream(task=task):
                if item.__class__.__name__ == "ModelClientStreamingChunkEvent":
                    trail.delta()
                done = item
        self._note(trail, done.messages[len(task) :])
        return done.messages[-1].content if done.messages else None

    async def _forget(self) -> None:
        if self._is_team:
            await self._agent.reset()
        else:
            await self._agent.on_reset(self._core.CancellationToken())

    async def _remember(self, before: Sequence[ChatText]) -> Sequence[ChatText]:
        """Puts a conversation into an agent's memory, each side in its role; what it has no memory for is left.

        As a task, what the assistant said would reach the model as something that the user said.
        """
        context = getattr(self._agent, "model_context", None)
        if context is None:
            return before
        for message in before:
            if message.role == "assistant":
                kept = self._models.AssistantMessage(content=message.content, source=self._agent.name)
            elif message.role == "system":
                kept = self._models.SystemMessage(content=message.content)
            else:
                kept = self._models.UserMessage(content=message.content, source="user")
            await context.add_message(kept)
        return ()

    def _text(self, message: ChatText) -> Any:
        return self._messages.TextMessage(content=message.content, source=message.role)

    def _note(self, trail: Trail, messages: Sequence[Any]) -> None:
        """Every message has the time at which it was made; a model's carries the tokens that it took."""
        last_s = 0.0
        calls: dict[str, Any] = {}
        for message in messages:
            at_s = trail.at(message.created_at.timestamp())
            kind, used = message.type, message.models_usage
            if used is not None:
                usage = tokens(given=used.prompt_tokens, made=used.completion_tokens)
                trail.model_call(FrameworkCall(last_s, at_s, usage=usage))
            if kind == "ToolCallRequestEvent":
                calls = {call.id: call for call in message.content}
            elif kind == "ToolCallExecutionEvent":
                for result in message.content:
                    call = calls.get(result.call_id)
                    given = None if call is None else arguments_of(call.arguments)
                    error = str(result.content)[:500] if result.is_error else None
                    span = result.call_id
                    trail.tool(ToolRun(result.name, given, last_s, at_s, result.content, error, span=span))
            elif message is not messages[-1] and isinstance(message.content, str):
                trail.said(message.content, at_s)
            last_s = at_s
