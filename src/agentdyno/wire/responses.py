"""Answers of OpenAI's ``/responses``, streamed as typed events or whole."""

from __future__ import annotations

from collections.abc import Mapping

from agentdyno.model.case import Usage
from agentdyno.wire import fields, sse
from agentdyno.wire.chat import AnswerDialect, CompletionBuilder
from agentdyno.wire.errors import ProtocolError
from agentdyno.wire.ndjson import parse_json
from agentdyno.wire.openai import error_message
from agentdyno.wire.sse import Piece

_TEXTS = ("response.output_text.delta", "response.refusal.delta")
_REASONING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_ARGUMENTS = "response.function_call_arguments.delta"


def take_event(builder: CompletionBuilder, piece: Piece) -> bool:
    """Adds one event; whether it had content."""
    if not piece.data.strip() or piece.data.strip() == "[DONE]":
        return False
    value = parse_json(piece.data, builder.endpoint)
    if not isinstance(value, dict):
        raise ProtocolError(f"not an event of a response: {piece.data[:60]!r}", where=builder.endpoint)
    kind = fields.text(value, "type") or piece.name
    delta = fields.text(value, "delta")
    if kind in _TEXTS:
        builder.text.append(delta)
        return bool(delta)
    if kind in _REASONING:
        builder.reasoning.append(delta)
        return bool(delta)
    if kind == _ARGUMENTS:
        builder.call_delta(fields.count(value, "output_index") or 0, "", "", delta)
        return bool(delta)
    if kind == "response.output_item.added":
        return _take_call_start(builder, value)
    if kind == "error" or (value.get("error") and not kind.startswith("response.")):
        builder.error = error_message(value) or piece.data[:500]
    elif kind in _ENDS:
        _take_end(builder, fields.mapping(value, "response"))
    elif kind in ("response.created", "response.in_progress"):
        _take_header(builder, fields.mapping(value, "response"))
    return False


def take_whole(builder: CompletionBuilder, value: object) -> None:
    """Adds a response that came in one piece."""
    if not isinstance(value, dict):
        raise ProtocolError("the answer is no JSON object: not a response", where=builder.endpoint)
    if value.get("error") and not fields.items(value, "output"):
        builder.error = error_message(value) or "an error without a message"
        return
    if "output" not in value:
        raise ProtocolError("the answer has no output: not a response", where=builder.endpoint)
    for item in fields.items(value, "output"):
        _take_item(builder, item)
    _take_end(builder, value)


def read_usage(value: Mapping[str, object]) -> Usage | None:
    """``None`` where neither side is counted."""
    entered, left = fields.count(value, "input_tokens"), fields.count(value, "output_tokens")
    if entered is None and left is None:
        return None
    return Usage(
        entered or 0,
        left or 0,
        fields.count(fields.mapping(value, "input_tokens_details"), "cached_tokens") or 0,
        fields.count(fields.mapping(value, "output_tokens_details"), "reasoning_tokens") or 0,
    )


def _take_call_start(builder: CompletionBuilder, value: Mapping[str, object]) -> bool:
    item = fields.mapping(value, "item")
    if fields.text(item, "type") != "function_call":
        return False
    place = fields.count(value, "output_index") or 0
    builder.call_delta(place, fields.text(item, "call_id"), fields.text(item, "name"), "")
    return True


def _take_item(builder: CompletionBuilder, item: object) -> None:
    kind = fields.text(item, "type")
    if kind == "message":
        for part in fields.items(item, "content"):
            builder.text.append(fields.text(part, "text") or fields.text(part, "refusal"))
    elif kind == "reasoning":
        for part in fields.items(item, "summary"):
            builder.reasoning.append(fields.text(part, "text"))
    elif kind == "function_call":
        place = builder.next_call
        called = (fields.text(item, "call_id"), fields.text(item, "name"), fields.text(item, "arguments"))
        builder.call_delta(place, *called)


def _take_header(builder: CompletionBuilder, response: Mapping[str, object]) -> None:
    if fields.text(response, "model"):
        builder.model = fields.text(response, "model")
        builder.observed["model"] = builder.model
    builder.usage = read_usage(fields.mapping(response, "usage")) or builder.usage


def _take_end(builder: CompletionBuilder, response: Mapping[str, object]) -> None:
    _take_header(builder, response)
    status = fields.text(response, "status")
    if status == "failed":
        builder.error = error_message(response) or "the response failed"
        return
    why = fields.text(fields.mapping(response, "incomplete_details"), "reason")
    builder.finish_reason = why or status or None
    builder.finished = bool(status)


RESPONSES = AnswerDialect(
    name="responses",
    path="/responses",
    stream_types=("text/event-stream",),
    pieces=sse.events,
    take=take_event,
    take_whole=take_whole,
)
