"""What the model's server said, in an exception that a framework raises: clients name and wrap them differently.

Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentdyno.contracts import CaseFailed
from agentdyno.model.sample import FailureKind, Status

_DEEPEST = 12
_NOT_REACHED = frozenset(
    {"APIConnectionError", "ConnectError", "ConnectTimeout", "ReadError", "RemoteProtocolError", "WriteError"}
)
"""Classes of openai, anthropic, litellm and httpx for a connection that was not made, or broke."""
_STATUSES = {
    **{"BadRequestError": 400, "AuthenticationError": 401, "PermissionDeniedError": 403, "NotFoundError": 404},
    **{"ContextWindowExceededError": 400, "ContentPolicyViolationError": 400, "UnprocessableEntityError": 422},
    **{"Timeout": 408, "RateLimitError": 429, "InternalServerError": 500, "BadGatewayError": 502},
    "ServiceUnavailableError": 503,
}
"""What the classes of openai, anthropic and litellm stand for, by their name."""


class NamedError(RuntimeError):
    """What a framework tells by the name of an exception that it caught itself."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name
        self.status_code = _STATUSES.get(name)


def model_failure(error: BaseException, message: str, traceback: str | None) -> CaseFailed | None:
    """The failure that an exception of a framework stands for, as that of an endpoint would be told: a refused
    request, a busy server, a prompt too long, a broken connection. ``None`` where no server is behind it."""
    from agentdyno.agents.endpoints.failures import BUSY, CONTEXT, RETRYABLE  # few cases fail

    for one in _causes(error):
        status = _status(one)
        if status is None:
            continue
        if status in (400, 413, 422) and CONTEXT.search(message):
            return CaseFailed(FailureKind.TOKENS, message, status=Status.LIMIT, traceback=traceback)
        return CaseFailed(
            FailureKind.RATE_LIMITED if status in BUSY else FailureKind.HTTP_ERROR,
            message,
            retryable=status in RETRYABLE,
            retry_after_s=_retry_after_s(one) if status in RETRYABLE else None,
            traceback=traceback,
        )
    names = (one.name if isinstance(one, NamedError) else type(one).__name__ for one in _causes(error))
    if not _NOT_REACHED.isdisjoint(names):
        return CaseFailed(FailureKind.RESET, message, retryable=True, traceback=traceback)
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, and what it was raised from or while handling."""
    one: BaseException | None = error
    for _ in range(_DEEPEST):
        if one is None:
            return
        yield one
        one = one.__cause__ or one.__context__


def _status(error: BaseException) -> int | None:
    told = getattr(error, "status_code", None)
    if told is None:
        told = getattr(getattr(error, "response", None), "status_code", None)
    return told if isinstance(told, int) and 400 <= told <= 599 else None


def _retry_after_s(error: BaseException) -> float | None:
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    told = str(headers.get("retry-after", "")) if hasattr(headers, "get") else ""
    return float(told) if told.isascii() and told.isdigit() else None
