"""What happened between an agent and its model that the agent, or its framework, may have kept to itself."""

from __future__ import annotations

from collections.abc import Iterator

from agentdyno.findings.figures.traces import CallFault, RecordedCalls
from agentdyno.model import ArmResult, RunWarning
from agentdyno.model.metric import format_value

_SAID = {
    "proxy.truncated": ("model-truncated", "answers of its model were cut off"),
    "proxy.no_finish_reason": ("model-no-finish-reason", "answers of its model ended without a finish_reason"),
    "proxy.broken": ("model-broken-body", "answers of its model had status 200 and a body that is no answer"),
    "proxy.token_limit": ("model-token-limit", "answers of its model ended at their limit of tokens"),
    "proxy.rate_limited": ("model-rate-limited", "requests were refused by its model's side (status 429)"),
    "proxy.retries": ("model-retries", "requests repeat one that failed"),
}
_REMEDIES = {
    "proxy.truncated": "A client that takes such an answer for whole hides the fault: look at the case.",
    "proxy.no_finish_reason": "Such an answer may be incomplete, and clients take it for whole: look at the case.",
    "proxy.broken": "Clients do not try again then: look at the case, and at the server.",
    "proxy.token_limit": "Raise the limit of tokens, or ask for less.",
    "proxy.rate_limited": "Lower --concurrency, or raise the limit of the key.",
    "proxy.retries": "Their time and tokens are in the agent's figures: look at why the first ones failed.",
}


def call_cautions(arm: ArmResult, seen: RecordedCalls) -> Iterator[RunWarning]:
    """Warnings about what the recording proxy saw, each once per arm."""
    for name, fault in seen.faults.items():
        code, what = _SAID[name]
        text = f"{fault.times:,} of {seen.calls:,} {what}{_where(fault)}"
        if name == "proxy.retries" and seen.waited_s > 0:
            text += f"; {format_value(seen.waited_s, 's')} were spent waiting before them"
        yield RunWarning(code, text, f"{_REMEDIES[name]} `dyno show RUN --case {fault.case_id}`", arm.arm_id)


def _where(fault: CallFault) -> str:
    """The first case, and in how many executions the agent answered all the same."""
    hidden = f", and {fault.answered:,} of its executions gave an answer all the same" if fault.answered else ""
    return f" (first in case {fault.case_id}{hidden})"
