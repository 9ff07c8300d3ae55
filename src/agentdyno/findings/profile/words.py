"""A profile in sentences: what phases and calls are called, why something takes long, what to do about it."""

from __future__ import annotations

from agentdyno.findings.profile.model import ProfiledSpan, ProfilePhase, SpanTree
from agentdyno.model.case import EXECUTOR_SPAN
from agentdyno.model.metric import format_value

PHASE_WORDS = {
    ProfilePhase.MODEL: "model",
    ProfilePhase.TOOL: "tools",
    ProfilePhase.RETRIEVAL: "retrieval",
    ProfilePhase.OWN_CODE: "own code",
    ProfilePhase.QUEUE: "queue",
    ProfilePhase.RETRY_WAIT: "wait before a retry",
    ProfilePhase.IDLE: "idle",
}
OUTSIDE = "outside all spans"
IMPROVEMENTS = {
    "run_together": ("latency", "Run calls at once that do not need each other's results.", "medium"),
    "reuse_results": ("latency", "Keep the result of a call within a case instead of making the call again.", "low"),
    "cache_prefix": ("tokens", "Let the provider cache the part of the prompt that every call repeats.", "low"),
    "unused_calls": (
        "tokens",
        "Avoid model calls whose result is not used: failed, broken off, or ignored.",
        "medium",
    ),
    "retried_calls": ("tokens", "Find out why the same prompt is sent again, and mend that.", "medium"),
    "truncated_calls": ("tokens", "Raise the limit of output tokens, or ask for shorter answers.", "low"),
    "avoid_retries": ("latency", "Stay below the rate limit, or wait less before another try.", "low"),
    "shorten_queue": ("latency", "Give the queue more workers, or send fewer calls at once.", "medium"),
    "use_idle_time": ("latency", "Find what is waited for outside all calls: it has no span yet.", "medium"),
    "speed_up_own_code": ("compute", "Profile the agent's own code: it computes while no call is under way.", "high"),
    "fewer_steps": ("latency", "Plan fewer and longer steps, or more of them at once (parallel).", "medium"),
    "less_reasoning": ("tokens", "Ask the model for less reasoning where answers stay right.", "low"),
}
"""By rule: category, what to do, effort."""
_CAUSES = {
    ProfilePhase.MODEL: "the model's answers are waited for",
    ProfilePhase.TOOL: "the tool's results are waited for",
    ProfilePhase.RETRIEVAL: "documents are waited for",
    ProfilePhase.OWN_CODE: "no call that is known of is under way: own code runs, or something is waited for",
    ProfilePhase.QUEUE: "work waits for its turn",
    ProfilePhase.RETRY_WAIT: "a call failed, and the next try is waited for",
    ProfilePhase.IDLE: "nothing that is known of goes on",
}
_EXECUTOR = (
    "no step runs: cells are made for steps, and their files copied and read back",
    IMPROVEMENTS["fewer_steps"][1],
)
_SUGGESTIONS = {
    ProfilePhase.MODEL: "Fewer or shorter model calls, a faster model, or a cached prompt prefix.",
    ProfilePhase.TOOL: "Make the tool faster, call it less often, or at once with others.",
    ProfilePhase.RETRIEVAL: "Fetch fewer documents, keep results, or use a faster index.",
    ProfilePhase.OWN_CODE: "Profile this code with dyno run FILE --instrument cprofile.",
    ProfilePhase.QUEUE: "Add workers, or send fewer calls at once.",
    ProfilePhase.RETRY_WAIT: "Find out why calls fail; send them more slowly where a rate limit refuses them.",
    ProfilePhase.IDLE: "Record what is waited for as a span of its own.",
}


def phase_words(phase: ProfilePhase) -> str:
    return PHASE_WORDS[phase]


def call_words(span: ProfiledSpan) -> str:
    """``search (30 ms)``."""
    return f"{span.name or PHASE_WORDS[span.phase]} ({format_value(span.duration_s, 's')})"


def case_words(tree: SpanTree) -> str:
    """``case refund-04, epoch 2``."""
    return f"case {tree.case_id}, epoch {tree.iteration + 1}"


def location_words(phase: ProfilePhase, name: str) -> str:
    """``model gpt-x``, ``tools search``, ``own code outside all spans``."""
    return f"{PHASE_WORDS[phase]} {name}".strip()


def cause_words(phase: ProfilePhase, name: str = "") -> str:
    """Why time is spent in a phase, at the place ``name``."""
    return _EXECUTOR[0] if is_executor(phase, name) else _CAUSES[phase]


def suggestion_words(phase: ProfilePhase, name: str = "") -> str:
    """What to do about the time that is spent in a phase, at the place ``name``."""
    return _EXECUTOR[1] if is_executor(phase, name) else _SUGGESTIONS[phase]


def is_executor(phase: ProfilePhase, name: str) -> bool:
    """Whether it is what the bench does around the steps of a workflow."""
    return phase is ProfilePhase.OWN_CODE and name.startswith(EXECUTOR_SPAN)


def calls_words(calls: int, executions: int, mean_s: float) -> str:
    """``12 times in 4 executions, 52 ms each``."""
    times = "once" if calls == 1 else f"{calls:,} times"
    return f"{times} in {executions:,} execution{'' if executions == 1 else 's'}, {format_value(mean_s, 's')} each"


def worst_words(tree: SpanTree, span: ProfiledSpan) -> str:
    return f"longest {format_value(span.duration_s, 's')}, in {case_words(tree)}"
