"""A call to an agent that has ended, as a row."""

from __future__ import annotations

from dataclasses import dataclass

from agentdyno.contracts import CaseFailed
from agentdyno.load.windows.records import OUTCOME_CODES, TOKEN_SOURCE_CODES, UNKNOWN, UNKNOWN_SOURCE, UNSENT
from agentdyno.model.case import Response
from agentdyno.model.load import Outcome, TokenSource
from agentdyno.model.sample import FailureKind, Status
from agentdyno.wire.errors import ConnectError

_NS_PER_S = 1e9
_MOST = 2**31 - 1
_OUTCOMES = {
    FailureKind.HTTP_ERROR: Outcome.HTTP_ERROR,
    FailureKind.TRUNCATED: Outcome.TRUNCATED,
    FailureKind.RESET: Outcome.RESET,
    FailureKind.RATE_LIMITED: Outcome.RATE_LIMITED,
    FailureKind.TIMEOUT: Outcome.TIMEOUT,
}


@dataclass(frozen=True, slots=True)
class EndedCall:
    """When a call was due, sent and done, in nanoseconds since the step's start (-1: never), and which it was."""

    due_ns: int
    sent_ns: int
    done_ns: int
    request: int
    stage: int
    blocked: bool


def failed_outcome(failure: CaseFailed) -> Outcome:
    """Under which outcome a failure that an agent names is counted.

    What has no outcome of its own (an exception, an exit status, a limit of memory or output) is a ``stream_error``:
    an answer began and was none. Where no connection came about it is an ``http_error``, as it is over the wire.
    """
    if isinstance(failure.__cause__, ConnectError):
        return Outcome.HTTP_ERROR
    if failure.status is Status.TIMEOUT:
        return Outcome.TIMEOUT
    return _OUTCOMES.get(failure.kind, Outcome.STREAM_ERROR)


def record_row(ended: EndedCall, outcome: Outcome | None, response: Response | None) -> tuple[int, ...]:
    """The values of a row in the order of ``RECORD``; ``outcome`` is ``None`` where the call was never made.

    The first content is where the agent says it was (``ttft_s``); gaps between chunks nobody has seen.
    """
    entered = left = first = UNKNOWN
    source = UNKNOWN_SOURCE
    if response is not None:
        ttft_s = response.readings.get("ttft_s")
        if ttft_s is not None and 0.0 <= ttft_s * _NS_PER_S <= ended.done_ns - ended.sent_ns:
            first = ended.sent_ns + round(ttft_s * _NS_PER_S)
        if response.usage is not None:
            entered = min(max(response.usage.input_tokens, 0), _MOST)
            left = min(max(response.usage.output_tokens, 0), _MOST)
            source = TOKEN_SOURCE_CODES[TokenSource.USAGE]
    code = UNSENT if outcome is None else OUTCOME_CODES[outcome]
    return (
        *(ended.due_ns, ended.sent_ns, UNKNOWN, first, UNKNOWN, ended.done_ns),
        *(0, ended.request % _MOST, entered, left, 0, 0),
        *(ended.stage, 0, code, source, 0, int(ended.blocked), 0),
    )
