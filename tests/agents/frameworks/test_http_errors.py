"""What a model's server refuses is told in our words, however a framework wraps it."""

from __future__ import annotations

import pytest

from agentdyno.agents.frameworks.http_errors import NamedError, model_failure
from agentdyno.agents.hosting.failures import case_failed
from agentdyno.model.case import Response
from agentdyno.model.sample import FailureKind, Status


class Refused(Exception):
    """As those of openai, anthropic and litellm: with ``status_code``, and the response where there is one."""

    def __init__(self, status: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"Error code: {status}")
        self.status_code = status
        self.response = type("Answer", (), {"status_code": status, "headers": headers or {}})()


class HTTPStatusError(Exception):
    """As that of httpx."""

    def __init__(self, status: int) -> None:
        super().__init__("refused")
        self.response = type("Answer", (), {"status_code": status, "headers": {}})()


class APIConnectionError(Exception):
    pass


def wrapped(cause: Exception) -> Exception:
    try:
        try:
            raise cause
        except Exception as error:
            raise RuntimeError("Error while generating output") from error
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (Refused(429), FailureKind.RATE_LIMITED, True),
        (Refused(503), FailureKind.RATE_LIMITED, True),
        (Refused(500), FailureKind.HTTP_ERROR, True),
        (Refused(401), FailureKind.HTTP_ERROR, False),
        (HTTPStatusError(502), FailureKind.HTTP_ERROR, True),
        (wrapped(Refused(429)), FailureKind.RATE_LIMITED, True),
        (wrapped(APIConnectionError("no route")), FailureKind.RESET, True),
        (NamedError("RateLimitError", "too many"), FailureKind.RATE_LIMITED, True),
        (NamedError("BadRequestError", "no such thing"), FailureKind.HTTP_ERROR, False),
        (NamedError("APIConnectionError", "no route"), FailureKind.RESET, True),
    ],
)
def test_a_refusal_has_the_kind_that_an_endpoint_s_would_have(
    error: Exception, kind: FailureKind, retryable: bool
) -> None:
    found = model_failure(error, str(error), None)
    assert found is not None
    assert (found.kind, found.retryable) == (kind, retryable)


def test_the_server_s_time_to_wait_is_kept_and_a_long_prompt_is_a_limit() -> None:
    limited = model_failure(Refused(429, {"retry-after": "7"}), "busy", None)
    assert limited is not None
    assert limited.retry_after_s == 7
    long = model_failure(Refused(400), "This model's maximum context length is 10 tokens", None)
    assert long is not None
    assert (long.kind, long.status) == (FailureKind.TOKENS, Status.LIMIT)


def test_anything_else_and_what_is_no_framework_s_stays_an_exception() -> None:
    assert model_failure(ValueError("no"), "no", None) is None
    assert model_failure(NamedError("MALFORMED_FUNCTION_CALL", "no"), "no", None) is None
    of_a_framework = Response(observed={"framework": "langgraph 1.2"})
    assert case_failed(Refused(429), of_a_framework).kind is FailureKind.RATE_LIMITED
    assert case_failed(Refused(429), of_a_framework).response is of_a_framework
    assert case_failed(Refused(429), Response()).kind is FailureKind.EXCEPTION
    assert case_failed(ValueError("no"), of_a_framework).kind is FailureKind.EXCEPTION
