"""Agents of claude-agent-sdk, as their options."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

from agentdyno.agents.frameworks.trail import FrameworkCall, ToolRun, Trail, question, tokens
from agentdyno.contracts import CaseFailed
from agentdyno.model.case import Usage
from agentdyno.model.sample import FailureKind


class ClaudeAgent:
    """One query a turn; later turns of a case resume its session.

    A conversation that a case brings along becomes part of the prompt, since sessions begin with the user. The costs
    are those that the SDK reports.
    """

    def __init__(self, options: Any) -> None:
        self._options = options
        self._query: Any = import_module("claude_agent_sdk").query

    async def run(self, prompt: object, history: list[dict[str, object]], *, stream: bool = False) -> object:
        trail = Trail()
        kept = trail.recorder.memory
        goes_on = bool(history) and isinstance(kept, str)
        asked = question(prompt, () if goes_on else history)
        options = replace(self._options, resume=kept) if goes_on else self._options
        if stream:
            options = replace(options, include_partial_messages=True)
        notes, result = _Blocks(trail), None
        async for message in self._query(prompt=asked.flattened, options=options):
            kind = type(message).__name__
            if kind == "StreamEvent":
                if (message.event.get("delta") or {}).get("type") == "text_delta":
                    trail.delta()
            elif kind in ("AssistantMessage", "UserMessage"):
                notes.take(message, kind == "AssistantMessage")
            elif kind == "ResultMessage":
                result = message
        if result is None:
            raise CaseFailed(FailureKind.TRUNCATED, "the session ended without a result")
        return _taken(trail, result)


def _taken(trail: Trail, result: Any) -> object:
    recorder = trail.recorder
    recorder.memory = str(result.session_id)
    usage = _usage(result.usage or {})
    trail.used(usage, 0)
    if result.total_cost_usd is not None:
        recorder.cost = (recorder.cost or 0.0) + result.total_cost_usd
    if result.is_error:
        status = result.api_error_status
        kind = FailureKind.RATE_LIMITED if status == 429 else FailureKind.EXCEPTION
        said = result.result or "; ".join(result.errors or ()) or result.subtype
        raise CaseFailed(kind, f"{said} (status {status})" if status else str(said), retryable=status == 429)
    return result.result if result.structured_output is None else result.structured_output


class _Blocks:
    """Turns messages into calls; the parts of one answer come as several messages with one id."""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._last_s = trail.now()
        self._answer_id: str | None = None
        self._calls: dict[str, tuple[Any, float]] = {}

    def take(self, message: Any, is_answer: bool) -> None:
        trail, now_s = self._trail, self._trail.now()
        if is_answer:
            if message.message_id is None or message.message_id != self._answer_id:
                trail.model_call(FrameworkCall(self._last_s, now_s, message.model, error=message.error))
            self._answer_id = message.message_id
        blocks = message.content if isinstance(message.content, list) else []
        for block in blocks:
            kind = type(block).__name__
            if kind == "ToolUseBlock":
                self._calls[block.id] = (block, now_s)
            elif kind == "ToolResultBlock" and block.tool_use_id in self._calls:
                call, began_s = self._calls.pop(block.tool_use_id)
                error = str(block.content)[:500] if block.is_error else None
                trail.tool(ToolRun(call.name, call.input, began_s, now_s, block.content, error, span=call.id))
        self._last_s = now_s


def _usage(told: dict[str, Any]) -> Usage | None:
    cached = int(told.get("cache_read_input_tokens") or 0)
    written = int(told.get("cache_creation_input_tokens") or 0)
    given = int(told.get("input_tokens") or 0) + cached + written
    return tokens(given=given, made=told.get("output_tokens"), cached=cached)
