"""Answers of chat servers, as bytes."""

from __future__ import annotations

from collections.abc import Iterable

from ..wire.script_server import LAST_CHUNK, Script, ndjson_line, sse_event, stream_head


def delta(fields: object, finish: str | None = None, **more: object) -> bytes:
    return sse_event({"model": "m-2024", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}], **more})


def openai_stream(*texts: str, finish: str = "stop", headers: Iterable[str] = ()) -> Script:
    """A whole stream: the role, the texts, the end, and a usage of 5 tokens in and one token out per text."""
    usage = {"prompt_tokens": 5, "completion_tokens": len(texts)}
    return (
        stream_head(headers=headers),
        delta({"role": "assistant", "content": ""}, system_fingerprint="fp-1"),
        *(delta({"content": text}) for text in texts),
        delta({}, finish),
        sse_event({"choices": [], "usage": usage, "timings": {"prompt_ms": 12.0, "predicted_ms": 34.0}}),
        sse_event(b"[DONE]"),
        LAST_CHUNK,
    )


def ollama_stream(*texts: str, headers: Iterable[str] = ()) -> Script:
    """A whole stream of Ollama's: the texts and an end with counts and durations."""
    end = {
        "model": "gemma3",
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 5,
        "eval_count": len(texts),
        "total_duration": 4_000_000_000,
        "load_duration": 2_000_000_000,
        "prompt_eval_duration": 1_000_000_000,
        "eval_duration": 500_000_000,
    }
    return (
        stream_head("application/x-ndjson", headers),
        *(ndjson_line({"model": "gemma3", "message": {"content": text}, "done": False}) for text in texts),
        ndjson_line(end),
        LAST_CHUNK,
    )
