"""What could be saved: one rule per opportunity, each with the calls it was seen in, and none without them.

Savings are what would be gained at most, if the rule's cause were gone and nothing else changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agentdyno.findings.profile.judge_spans import ArrangedSpans
from agentdyno.findings.profile.judge_tokens import CallTokens
from agentdyno.findings.profile.model import (
    Effort,
    OptimizationOpportunity,
    ProfiledSpan,
    ProfilePhase,
    TokenAnalysis,
)
from agentdyno.findings.profile.words import IMPROVEMENTS, call_words, case_words, phase_words
from agentdyno.model.case import Event
from agentdyno.model.identity import canonical_json
from agentdyno.model.metric import format_value

WAITED = 0.05
"""Share of the wall time from which waiting (queue, retries) is worth naming."""
IDLE = 0.1
OWN_CODE = 0.2
MOSTLY_REASONING = 0.5
"""Share of the output tokens."""
MOST_EVIDENCE = 3
_PAIRED_WITHIN_S = 1e-3
"""A call and its result are told by two clock readings that follow each other at once."""
_OUTWARD = (ProfilePhase.TOOL, ProfilePhase.RETRIEVAL)


@dataclass(slots=True)
class RuleTotal:
    """What one rule found so far."""

    saving: float = 0.0
    times: int = 0
    evidence: tuple[str, ...] = ()

    def add(self, saving: float, evidence: str) -> None:
        self.saving += saving
        self.times += 1
        if len(self.evidence) < MOST_EVIDENCE:
            self.evidence += (evidence,)


Rules = dict[str, RuleTotal]


@dataclass(frozen=True, slots=True)
class ProfileTotals:
    """Over all executions: seconds by phase on the critical path, wall time, tokens."""

    executions: int
    wall_s: float
    critical_s: Mapping[ProfilePhase, float]
    cpu_known: bool
    tokens: TokenAnalysis
    executor_s: float = 0.0
    """What the bench does around the steps of workflows; not among ``critical_s``."""


def look_at(arranged: ArrangedSpans, events: Sequence[Event], calls: Sequence[CallTokens], found: Rules) -> None:
    """Adds to ``found`` what the rules about single calls see in one execution."""
    outward = _outward_calls(arranged, events)
    where = case_words(arranged.tree)
    for group in _one_after_another(arranged.tree.spans, outward):
        times = [span.duration_s for span in group]
        text = f"{where}: {', '.join(call_words(span) for span in group)} ran one after the other"
        _rule(found, "run_together").add(sum(times) - max(times), text)
    for span, first in _again(outward):
        if span.critical_s > 0:
            text = f"{where}: {call_words(span)} repeats the call at {format_value(first.start_s, 's')}"
            _rule(found, "reuse_results").add(min(span.duration_s, span.critical_s + _below_s(arranged, span)), text)
    for call in calls:
        if call.waste and call.total:
            _rule(found, f"{call.waste}_calls").add(call.total, f"{where}: a call of {call.total:,} tokens")
        uncached = (call.repeated_prefix or 0) - call.usage.get("cached_tokens", 0)
        if uncached > 0:
            _rule(found, "cache_prefix").add(uncached, f"{where}: {uncached:,} tokens were sent again")


def opportunities(found: Rules, totals: ProfileTotals) -> tuple[OptimizationOpportunity, ...]:
    """The largest shares first."""
    listed = [*_of_calls(found, totals), *_of_phases(totals), *_of_reasoning(totals)]
    return tuple(sorted(listed, key=lambda item: -item.estimated_impact))


def _of_calls(found: Rules, totals: ProfileTotals) -> Iterator[OptimizationOpportunity]:
    paid = (totals.tokens.input_tokens or 0) + (totals.tokens.output_tokens or 0)
    bases = {"s": (totals.wall_s, _wall_basis(totals)), "tokens": (float(paid), f"of {paid:,} tokens")}
    asked = totals.tokens.input_tokens or 0
    for rule, total in found.items():
        unit = "s" if rule in ("run_together", "reuse_results") else "tokens"
        basis, words = (float(asked), f"of {asked:,} input tokens") if rule == "cache_prefix" else bases[unit]
        if total.saving > 0 and basis > 0:
            yield _opportunity(rule, total, (basis, words, unit), totals.executions)


def _of_phases(totals: ProfileTotals) -> Iterator[OptimizationOpportunity]:
    limits = {
        ProfilePhase.RETRY_WAIT: ("avoid_retries", WAITED),
        ProfilePhase.QUEUE: ("shorten_queue", WAITED),
        ProfilePhase.IDLE: ("use_idle_time", IDLE),
        ProfilePhase.OWN_CODE: ("speed_up_own_code", OWN_CODE),
    }
    for phase, (rule, least) in limits.items():
        spent_s = totals.critical_s.get(phase, 0.0)
        if totals.wall_s <= 0 or spent_s < least * totals.wall_s:
            continue
        each = format_value(spent_s / totals.executions, "s")
        text = f"{phase_words(phase)} takes {each} of the critical path of an execution"
        if phase is ProfilePhase.OWN_CODE and not totals.cpu_known:
            text += "; CPU time was not measured, so some of it may be waiting"
        total = RuleTotal(spent_s, 1, (text,))
        yield _opportunity(rule, total, (totals.wall_s, _wall_basis(totals), "s"), totals.executions)
    if totals.wall_s > 0 and totals.executor_s >= OWN_CODE * totals.wall_s:
        each = format_value(totals.executor_s / totals.executions, "s")
        total = RuleTotal(totals.executor_s, 1, (f"making cells for steps takes {each} of the critical path",))
        yield _opportunity("fewer_steps", total, (totals.wall_s, _wall_basis(totals), "s"), totals.executions)


def _of_reasoning(totals: ProfileTotals) -> Iterator[OptimizationOpportunity]:
    thought, written = totals.tokens.reasoning_tokens, totals.tokens.output_tokens
    if thought and written and thought >= MOSTLY_REASONING * written:
        total = RuleTotal(float(thought), 1, (f"{thought:,} of {written:,} output tokens were reasoning",))
        basis = (float(written), f"of {written:,} output tokens", "tokens")
        yield _opportunity("less_reasoning", total, basis, totals.executions)


def _wall_basis(totals: ProfileTotals) -> str:
    return f"of {format_value(totals.wall_s, 's')} wall time of {totals.executions:,} executions"


def _opportunity(
    rule: str, total: RuleTotal, basis: tuple[float, str, str], executions: int
) -> OptimizationOpportunity:
    category, improvement, effort = IMPROVEMENTS[rule]
    whole, words, unit = basis
    more = total.times - len(total.evidence)
    evidence = total.evidence + ((f"and {more:,} more",) if more > 0 else ())
    saving = total.saving / executions
    return OptimizationOpportunity(
        category, improvement, min(1.0, total.saving / whole), Effort(effort), rule, saving, unit, words, evidence
    )


def _rule(found: Rules, name: str) -> RuleTotal:
    return found.setdefault(name, RuleTotal())


def _outward_calls(arranged: ArrangedSpans, events: Sequence[Event]) -> list[tuple[ProfiledSpan, object]]:
    """Tool and retrieval calls with their arguments, ``None`` where these are not known.

    Where a call and its result are two events, the call has the arguments and the result the time.
    """
    asked: dict[str, list[Event]] = {}
    for event in events:
        if event.kind == "tool_call" and event.duration_s is None:
            asked.setdefault(event.name, []).append(event)
    found = []
    for span, event in zip(arranged.tree.spans, arranged.events, strict=True):
        # Steps of a workflow have told what they need, and begin as soon as that is there.
        if event.kind == "step" or span.phase not in _OUTWARD:
            continue
        if span.parent is not None and _same_call(arranged, span):
            continue
        arguments = event.content
        if event.kind == "tool_result":
            near = [one for one in asked.get(event.name, ()) if one.at_s <= event.at_s + _PAIRED_WITHIN_S]
            call = max(near, key=lambda one: one.at_s) if near else None
            if call is not None:
                asked[event.name].remove(call)
            arguments = None if call is None else call.content
        found.append((span, arguments))
    return sorted(found, key=lambda item: item[0].start_s)


def _same_call(arranged: ArrangedSpans, span: ProfiledSpan) -> bool:
    """Whether the span around it is the same call, told a second time as its result."""
    around = arranged.tree.spans[span.parent or 0]
    return span.kind == "tool_result" and around.kind == "tool_call" and around.name == span.name


def _one_after_another(
    spans: Sequence[ProfiledSpan], outward: Sequence[tuple[ProfiledSpan, object]]
) -> Iterator[list[ProfiledSpan]]:
    """Groups of different calls with one parent, without a model call or a wait between them, and not at once."""
    breaks = [
        (span.start_s, span.parent)
        for span in spans
        if span.phase in (ProfilePhase.MODEL, ProfilePhase.RETRY_WAIT, ProfilePhase.QUEUE)
    ]
    by_parent: dict[int | None, list[tuple[ProfiledSpan, object]]] = {}
    for item in outward:
        by_parent.setdefault(item[0].parent, []).append(item)
    for parent, items in by_parent.items():
        group: list[tuple[ProfiledSpan, object]] = []
        for span, arguments in items:
            if group and not _goes_on(group, span, arguments, [at for at, owner in breaks if owner == parent]):
                yield from _worth(group)
                group = []
            group.append((span, arguments))
        yield from _worth(group)


def _goes_on(
    group: Sequence[tuple[ProfiledSpan, object]], span: ProfiledSpan, arguments: object, breaks: Sequence[float]
) -> bool:
    last = group[-1][0]
    if span.start_s < last.end_s or any(last.end_s <= at_s <= span.start_s for at_s in breaks):
        return False
    return all(one.name != span.name or _key(told) != _key(arguments) for one, told in group)


def _worth(group: Sequence[tuple[ProfiledSpan, object]]) -> Iterator[list[ProfiledSpan]]:
    spans = [span for span, _ in group if span.duration_s > 0]
    if len(spans) > 1:
        yield spans


def _again(outward: Sequence[tuple[ProfiledSpan, object]]) -> Iterator[tuple[ProfiledSpan, ProfiledSpan]]:
    """Calls whose arguments are known and equal those of an earlier one that did not fail, and that one."""
    first: dict[tuple[str, str], ProfiledSpan] = {}
    for span, arguments in outward:
        if arguments is None or span.failed:
            continue
        key = (span.name, _key(arguments))
        if key in first and first[key].end_s <= span.start_s:
            yield span, first[key]
        first.setdefault(key, span)


def _key(arguments: object) -> str:
    return "" if arguments is None else canonical_json(arguments)


def _below_s(arranged: ArrangedSpans, span: ProfiledSpan) -> float:
    """Seconds on the critical path of the spans below one."""
    own = {span.index}
    total_s = 0.0
    for other in arranged.tree.spans[span.index + 1 :]:
        if other.parent in own:
            own.add(other.index)
            total_s += other.critical_s
    return total_s
