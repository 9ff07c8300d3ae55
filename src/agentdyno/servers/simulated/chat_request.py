"""What a client asks of a model, in one form for the OpenAI and the Ollama protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentdyno.errors import SpecError

OBSERVATION = "Observation:"
"""How a message begins by which smolagents, which has no role for tools, hands on a tool's result."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the client offers, with the JSON Schema of its arguments."""

    name: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReceivedChat:
    """One chat request. ``prompt`` is the text of the last user message, ``tool_result`` that of a last message
    which is a tool's, or which begins with ``Observation:``; ``forced_tool`` is a tool's name, or "" for any tool.
    ``num_ctx`` is the context in tokens that Ollama is asked for, and ``stays_loaded`` whether it is to keep the
    model in memory afterwards."""

    model: str
    prompt: str
    text: str
    tool_result: str | None
    tools: tuple[Tool, ...]
    forced_tool: str | None
    stream: bool
    include_usage: bool
    max_tokens: int | None
    schema: Mapping[str, Any] | None
    settings: Mapping[str, object]
    num_ctx: int | None = None
    stays_loaded: bool = True

    @property
    def input_tokens(self) -> int:
        """Words in all messages."""
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class ReceivedLoad:
    """A request without a prompt, by which Ollama is told to load a model, or to unload it."""

    model: str
    num_ctx: int | None
    stays_loaded: bool


def read_openai(body: bytes) -> ReceivedChat:
    """The body of ``POST /v1/chat/completions``; raises ``SpecError`` with what is wrong."""
    data = _object(body)
    options = data.get("stream_options")
    limit = data.get("max_completion_tokens", data.get("max_tokens"))
    choice = data.get("tool_choice")
    tools = () if choice == "none" else _tools(data)
    forced: str | None = "" if choice == "required" else None
    if isinstance(choice, dict):
        forced = str((choice.get("function") or {}).get("name", ""))
    return _request(
        data,
        tools=tools,
        forced_tool=forced,
        stream=data.get("stream") is True,
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
        max_tokens=_limit(limit),
        schema=_openai_schema(data.get("response_format")),
    )


def read_ollama(body: bytes) -> ReceivedChat:
    """The body of ``POST /api/chat``; raises ``SpecError`` with what is wrong."""
    data = _object(body)
    options = data.get("options")
    limit = options.get("num_predict") if isinstance(options, dict) else None
    wanted = data.get("format")
    return _request(
        data,
        tools=_tools(data),
        forced_tool=None,
        stream=data.get("stream") is not False,
        include_usage=True,
        max_tokens=_limit(limit),
        num_ctx=_limit(options.get("num_ctx")) if isinstance(options, dict) else None,
        stays_loaded=_stays_loaded(data.get("keep_alive")),
        schema={"type": "object"} if wanted == "json" else wanted if isinstance(wanted, dict) else None,
    )


def read_load(body: bytes) -> ReceivedLoad:
    """The body of ``POST /api/generate`` without a prompt; raises ``SpecError`` with what is wrong."""
    data = _object(body)
    model, options = data.get("model"), data.get("options")
    if not isinstance(model, str) or not model:
        raise SpecError("you must provide a model: 'model' is missing or no text")
    if data.get("prompt"):
        raise SpecError("a simulated model answers at /api/chat; /api/generate without a prompt loads and unloads it")
    context = _limit(options.get("num_ctx")) if isinstance(options, dict) else None
    return ReceivedLoad(model, context, _stays_loaded(data.get("keep_alive")))


def _stays_loaded(keep_alive: object) -> bool:
    """Ollama's ``keep_alive``: seconds, or a text such as ``5m``; only zero unloads at once."""
    if isinstance(keep_alive, str):
        digits = keep_alive.strip().rstrip("nusµmh")
        return digits.strip("0.") != "" or digits == ""
    return keep_alive is None or isinstance(keep_alive, bool) or keep_alive != 0


def _request(data: dict[str, Any], **rest: Any) -> ReceivedChat:
    model, messages, settings = data.get("model"), data.get("messages"), data.get("dyno", {})
    if not isinstance(model, str) or not model:
        raise SpecError("you must provide a model: 'model' is missing or no text")
    if not isinstance(messages, list) or not messages or not all(isinstance(item, dict) for item in messages):
        raise SpecError("'messages' must be a list of at least one message")
    if not isinstance(settings, dict):
        raise SpecError("'dyno' must be an object of settings")
    texts = [_text(item.get("content")) for item in messages]
    said = [text for item, text in zip(messages, texts, strict=True) if item.get("role") == "user"]
    return ReceivedChat(
        model=model,
        prompt=said[-1] if said else texts[-1],
        text="\n".join(texts),
        tool_result=_tool_result(messages[-1], texts[-1]),
        settings=settings,
        **rest,
    )


def _tool_result(message: Mapping[str, object], text: str) -> str | None:
    if message.get("role") == "tool":
        return text
    return text.removeprefix(OBSERVATION).strip() if text.startswith(OBSERVATION) else None


def _object(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except ValueError as error:
        raise SpecError(f"the body is no JSON: {error}") from None
    if not isinstance(data, dict):
        raise SpecError("the body must be a JSON object")
    return data


def _text(content: object) -> str:
    """A message's text: plain, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _tools(data: dict[str, Any]) -> tuple[Tool, ...]:
    found = []
    for item in data.get("tools") or ():
        function = item.get("function") if isinstance(item, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise SpecError("each of 'tools' needs a function with a name")
        parameters = function.get("parameters")
        found.append(Tool(function["name"], parameters if isinstance(parameters, dict) else {}))
    return tuple(found)


def _limit(value: object) -> int | None:
    """A maximum of output tokens; Ollama's negative ones mean no limit."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _openai_schema(wanted: object) -> Mapping[str, Any] | None:
    if not isinstance(wanted, dict):
        return None
    if wanted.get("type") == "json_object":
        return {"type": "object"}
    inner = wanted.get("json_schema")
    schema = inner.get("schema") if isinstance(inner, dict) else None
    return schema if isinstance(schema, dict) else None
