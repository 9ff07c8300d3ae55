"""Ollama's own dialect: ``/api/chat``, streamed as one JSON document per line or whole; of ``/api/generate`` the
answers."""

from __future__ import annotations

from collections.abc import Mapping

from agentdyno.model.case import Usage
from agentdyno.wire import fields, ndjson
from agentdyno.wire.chat import AnswerDialect, ChatDialect, ChatRequest, CompletionBuilder
from agentdyno.wire.errors import ProtocolError
from agentdyno.wire.sse import Piece

_DURATIONS = (
    ("total_s", "total_duration"),
    ("load_s", "load_duration"),
    ("prompt_eval_s", "prompt_eval_duration"),
    ("eval_s", "eval_duration"),
)


def chat_body(request: ChatRequest) -> dict[str, object]:
    """The JSON body of ``POST /api/chat``."""
    body: dict[str, object] = {
        "model": request.model,
        "messages": [dict(message) for message in request.messages],
        "stream": request.stream,
    }
    if request.options:
        body["options"] = dict(request.options)
    if request.tools:
        body["tools"] = [dict(tool) for tool in request.tools]
    if request.schema is not None:
        body["format"] = dict(request.schema)
    body.update(request.extra)
    return body


def take_line(builder: CompletionBuilder, piece: Piece) -> bool:
    """Adds one line; whether it had content."""
    return _take(builder, ndjson.parse_json(piece.data, builder.endpoint))


def take_whole(builder: CompletionBuilder, value: object) -> None:
    """Adds an answer that came in one piece."""
    _take(builder, value)
    if not builder.finished and builder.error is None:
        raise ProtocolError("the answer is not one of /api/chat", where=builder.endpoint)


def take_generated_line(builder: CompletionBuilder, piece: Piece) -> bool:
    """Adds one line of an answer to ``/api/generate``; whether it had content."""
    return _take(builder, _as_message(ndjson.parse_json(piece.data, builder.endpoint)))


def take_generated(builder: CompletionBuilder, value: object) -> None:
    """Adds an answer to ``/api/generate`` that came in one piece."""
    take_whole(builder, _as_message(value))


def list_models(value: object) -> tuple[str, ...]:
    names = (fields.text(item, "name") for item in fields.items(value, "models"))
    return tuple(name for name in names if name)


def _as_message(value: object) -> object:
    """A line of ``/api/generate`` as ``/api/chat`` would have said it."""
    if not isinstance(value, dict):
        return value
    return {**value, "message": {"content": value.get("response"), "thinking": value.get("thinking")}}


def _take(builder: CompletionBuilder, value: object) -> bool:
    if not isinstance(value, dict):
        raise ProtocolError("a line of the answer is no JSON object", where=builder.endpoint)
    if value.get("error"):
        builder.error = str(value["error"])[:500]
        return False
    if fields.text(value, "model"):
        builder.model = fields.text(value, "model")
        builder.observed["model"] = builder.model
    content = _take_message(builder, fields.mapping(value, "message"))
    if value.get("done") is True:
        _take_end(builder, value)
    return content


def _take_message(builder: CompletionBuilder, message: Mapping[str, object]) -> bool:
    text, thinking = fields.text(message, "content"), fields.text(message, "thinking")
    builder.text.append(text)
    builder.reasoning.append(thinking)
    calls = fields.items(message, "tool_calls")
    for call in calls:
        function = fields.mapping(call, "function")
        builder.whole_call(fields.text(call, "id"), fields.text(function, "name"), function.get("arguments"))
    return bool(text or thinking or calls)


def _take_end(builder: CompletionBuilder, value: Mapping[str, object]) -> None:
    builder.finished = True
    builder.finish_reason = fields.text(value, "done_reason") or "stop"
    entered, left = fields.count(value, "prompt_eval_count"), fields.count(value, "eval_count")
    if entered is not None or left is not None:
        builder.usage = Usage(entered or 0, left or 0)
    for name, key in _DURATIONS:
        nanoseconds = fields.number(value, key)
        if nanoseconds is not None:
            builder.server_s[name] = nanoseconds / 1e9


OLLAMA = ChatDialect(
    name="ollama",
    path="/api/chat",
    models_path="/api/tags",
    stream_types=("application/x-ndjson", "application/ndjson", "application/jsonl"),
    body=chat_body,
    pieces=ndjson.lines,
    take=take_line,
    take_whole=take_whole,
    list_models=list_models,
)

OLLAMA_GENERATE = AnswerDialect(
    name="ollama.generate",
    path="/api/generate",
    stream_types=OLLAMA.stream_types,
    pieces=ndjson.lines,
    take=take_generated_line,
    take_whole=take_generated,
)
