"""What an endpoint's refusals and broken connections mean for a case: whether to try again, and what to do."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from agentdyno.contracts import CaseFailed
from agentdyno.errors import nearest
from agentdyno.model.case import Response
from agentdyno.model.sample import FailureKind, Status
from agentdyno.wire.errors import ConnectError, Reset, TooLarge, Truncated, Unsendable, WireError
from agentdyno.wire.exchange import Exchange
from agentdyno.wire.head import Headers
from agentdyno.wire.openai import error_message

RETRYABLE = frozenset({408, 429, 500, 502, 503, 504})
BUSY = frozenset({429, 503})
_SHOWN = 500
CONTEXT = re.compile(
    r"context[ _-]*(length|size|window)|maximum context|too many (input )?tokens|exceeds? .{0,40}context",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|(no such|unknown|invalid) model|model\b.{0,200}(not (be )?found|not exist|unknown)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class EndpointCaller:
    """Who called: ``key`` is only held to keep it out of messages; ``reached`` where a call has succeeded before."""

    model: str = ""
    key_env: str | None = None
    key: str = field(default="", repr=False)
    reached: bool = False
    now: Callable[[], float] = time.time

    def hide(self, text: str) -> str:
        """Some servers repeat the key that they refuse."""
        return text.replace(self.key, "…") if self.key else text


def wire_failure(error: WireError, caller: EndpointCaller, response: Response | None = None) -> CaseFailed:
    """What a broken exchange means. ``response`` is what had arrived."""
    message = caller.hide(f"{error.endpoint}: {error.message}" if error.endpoint else error.message)
    if isinstance(error, ConnectError):
        # Where nothing has ever answered, the address is wrong or the server is not running: it meets every case.
        return CaseFailed(
            FailureKind.RESET,
            message,
            retryable=caller.reached,
            fatal=not caller.reached,
            remedy=error.remedy or ""
            if caller.reached
            else error.remedy or "Is the server running, is the URL right?",
            response=response,
        )
    if isinstance(error, Unsendable):
        return CaseFailed(FailureKind.SERIALISATION, message, remedy=error.remedy or "", response=response)
    if isinstance(error, Reset):
        return CaseFailed(FailureKind.RESET, message, retryable=True, response=response)
    if isinstance(error, Truncated):
        return CaseFailed(FailureKind.TRUNCATED, message, retryable=True, response=response)
    if isinstance(error, TooLarge):
        return CaseFailed(FailureKind.OUTPUT, message, status=Status.LIMIT, response=response)
    return CaseFailed(FailureKind.STREAM_ERROR, message, response=response)


def status_failure(
    answer: Exchange, caller: EndpointCaller, *, known_models: tuple[str, ...] = (), remedy: str = ""
) -> CaseFailed:
    """What a status other than 2xx means. ``remedy`` replaces the one for a model that does not exist."""
    said = caller.hide(said_by(answer))
    status = answer.status
    message = f"{answer.endpoint} answered {status} {answer.reason}".rstrip() + (f": {said}" if said else "")
    if status in (401, 403):
        return CaseFailed(FailureKind.HTTP_ERROR, message, fatal=True, remedy=_key_remedy(caller))
    if is_about_model(answer):
        return CaseFailed(
            FailureKind.HTTP_ERROR,
            f"no model {caller.model} at {answer.endpoint}" + (f": {said}" if said else ""),
            fatal=True,
            remedy=remedy or (nearest(caller.model, known_models) if known_models else "Is the model's name right?"),
        )
    if status in RETRYABLE:
        return CaseFailed(
            FailureKind.RATE_LIMITED if status in BUSY else FailureKind.HTTP_ERROR,
            message,
            retryable=True,
            retry_after_s=retry_after_s(answer.headers, caller.now),
        )
    if status in (400, 413, 422) and CONTEXT.search(said):
        return CaseFailed(FailureKind.TOKENS, message, status=Status.LIMIT)
    if 300 <= status < 400:
        where = (answer.headers.get("location") or "elsewhere").partition("?")[0]
        return CaseFailed(
            FailureKind.HTTP_ERROR, message, fatal=not caller.reached, remedy=f"It has moved: use {where} as the URL."
        )
    lost = status in (404, 405) and not caller.reached
    return CaseFailed(
        FailureKind.HTTP_ERROR,
        message,
        fatal=lost,
        remedy="Is the path of the URL right? The base of OpenAI-compatible servers mostly ends in /v1."
        if lost
        else "",
    )


def is_about_model(answer: Exchange) -> bool:
    """Whether the refusal says that there is no such model."""
    text = answer.body.data[:10_000].decode("utf-8", "replace")
    if answer.status == 404:
        return "model" in said_by(answer).lower() or "model_not_found" in text
    return answer.status in (400, 422) and _NO_MODEL.search(text) is not None


def said_by(answer: Exchange) -> str:
    """The message in the body of a refusal, or the beginning of the body."""
    text = answer.body.data[:20_000].decode("utf-8", "replace").strip()
    try:
        message = error_message(json.loads(text))
    except (ValueError, RecursionError):
        message = ""
    if not message and answer.content_type == "text/html":
        return ""
    return (message or text)[:_SHOWN]


def retry_after_s(headers: Headers, now: Callable[[], float] = time.time) -> float | None:
    """Seconds that the other side asks to wait: a number, or a date beside its own."""
    milliseconds = headers.get("retry-after-ms") or ""
    if milliseconds.isdigit():
        return int(milliseconds) / 1e3
    text = (headers.get("retry-after") or "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", text):
        return float(text)
    until = _seconds(text)
    if until is None:
        return None
    # The other side's clock may differ from ours: its own date is the reference where it gives one.
    since = _seconds(headers.get("date") or "")
    return max(0.0, until - (now() if since is None else since))


def _seconds(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, OverflowError):
        return None


def _key_remedy(caller: EndpointCaller) -> str:
    if caller.key_env is None:
        return "It wants a key: name the environment variable that holds it (api_key_env)."
    if not caller.key:
        return f"Set {caller.key_env} to a key for this endpoint."
    return f"Check the key in {caller.key_env}."
