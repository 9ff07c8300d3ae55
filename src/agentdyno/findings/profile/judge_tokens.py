"""Tokens of model calls: what came from the cache, what was sent again and again, what was paid for nothing.

Read from ``details`` of a ``model_call``, where they are there: ``usage`` (``input_tokens``, ``output_tokens``,
``cached_tokens``, ``reasoning_tokens``), ``finish_reason``, ``status`` and ``error``, ``used`` (false: the answer
went nowhere), ``prompt_hash`` (of the whole prompt), ``prefix_hash`` with ``prefix_tokens``, or with
``prefix_bytes`` and ``request_bytes``; of calls that a proxy recorded ``prefixes`` (hash and bytes up to each part of
the prompt) and ``retry_of`` (the span that this call tries again). A call that was recorded and reported counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentdyno.findings.profile.judge_spans import failed, token_counts
from agentdyno.findings.profile.model import TokenAnalysis
from agentdyno.model.case import Event, counted_calls

TRUNCATED = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete", "model_length"})
"""What providers write as the reason where an answer ended at the limit of tokens."""
_USED_UP = ("unused", "retried", "truncated")


@dataclass(frozen=True, slots=True)
class CallTokens:
    """One model call; ``waste`` is why its tokens are counted as wasted, "" where they are not.

    ``repeated_prefix`` is ``None`` where the call does not tell its prefix.
    """

    usage: Mapping[str, int]
    waste: str = ""
    repeated_prefix: int | None = None

    @property
    def total(self) -> int:
        return self.usage.get("input_tokens", 0) + self.usage.get("output_tokens", 0)


def call_tokens(events: Iterable[Event]) -> list[CallTokens]:
    """The model calls of one execution, in the order of their starts."""
    calls = sorted(counted_calls(tuple(events)), key=lambda event: event.at_s)
    seen: dict[str, int] = {}
    found = []
    for place, call in enumerate(calls):
        usage = token_counts(call)
        found.append(CallTokens(usage, _waste(call, calls[place + 1 :]), _repeated(call, usage, seen)))
    return found


def analyse_tokens(calls: Sequence[CallTokens], told: Mapping[str, float]) -> TokenAnalysis:
    """Totals of all model calls. Where none told its usage, ``told`` are the totals that executions told."""
    known = [call for call in calls if call.usage]
    if not known:
        return TokenAnalysis(
            input_tokens=_whole(told, "input_tokens"),
            output_tokens=_whole(told, "output_tokens"),
            cached_tokens=_whole(told, "cached_tokens"),
            reasoning_tokens=_whole(told, "reasoning_tokens"),
            calls=len(calls),
        )
    wasted = {reason: sum(call.total for call in known if call.waste == reason) for reason in _USED_UP}
    lost, paid = sum(wasted.values()), sum(call.total for call in known)
    repeated = [call.repeated_prefix for call in calls if call.repeated_prefix is not None]
    cached = _sum(known, "cached_tokens")
    return TokenAnalysis(
        input_tokens=_sum(known, "input_tokens"),
        output_tokens=_sum(known, "output_tokens"),
        cache_hits=None if cached is None else sum(1 for call in known if call.usage.get("cached_tokens")),
        wasted_tokens=lost,
        token_efficiency=1.0 - lost / paid if paid else None,
        cached_tokens=cached,
        reasoning_tokens=_sum(known, "reasoning_tokens"),
        repeated_prefix_tokens=sum(repeated) if repeated else None,
        unused_tokens=wasted["unused"],
        retried_tokens=wasted["retried"],
        truncated_tokens=wasted["truncated"],
        calls=len(calls),
        calls_with_usage=len(known),
    )


def _sum(calls: Sequence[CallTokens], name: str) -> int | None:
    told = [call.usage[name] for call in calls if name in call.usage]
    return sum(told) if told else None


def _whole(told: Mapping[str, float], name: str) -> int | None:
    return int(told[name]) if name in told else None


def _waste(call: Event, later: Sequence[Event]) -> str:
    details = call.details
    if failed(call) or details.get("used") is False:
        return "unused"
    prompt = details.get("prompt_hash")
    if prompt is not None and any(other.details.get("prompt_hash") == prompt for other in later):
        return "retried"
    span = details.get("span")
    if span is not None and any(other.details.get("retry_of") == span for other in later):
        return "retried"
    return "truncated" if str(details.get("finish_reason", "")).lower() in TRUNCATED else ""


def _repeated(call: Event, usage: Mapping[str, int], seen: dict[str, int]) -> int | None:
    """Tokens of the prefix where an earlier call began with it, 0 where none did."""
    parts = _parts(call.details.get("prefixes"))
    if parts:
        again = max((size for prefix, size in parts if prefix in seen), default=0)
        seen.update(parts)
        tokens, whole = usage.get("input_tokens"), max(size for _, size in parts)
        return None if tokens is None or whole <= 0 else round(tokens * again / whole)
    prefix = call.details.get("prefix_hash")
    size = _prefix_tokens(call.details, usage)
    if not isinstance(prefix, str) or size is None:
        return None
    again = prefix in seen
    seen.setdefault(prefix, size)
    return size if again else 0


def _parts(told: object) -> list[tuple[str, int]]:
    """Hash and bytes of the prompt up to each of its parts, as far as they can be read."""
    rows = told if isinstance(told, list | tuple) else ()
    pairs = [row for row in rows if isinstance(row, list | tuple) and len(row) == 2]
    return [(prefix, size) for prefix, size in pairs if isinstance(prefix, str) and isinstance(size, int)]


def _prefix_tokens(details: Mapping[str, object], usage: Mapping[str, int]) -> int | None:
    told = details.get("prefix_tokens")
    if isinstance(told, int) and told >= 0:
        return told
    part, whole, tokens = details.get("prefix_bytes"), details.get("request_bytes"), usage.get("input_tokens")
    if not isinstance(part, int) or not isinstance(whole, int) or whole <= 0 or tokens is None:
        return None
    return round(tokens * min(1.0, max(0, part) / whole))
