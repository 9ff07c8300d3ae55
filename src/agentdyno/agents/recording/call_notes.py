"""What is worth knowing about a call that an agent, or the framework that it is made with, may have hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentdyno.model.metric import format_value
from agentdyno.servers.proxy.model_call import ModelCall

TOKEN_LIMITS = ("length", "max_tokens", "max_output_tokens")
"""Finish reasons of an answer that ended because it may have no more tokens."""
NO_END = ("embeddings",)
"""Endpoints whose answers have no finish reason."""


@dataclass(frozen=True, slots=True)
class CallNote:
    """``name`` is one of: truncated, no_finish_reason, broken_body, stream_error, token_limit, rate_limited, failed,
    not_reached, retried."""

    name: str
    text: str


def notes_on(call: ModelCall, *, retried: bool = False, waited_s: float = 0.0) -> tuple[CallNote, ...]:
    """What is to be said about a call; ``retried``: it repeats one that failed, after ``waited_s``."""
    return tuple(_found(call, retried, waited_s))


def _found(call: ModelCall, retried: bool, waited_s: float) -> Iterator[CallNote]:
    if retried or call.retry:
        said = f" (try {call.retry + 1}, as the client says)" if call.retry else ""
        waited = f" after {format_value(waited_s, 's')}" if waited_s else ""
        yield CallNote("retried", f"the request repeats one that failed{waited}{said}")
    if call.ended == "not_reached":
        yield CallNote("not_reached", f"the model could not be reached: {call.problem}")
    elif call.status == 429:
        asked = "" if call.retry_after_s is None else f"; it asks to wait {format_value(call.retry_after_s, 's')}"
        yield CallNote("rate_limited", f"the model's side refused the request (status 429){asked}")
    elif call.status is not None and call.status >= 400:
        yield CallNote("failed", f"status {call.status}: {call.error or 'no message'}")
    elif call.ended in ("reset", "target"):
        how = "was reset" if call.ended == "reset" else "was closed"
        part = "before any of it" if call.status is None else f"after {call.response_bytes:,} bytes"
        yield CallNote("truncated", f"the answer is cut off: the connection {how} {part}")
    elif call.broken:
        yield CallNote("broken_body", f"status {call.status} with a body that is no answer: {call.broken}")
    elif call.error:
        yield CallNote("stream_error", f"status {call.status}, and an error in the answer: {call.error}")
    elif call.finish_reason in TOKEN_LIMITS:
        yield CallNote(
            "token_limit", f"the model stopped at its limit of tokens (finish_reason {call.finish_reason})"
        )
    elif call.ok and call.finish_reason is None and call.api not in NO_END and not call.problem:
        yield CallNote(
            "no_finish_reason",
            "the answer ended without a finish_reason: it may be incomplete, and clients take it for whole",
        )
