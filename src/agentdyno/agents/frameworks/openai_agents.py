"""Agents of openai-agents."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from agentdyno.agents.frameworks.handed import handed
from agentdyno.agents.frameworks.trail import FrameworkCall, ToolRun, Trail, arguments_of, question, tokens
from agentdyno.model.case import Usage

MAX_TURNS = 10
"""The framework's own default."""


class OpenAIAgent:
    """One run of ``Runner`` a turn, with the conversation before it as input items."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._runner: Any = import_module("agents").Runner
        self._hooks = _hooks_class()

    async def run(
        self,
        prompt: object,
        history: list[dict[str, object]],
        *,
        stream: bool = False,
        max_turns: int = MAX_TURNS,
        context: object = None,
    ) -> object:
        trail = Trail()
        asked = question(prompt, history)
        kept = trail.recorder.memory
        items: object = asked.text
        if isinstance(kept, list) and history:
            items = [*kept, {"role": "user", "content": asked.text}]
        elif asked.before:
            items = [{"role": message.role, "content": message.content} for message in asked.messages]
        how = {"max_turns": max_turns, "hooks": self._hooks(trail), "context": await handed("context", context)}
        if not stream:
            done = await self._runner.run(self._agent, items, **how)
            trail.recorder.memory = done.to_input_list()
            return done.final_output
        running = self._runner.run_streamed(self._agent, items, **how)
        async for event in running.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                trail.delta()
        trail.recorder.memory = running.to_input_list()
        return running.final_output


def _usage(told: Any) -> Usage | None:
    given, made = getattr(told, "input_tokens_details", None), getattr(told, "output_tokens_details", None)
    return tokens(
        given=getattr(told, "input_tokens", 0),
        made=getattr(told, "output_tokens", 0),
        cached=getattr(given, "cached_tokens", 0),
        reasoning=getattr(made, "reasoning_tokens", 0),
    )


def _model_in(response: Any, agent: Any) -> str | None:
    """What the other side says it is is not handed on; the model that was asked for stands in the parts."""
    for part in response.output:
        told = getattr(part, "provider_data", None) or {}
        if isinstance(told.get("model"), str):
            return str(told["model"])
    return agent.model if isinstance(agent.model, str) else None


def _said(part: Any) -> str:
    return "".join(getattr(item, "text", "") or "" for item in part.content or ())


@cache
def _hooks_class() -> Any:
    base: Any = import_module("agents").RunHooks

    class TrailHooks(base):  # type: ignore[misc]  # known only where openai-agents is installed
        def __init__(self, trail: Trail) -> None:
            self._trail = trail
            self._asked_s = 0.0
            self._tools: dict[str, float] = {}

        async def on_llm_start(self, *_given: Any) -> None:
            self._asked_s = self._trail.now()

        async def on_llm_end(self, _context: Any, agent: Any, response: Any) -> None:
            trail = self._trail
            model = _model_in(response, agent)
            trail.model_call(FrameworkCall(self._asked_s, trail.now(), model, _usage(response.usage)))
            kinds = [part.type for part in response.output]
            if any(kind.endswith("_call") for kind in kinds):
                for part in response.output:
                    if part.type == "message":
                        trail.said(_said(part))

        async def on_tool_start(self, context: Any, _agent: Any, tool: Any) -> None:
            self._tools[str(getattr(context, "tool_call_id", tool.name))] = self._trail.now()

        async def on_tool_end(self, context: Any, _agent: Any, tool: Any, result: Any) -> None:
            trail = self._trail
            call_id = str(getattr(context, "tool_call_id", tool.name))
            began_s = self._tools.pop(call_id, trail.now())
            arguments = arguments_of(getattr(context, "tool_arguments", None))
            trail.tool(ToolRun(tool.name, arguments, began_s, trail.now(), result, span=call_id))

        # the only hook that the framework calls by names
        async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:  # noqa: ARG002
            self._trail.note("handoff", f"{from_agent.name} to {to_agent.name}")

    return TrailHooks
