"""Answers of Anthropic's ``/messages``, streamed as typed events or whole.

Tokens that a cache was written with or read from are not in its ``input_tokens``; here they are part of the input.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from agentdyno.model.case import Usage
from agentdyno.wire import fields, sse
from agentdyno.wire.chat import AnswerDialect, CompletionBuilder
from agentdyno.wire.errors import ProtocolError
from agentdyno.wire.ndjson import parse_json
from agentdyno.wire.openai import error_message
from agentdyno.wire.sse import Piece

_CACHES = ("cache_read_input_tokens", "cache_creation_input_tokens")


def take_event(builder: CompletionBuilder, piece: Piece) -> bool:
    """Adds one event; whether it had content."""
    value = parse_json(piece.data, builder.endpoint) if piece.data.strip() else {}
    if not isinstance(value, dict):
        raise ProtocolError(f"not an event of a message: {piece.data[:60]!r}", where=builder.endpoint)
    kind = fields.text(value, "type") or piece.name
    if kind == "error":
        builder.error = error_message(value) or piece.data[:500]
    elif kind == "message_start":
        _take_header(builder, fields.mapping(value, "message"))
    elif kind == "content_block_start":
        return _take_block(builder, fields.mapping(value, "content_block"), fields.count(value, "index") or 0)
    elif kind == "content_block_delta":
        return _take_delta(builder, fields.mapping(value, "delta"), fields.count(value, "index") or 0)
    elif kind == "message_delta":
        builder.finish_reason = fields.text(fields.mapping(value, "delta"), "stop_reason") or builder.finish_reason
        _take_usage(builder, fields.mapping(value, "usage"))
    elif kind == "message_stop":
        builder.finished = True
    return False


def take_whole(builder: CompletionBuilder, value: object) -> None:
    """Adds a message that came in one piece."""
    if isinstance(value, dict) and (value.get("type") == "error" or value.get("error")):
        builder.error = error_message(value) or "an error without a message"
        return
    if not isinstance(value, dict) or "content" not in value:
        raise ProtocolError("the answer has no content: not a message", where=builder.endpoint)
    for place, block in enumerate(fields.items(value, "content")):
        _take_block(builder, fields.mapping(block), place)
    _take_header(builder, value)
    builder.finish_reason = fields.text(value, "stop_reason") or None
    builder.finished = True


def _take_header(builder: CompletionBuilder, message: Mapping[str, object]) -> None:
    if fields.text(message, "model"):
        builder.model = fields.text(message, "model")
        builder.observed["model"] = builder.model
    _take_usage(builder, fields.mapping(message, "usage"))


def _take_usage(builder: CompletionBuilder, value: Mapping[str, object]) -> None:
    """Input is counted at the start of a stream, output at its end; the later count of each holds."""
    entered, left = fields.count(value, "input_tokens"), fields.count(value, "output_tokens")
    if entered is None and left is None:
        return
    before = builder.usage or Usage()
    read, written = (fields.count(value, name) for name in _CACHES)
    known = before.input_tokens if entered is None else entered + (read or 0) + (written or 0)
    cached = before.cached_tokens if read is None else read
    builder.usage = Usage(known, before.output_tokens if left is None else left, cached)


def _take_block(builder: CompletionBuilder, block: Mapping[str, object], place: int) -> bool:
    text, thinking = fields.text(block, "text"), fields.text(block, "thinking")
    builder.text.append(text)
    builder.reasoning.append(thinking)
    if fields.text(block, "type") != "tool_use":
        return bool(text or thinking)
    given = json.dumps(block["input"]) if block.get("input") else ""
    builder.call_delta(place, fields.text(block, "id"), fields.text(block, "name"), given)
    return True


def _take_delta(builder: CompletionBuilder, delta: Mapping[str, object], place: int) -> bool:
    text, thinking = fields.text(delta, "text"), fields.text(delta, "thinking")
    builder.text.append(text)
    builder.reasoning.append(thinking)
    arguments = fields.text(delta, "partial_json")
    if arguments:
        builder.call_delta(place, "", "", arguments)
    return bool(text or thinking or arguments)


ANTHROPIC = AnswerDialect(
    name="messages",
    path="/messages",
    stream_types=("text/event-stream",),
    pieces=sse.events,
    take=take_event,
    take_whole=take_whole,
)
