"""The OpenAI dialect: chat completions, streamed as server-sent events or whole; vLLM, llama.cpp and others speak it.

llama.cpp adds ``timings``, which become ``server_s``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from agentdyno.model.case import Usage
from agentdyno.wire import fields, sse
from agentdyno.wire.chat import ChatDialect, ChatRequest, CompletionBuilder
from agentdyno.wire.errors import ProtocolError
from agentdyno.wire.ndjson import parse_json
from agentdyno.wire.sse import Piece

DONE = "[DONE]"
_OBSERVED = ("model", "system_fingerprint", "service_tier", "provider")


def chat_body(request: ChatRequest) -> dict[str, object]:
    """The JSON body of ``POST /chat/completions``."""
    body: dict[str, object] = {"model": request.model} if request.model else {}
    body["messages"] = [dict(message) for message in request.messages]
    body.update(request.options)
    if request.tools:
        body["tools"] = [dict(tool) for tool in request.tools]
    if request.schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": dict(request.schema)},
        }
    body["stream"] = request.stream
    if request.stream and request.include_usage:
        body["stream_options"] = {"include_usage": True}
    body.update(request.extra)
    return body


def _delta(choice: object) -> Mapping[str, object]:
    return fields.mapping(choice, "delta")


def _whole_message(choice: object) -> Mapping[str, object]:
    return fields.mapping(choice, "message")


def take_event(
    builder: CompletionBuilder, piece: Piece, message: Callable[[object], Mapping[str, object]] = _delta
) -> bool:
    """Adds one ``chat.completion.chunk``; whether it had content. ``message`` finds it in a choice."""
    if piece.data.strip() == DONE:
        builder.finished = True
        return False
    if not piece.data.strip():
        return False
    value = parse_json(piece.data, builder.endpoint)
    if not isinstance(value, dict):
        raise ProtocolError(f"not a chat completion: {piece.data[:60]!r}", where=builder.endpoint)
    if piece.name == "error" or _is_error(value):
        builder.error = error_message(value) or piece.data[:500]
        return False
    _take_header(builder, value)
    content = False
    for choice in fields.items(value, "choices"):
        if not fields.count(choice, "index"):  # of several answers (n > 1) only the first counts
            content = _take_message(builder, message(choice)) or content
            _take_finish(builder, choice)
    return content


def take_whole(
    builder: CompletionBuilder, value: object, message: Callable[[object], Mapping[str, object]] = _whole_message
) -> None:
    """Adds a ``chat.completion`` that came in one piece."""
    if isinstance(value, dict) and _is_error(value):
        builder.error = error_message(value) or "an error without a message"
        return
    choices = fields.items(value, "choices")
    if not isinstance(value, dict) or not choices:
        raise ProtocolError("the answer has no choices: not a chat completion", where=builder.endpoint)
    _take_header(builder, value)
    _take_message(builder, message(choices[0]))
    _take_finish(builder, choices[0])
    builder.finished = True


def error_message(value: object) -> str:
    """The message in an error object of this dialect or of one like it; empty where there is none."""
    for key in ("error", "detail", "message"):
        found = fields.mapping(value).get(key)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, dict) and fields.text(found, "message"):
            return fields.text(found, "message")
        if isinstance(found, list) and found:
            return "; ".join(fields.text(item, "msg") or str(item) for item in found[:3])
    return ""


def list_models(value: object) -> tuple[str, ...]:
    names = (fields.text(item, "id") for item in fields.items(value, "data"))
    return tuple(name for name in names if name)


def read_usage(value: Mapping[str, object]) -> Usage | None:
    """``None`` where neither side is counted."""
    entered, left = fields.count(value, "prompt_tokens"), fields.count(value, "completion_tokens")
    if entered is None and left is None:
        return None
    return Usage(
        entered or 0,
        left or 0,
        fields.count(fields.mapping(value, "prompt_tokens_details"), "cached_tokens") or 0,
        fields.count(fields.mapping(value, "completion_tokens_details"), "reasoning_tokens") or 0,
    )


def model_name(reported: str) -> str:
    """llama.cpp reports the path of its file where nobody gave it a name; folders are nobody's business."""
    return reported.replace("\\", "/").rpartition("/")[2] if reported.endswith(".gguf") else reported


def _is_error(value: Mapping[str, object]) -> bool:
    return bool(value.get("error")) or value.get("object") == "error"


def _take_header(builder: CompletionBuilder, value: Mapping[str, object]) -> None:
    for key in _OBSERVED:
        if fields.text(value, key):
            builder.observed[key] = fields.text(value, key)
    if fields.text(value, "model"):
        builder.model = model_name(fields.text(value, "model"))
        builder.observed["model"] = builder.model
    # Some servers repeat a growing count in every chunk: the last one holds.
    builder.usage = read_usage(fields.mapping(value, "usage")) or builder.usage
    timings = fields.mapping(value, "timings")
    for name, key in (("prompt_eval_s", "prompt_ms"), ("eval_s", "predicted_ms")):
        milliseconds = fields.number(timings, key)
        if milliseconds is not None:
            builder.server_s[name] = milliseconds / 1e3


def _take_finish(builder: CompletionBuilder, choice: object) -> None:
    reason = fields.text(choice, "finish_reason")
    if reason:
        builder.finish_reason = reason
        builder.finished = True


def _take_message(builder: CompletionBuilder, message: Mapping[str, object]) -> bool:
    text = fields.text(message, "content") or fields.text(message, "refusal")
    reasoning = fields.text(message, "reasoning_content") or fields.text(message, "reasoning")
    builder.text.append(text)
    builder.reasoning.append(reasoning)
    calls = fields.items(message, "tool_calls")
    for call in calls:
        function = fields.mapping(call, "function")
        index = fields.count(call, "index")
        builder.call_delta(
            builder.next_call if index is None else index,
            fields.text(call, "id"),
            fields.text(function, "name"),
            _arguments(function.get("arguments")),
        )
    return bool(text or reasoning or calls)


def _arguments(value: object) -> str:
    # Always a text here, by the book; some servers send the object itself.
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


OPENAI = ChatDialect(
    name="openai",
    path="/chat/completions",
    models_path="/models",
    stream_types=("text/event-stream",),
    body=chat_body,
    pieces=sse.events,
    take=take_event,
    take_whole=take_whole,
    list_models=list_models,
)
