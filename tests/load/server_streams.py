"""Streams as the servers people use send them, reconstructed event by event: what decoders are tried on."""

from __future__ import annotations

import json
from dataclasses import dataclass

from agentdyno.wire.anthropic import ANTHROPIC
from agentdyno.wire.chat import AnswerDialect
from agentdyno.wire.completions import COMPLETIONS
from agentdyno.wire.ollama import OLLAMA, OLLAMA_GENERATE
from agentdyno.wire.openai import OPENAI

from .streams import DONE, HEAD, NDJSON, chunked

WORDS = ("Hi", ' "ö"\n', "\\u00e9 𝄞", " error", "")
"""Quotes, escapes, characters of two and four bytes, a word that looks like a fault, and a token without a text."""


@dataclass(frozen=True, slots=True)
class ServerStream:
    """The pieces of a body as the server flushes them, and how its answers are read."""

    answers: AnswerDialect
    pieces: tuple[bytes, ...]
    head: bytes = HEAD

    @property
    def raw(self) -> bytes:
        """One HTTP chunk for each piece."""
        return chunked(list(self.pieces), self.head)


def _data(
    value: object, space: str = " ", ascii_only: bool = True, separators: tuple[str, str] = (",", ":")
) -> bytes:
    return f"data:{space}{json.dumps(value, ensure_ascii=ascii_only, separators=separators)}\n\n".encode()


def _chunk(delta: object, finish: str | None = None, **more: object) -> dict[str, object]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {"id": "chatcmpl-8f1c", "object": "chat.completion.chunk", "created": 1, "choices": [choice], **more}


def _usage(left: int, **more: object) -> dict[str, object]:
    return {"prompt_tokens": 8, "completion_tokens": left, "total_tokens": 8 + left, **more}


def openai(words: tuple[str, ...] = WORDS) -> ServerStream:
    more = {"model": "gpt-x", "system_fingerprint": "fp_1", "service_tier": "default", "usage": None}
    events = [_chunk({"role": "assistant", "content": "", "refusal": None}, **more)]
    events += [_chunk({"content": word}, **more) for word in words]
    events.append(_chunk({}, "stop", **more))
    cached = {"prompt_tokens_details": {"cached_tokens": 6, "audio_tokens": 0}}
    events.append({**_chunk({}), "choices": [], "usage": _usage(len(words), **cached)})
    return ServerStream(OPENAI, (*map(_data, events), DONE))


def vllm(words: tuple[str, ...] = WORDS) -> ServerStream:
    """A growing count in every event, raw characters, reasoning first."""
    said = [_chunk({"role": "assistant", "content": ""}, usage=_usage(0))]
    said += [_chunk({"reasoning_content": word}, usage=_usage(n)) for n, word in enumerate(words[:2], 1)]
    said += [_chunk({"content": word}, usage=_usage(n)) for n, word in enumerate(words, 3)]
    said.append(_chunk({"content": ""}, "stop", stop_reason=None))
    said.append({**_chunk({}), "choices": [], "usage": _usage(len(words) + 2)})
    return ServerStream(OPENAI, (*(_data(value, ascii_only=False) for value in said), DONE))


def llama_cpp(words: tuple[str, ...] = WORDS) -> ServerStream:
    """Its timings stand in the last event; there is no event of usage alone."""
    said = [_chunk({"role": "assistant", "content": None})]
    said += [_chunk({"content": word}) for word in words]
    timings = {"prompt_n": 8, "prompt_ms": 12.5, "predicted_n": len(words), "predicted_ms": 40.0}
    said.append(_chunk({}, "stop", usage=_usage(len(words)), timings=timings))
    return ServerStream(OPENAI, (*(_data(value, ascii_only=False) for value in said), DONE))


def sglang(words: tuple[str, ...] = WORDS) -> ServerStream:
    """Deltas name every field, most of them null; it calls a tool at the end."""
    empty = {"role": None, "content": None, "reasoning_content": None, "tool_calls": None}
    said = [_chunk({**empty, "role": "assistant", "content": ""}, matched_stop=None)]
    said += [_chunk({**empty, "content": word}, usage=None) for word in words]
    for name, arguments in (("find", ""), (None, '{"q":'), (None, '"x"}')):
        call = {"id": "c1", "index": 0, "type": "function", "function": {"name": name, "arguments": arguments}}
        said.append(_chunk({**empty, "tool_calls": [call]}))
    said.append(_chunk(empty, "tool_calls", matched_stop=2))
    said.append({**_chunk({}), "choices": [], "usage": _usage(7, prompt_tokens_details=None)})
    return ServerStream(OPENAI, (*map(_data, said), DONE))


def tgi(words: tuple[str, ...] = WORDS) -> ServerStream:
    """No blank after ``data:``, a comment that keeps the connection alive, and no end mark."""
    said = [_chunk({"role": "assistant", "content": word}) for word in words]
    said.append(_chunk({"role": "assistant", "content": ""}, "length", usage=_usage(len(words))))
    events = [_data(value, space="", ascii_only=False) for value in said]
    return ServerStream(OPENAI, (b":keep-alive\n\n", *events[:2], b": ping\n\n", *events[2:]))


def crlf(words: tuple[str, ...] = WORDS) -> ServerStream:
    """Lines that end as in HTTP, with ids and times to wait, as some frameworks send them."""
    stream = openai(words)
    named = [b"retry: 3000\nid: %d\n" % n + piece for n, piece in enumerate(stream.pieces)]
    return ServerStream(OPENAI, tuple(piece.replace(b"\n", b"\r\n") for piece in named))


def text_completions(words: tuple[str, ...] = WORDS) -> ServerStream:
    def event(text: str, finish: str | None = None) -> dict[str, object]:
        choice = {"text": text, "index": 0, "logprobs": None, "finish_reason": finish}
        return {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}

    said: list[dict[str, object]] = [event(word) for word in words]
    said += [event("", "length"), {**event(""), "choices": [], "usage": _usage(len(words))}]
    return ServerStream(COMPLETIONS, (*map(_data, said), DONE))


def anthropic(words: tuple[str, ...] = WORDS) -> ServerStream:
    """Named events: thinking, text, a tool call, counts at both ends."""
    start = {"input_tokens": 5, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 0, "output_tokens": 1}
    said: list[dict[str, object]] = [
        {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": [], "usage": start}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "xyz"}},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    ]
    said += [
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": word}} for word in words
    ]
    call = {"type": "tool_use", "id": "t1", "name": "find", "input": {}}
    said += [
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": call},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"q":1}'}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 12}},
        {"type": "message_stop"},
    ]
    return ServerStream(ANTHROPIC, tuple(f"event: {value['type']}\n".encode() + _data(value) for value in said))


def _ollama_lines(values: list[dict[str, object]]) -> tuple[bytes, ...]:
    return tuple(
        json.dumps({"model": "m", "created_at": "t", **value}, ensure_ascii=False).encode() + b"\n"
        for value in values
    )


def ollama_chat(words: tuple[str, ...] = WORDS) -> ServerStream:
    said: list[dict[str, object]] = [
        {"message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": False}
    ]
    said += [{"message": {"role": "assistant", "content": word}, "done": False} for word in words]
    call = {"function": {"name": "find", "arguments": {"q": "x"}}}
    said.append({"message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": False})
    end = {"done_reason": "stop", "total_duration": 9, "prompt_eval_count": 8, "eval_count": len(words)}
    said.append({"message": {"role": "assistant", "content": ""}, "done": True, **end})
    return ServerStream(OLLAMA, _ollama_lines(said), NDJSON)


def ollama_generate(words: tuple[str, ...] = WORDS) -> ServerStream:
    said: list[dict[str, object]] = [{"response": word, "done": False} for word in words]
    said.append({"response": "", "done": True, "context": [1, 2], "eval_count": len(words), "prompt_eval_count": 8})
    return ServerStream(OLLAMA_GENERATE, _ollama_lines(said), NDJSON)


SERVERS = {
    "OpenAI": openai,
    "vLLM": vllm,
    "llama.cpp": llama_cpp,
    "SGLang": sglang,
    "TGI": tgi,
    "CRLF, ids and retry": crlf,
    "text completions": text_completions,
    "Anthropic messages": anthropic,
    "Ollama chat": ollama_chat,
    "Ollama generate": ollama_generate,
}
