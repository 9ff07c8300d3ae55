"""The bytes of answers in the OpenAI and the Ollama protocol. Every object in them says that it is simulated."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol

from agentdyno.model.case import SIMULATED_PREFIX
from agentdyno.servers.simulated.chat_request import ReceivedChat
from agentdyno.servers.simulated.script import Script
from agentdyno.servers.simulated.send_log import RequestRecord

LONGEST_WORD = 64
"""Characters of a token that is worth remembering."""


class Frames(Protocol):
    """What is sent for one request. ``count`` frames carry the answer's tokens."""

    content_type: str
    count: int

    def opening(self) -> bytes:
        """What comes before the first token."""

    def nothing(self) -> bytes:
        """A frame without content."""

    def token(self, index: int) -> bytes:
        """One frame of the answer."""

    def ending(self, record: RequestRecord) -> bytes:
        """What comes after the last token: finish reason, usage, terminator."""

    def error(self, message: str) -> bytes:
        """An error in the middle of the stream."""

    def whole(self, record: RequestRecord) -> bytes:
        """The answer in one piece, for a request that does not stream."""


def reported_model(name: str) -> str:
    """The name under which a model answers: no measurement can be taken for one of the real model."""
    return name if name.startswith(SIMULATED_PREFIX) else SIMULATED_PREFIX + name


def dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def quoted(text: str) -> bytes:
    """A token as a JSON string; answers repeat their words."""
    return _quoted_word(text) if len(text) <= LONGEST_WORD else json.dumps(text).encode()


@lru_cache(maxsize=8192)
def _quoted_word(text: str) -> bytes:
    return json.dumps(text).encode()


class OpenAIFrames:
    """Chunks of ``/v1/chat/completions`` as server-sent events."""

    content_type = "text/event-stream; charset=utf-8"

    def __init__(self, request: ReceivedChat, script: Script, request_id: str, created_ms: int) -> None:
        self._request, self._script = request, script
        self.count = len(script.tokens)
        self._base = {
            "id": f"chatcmpl-{request_id}",
            "created": created_ms // 1000,
            "model": reported_model(request.model),
            "simulated": True,
        }
        self._call_id = f"call-{request_id}"
        chunk = dump({"object": "chat.completion.chunk", **self._base})
        self._start = b"data: " + chunk[:-1] + b',"choices":[{"index":0,"delta":'
        usage = b',"usage":null' if request.include_usage else b""
        self._stop = b',"finish_reason":null}]' + usage + b"}\n\n"
        self._chunk = b"data: " + chunk[:-1]
        opens, closes = b'{"content":', b"}"
        if script.tool_call:
            opens, closes = b'{"tool_calls":[{"index":0,"function":{"arguments":', b"}}]}"
        self._before, self._after = self._start + opens, closes + self._stop

    def opening(self) -> bytes:
        return self._start + b'{"role":"assistant","content":""}' + self._stop

    def nothing(self) -> bytes:
        return self._start + b'{"content":""}' + self._stop

    def token(self, index: int) -> bytes:
        if index == 0 and self._script.tool_call:
            function = {"name": self._script.tool_call.name, "arguments": self._script.tokens[0]}
            call = {"index": 0, "id": self._call_id, "type": "function", "function": function}
            return self._start + dump({"tool_calls": [call]}) + self._stop
        return self._before + quoted(self._script.tokens[index]) + self._after

    def ending(self, record: RequestRecord) -> bytes:
        if not self._script.finish:
            return b""
        usage = b',"usage":null' if self._request.include_usage else b""
        choice = dump({"index": 0, "delta": {}, "finish_reason": self._script.finish})
        text = self._chunk + b',"choices":[' + choice + b"]" + usage + b"}\n\n"
        if self._request.include_usage:
            text += self._chunk + b',"choices":[],"usage":' + dump(_usage(record)) + b"}\n\n"
        return text + b"data: [DONE]\n\n"

    def error(self, message: str) -> bytes:
        return b"data: " + openai_error(message, "server_error", None) + b"\n\n"

    def whole(self, record: RequestRecord) -> bytes:
        text = "".join(self._script.tokens)
        message: dict[str, object] = {"role": "assistant", "content": text}
        if self._script.tool_call:
            function = {"name": self._script.tool_call.name, "arguments": text}
            call = {"id": self._call_id, "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": self._script.finish or None}
        return dump({"object": "chat.completion", **self._base, "choices": [choice], "usage": _usage(record)})


class OllamaFrames:
    """Lines of ``/api/chat`` as NDJSON. A tool call is one line."""

    content_type = "application/x-ndjson"

    def __init__(self, request: ReceivedChat, script: Script, load_s: float, created_ms: int) -> None:
        self._script = script
        self.count = 1 if script.tool_call else len(script.tokens)
        self._load_ns = round(load_s * 1e9)
        created = datetime.fromtimestamp(created_ms / 1000, UTC).isoformat().replace("+00:00", "Z")
        self._base = {"model": reported_model(request.model), "created_at": created, "simulated": True}
        self._before = dump(self._base)[:-1] + b',"message":{"role":"assistant","content":'

    def opening(self) -> bytes:
        return b""

    def nothing(self) -> bytes:
        return self._before + b'""},"done":false}\n'

    def token(self, index: int) -> bytes:
        if self._script.tool_call:
            return dump({**self._base, "message": self._message(), "done": False}) + b"\n"
        return self._before + quoted(self._script.tokens[index]) + b'},"done":false}\n'

    def ending(self, record: RequestRecord) -> bytes:
        if not self._script.finish:
            return b""
        return self._final({"role": "assistant", "content": ""}, record) + b"\n"

    def error(self, message: str) -> bytes:
        return ollama_error(message) + b"\n"

    def whole(self, record: RequestRecord) -> bytes:
        return self._final(self._message(), record)

    def _message(self) -> dict[str, object]:
        call = self._script.tool_call
        if call is None:
            return {"role": "assistant", "content": "".join(self._script.tokens)}
        function = {"name": call.name, "arguments": dict(call.arguments)}
        return {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}

    def _final(self, message: dict[str, object], record: RequestRecord) -> bytes:
        """The last object, with the durations (ns) as they came to pass, or as planned where nothing streamed."""
        assert record.end_ns is not None
        sent = record.token_ns
        first_ns = sent[0] - record.received_ns if sent else self._script.first_ns
        eval_ns = sent[-1] - sent[0] if sent else self._script.last_ns - self._script.first_ns
        return dump(
            {
                **self._base,
                "message": message,
                "done": True,
                "done_reason": "length" if self._script.finish == "length" else "stop",
                "total_duration": record.end_ns - record.received_ns,
                "load_duration": self._load_ns,
                "prompt_eval_count": record.input_tokens,
                "prompt_eval_duration": max(0, first_ns - self._load_ns),
                "eval_count": record.output_tokens,
                "eval_duration": eval_ns,
            }
        )


class PlainFrames:
    """The answer to a request that is no chat."""

    content_type = "application/json"
    count = 0

    def opening(self) -> bytes:
        return b""

    def nothing(self) -> bytes:
        return b" "

    def token(self, index: int) -> bytes:  # noqa: ARG002
        return b""

    def ending(self, record: RequestRecord) -> bytes:  # noqa: ARG002
        return b""

    def error(self, message: str) -> bytes:
        return openai_error(message, "server_error", None)

    def whole(self, record: RequestRecord) -> bytes:
        return dump({"ok": True, "request": record.request_id, "simulated": True})


def openai_error(message: str, kind: str, code: str | None) -> bytes:
    return dump({"error": {"message": message, "type": kind, "param": None, "code": code}, "simulated": True})


def ollama_error(message: str) -> bytes:
    return dump({"error": message, "simulated": True})


def _usage(record: RequestRecord) -> dict[str, int]:
    total = record.input_tokens + record.output_tokens
    return {
        "prompt_tokens": record.input_tokens,
        "completion_tokens": record.output_tokens,
        "total_tokens": total,
    }
