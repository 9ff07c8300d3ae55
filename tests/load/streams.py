"""Answers of model servers as bytes, made by hand."""

from __future__ import annotations

import json

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
NDJSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
DONE = b"data: [DONE]\n\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"


def delta(change: object, finish: str | None = None, ident: str = "chatcmpl-7", **more: object) -> bytes:
    """One ``chat.completion.chunk``."""
    choice = {"index": 0, "delta": change, "finish_reason": finish}
    return event({"id": ident, "choices": [choice], **more})


def usage(entered: int, left: int, ident: str = "chatcmpl-7") -> bytes:
    counted = {"prompt_tokens": entered, "completion_tokens": left, "total_tokens": entered + left}
    return event({"id": ident, "choices": [], "usage": counted})


def tokens(*texts: str, ident: str = "chatcmpl-7") -> list[bytes]:
    return [delta({"content": text}, ident=ident) for text in texts]


def chat(*texts: str, ident: str = "chatcmpl-7", counted: int | None = None) -> list[bytes]:
    """The events of a whole answer: role, tokens, finish reason, usage, end mark."""
    events = [delta({"role": "assistant", "content": ""}, ident=ident), *tokens(*texts, ident=ident)]
    events.append(delta({}, "stop", ident=ident))
    if counted is not None:
        events.append(usage(8, counted, ident=ident))
    return [*events, DONE]


def chunked(events: list[bytes], head: bytes = HEAD) -> bytes:
    """One chunk for each event."""
    return head + b"".join(chunk(data) for data in events) + LAST


def whole(body: bytes, head: str = "HTTP/1.1 200 OK\r\ncontent-type: application/json") -> bytes:
    return head.encode() + b"\r\ncontent-length: %d\r\n\r\n" % len(body) + body


def ollama(*texts: str, counted: int | None = 3) -> bytes:
    lines: list[object] = [
        {"model": "m", "created_at": f"t{n}", "message": {"role": "assistant", "content": text}, "done": False}
        for n, text in enumerate(texts)
    ]
    end: dict[str, object] = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True}
    if counted is not None:
        end |= {"prompt_eval_count": 4, "eval_count": counted}
    return chunked([json.dumps(line).encode() + b"\n" for line in [*lines, end]], NDJSON)
