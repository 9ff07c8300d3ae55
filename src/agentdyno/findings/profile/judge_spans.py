"""Events of one execution as a tree of spans: who belongs to whom, and each span's part of the wall time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentdyno.findings.profile.judge_path import critical_path
from agentdyno.findings.profile.model import ProfiledExecution, ProfiledSpan, ProfilePhase, SpanTree
from agentdyno.model.case import Event

PHASES = {
    "model_call": ProfilePhase.MODEL,
    "tool_call": ProfilePhase.TOOL,
    "tool_result": ProfilePhase.TOOL,
    "retrieval": ProfilePhase.RETRIEVAL,
    "queue": ProfilePhase.QUEUE,
    "wait": ProfilePhase.RETRY_WAIT,
    "retry": ProfilePhase.RETRY_WAIT,
}
"""What an event's kind says of its phase; any other kind is the agent's own code."""
_FAILED_STATUS = 400


@dataclass(slots=True)
class OpenSpan:
    """A span while the tree is made; ``parent`` is -1 at the top."""

    event: Event
    start_s: float
    end_s: float
    parent: int = -1
    depth: int = 0
    children: list[int] = field(default_factory=list)
    open_below: int = 0


@dataclass(frozen=True, slots=True)
class ArrangedSpans:
    """A tree, and the event behind each of its spans, in the same order."""

    tree: SpanTree
    events: tuple[Event, ...]


def arrange(execution: ProfiledExecution) -> ArrangedSpans:
    """The spans of an execution with their self times and their parts of the critical path.

    The wall time is what the bench measured, or longer where spans end later.
    """
    spans, unreadable = _spans(execution.events)
    latest_s = max((span.end_s for span in spans), default=0.0)
    measured_s = execution.wall_s if _is_time(execution.wall_s) else None
    wall_s = latest_s if measured_s is None else max(measured_s, latest_s)
    _find_parents(spans)
    order = _parents_first(spans)
    outside_s, self_s, busy_s = _self_times(spans, wall_s)
    critical_s = critical_path(
        [(span.start_s, span.end_s) for span in spans], [span.parent for span in spans], wall_s
    )
    place = {index: position for position, index in enumerate(order)}
    shown = tuple(
        _shown(spans[index], place, (self_s[index], busy_s[index], critical_s[index]), position)
        for position, index in enumerate(order)
    )
    tree = SpanTree(
        execution.case_id,
        execution.benchmark,
        execution.iteration,
        wall_s,
        shown,
        outside_s,
        critical_s[-1],
        unreadable,
        execution.traced,
        measured_s,
    )
    return ArrangedSpans(tree, tuple(spans[index].event for index in order))


def has_spans(events: Sequence[Event]) -> bool:
    """Whether any event took time that is known."""
    return any(_is_time(event.duration_s) for event in events)


def phase_of(event: Event) -> ProfilePhase:
    """The phase that an event names in ``details["phase"]``, else the one of its kind."""
    named = event.details.get("phase")
    if isinstance(named, str) and named in set(ProfilePhase):
        return ProfilePhase(named)
    return PHASES.get(event.kind, ProfilePhase.OWN_CODE)


def token_counts(event: Event) -> Mapping[str, int]:
    """The tokens that a model call told, by name; empty where it told none."""
    usage = event.details.get("usage")
    if not isinstance(usage, Mapping):
        return {}
    return {
        str(name): int(value)
        for name, value in usage.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    }


def failed(event: Event) -> bool | None:
    """Whether a call failed; ``None`` where nothing tells."""
    status, error = event.details.get("status"), event.details.get("error")
    if error:
        return True
    if isinstance(status, int) and not isinstance(status, bool):
        return status >= _FAILED_STATUS or status <= 0
    if isinstance(status, str) and status.lower() in ("error", "failed", "timeout", "reset", "aborted"):
        return True
    return False if status is not None else None


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _spans(events: Sequence[Event]) -> tuple[list[OpenSpan], int]:
    """The events that are spans, in the order of their starts, longer ones first; and how many make no sense."""
    found, unreadable = [], 0
    for event in events:
        if event.duration_s is None:
            continue
        if not _is_time(event.duration_s) or not isinstance(event.at_s, int | float) or not math.isfinite(event.at_s):
            unreadable += 1
            continue
        start_s = max(0.0, event.at_s)
        found.append(OpenSpan(event, start_s, max(start_s, event.at_s + event.duration_s)))
    found.sort(key=lambda span: (span.start_s, -span.end_s))
    return found, unreadable


def _find_parents(spans: list[OpenSpan]) -> None:
    """By the ids that events tell; else the shortest span that contains it in time."""
    ids: dict[str, int] = {}
    for index, span in enumerate(spans):
        own = span.event.details.get("span")
        if own is not None:
            ids.setdefault(str(own), index)
    told = []
    for index, span in enumerate(spans):
        parent = span.event.details.get("parent")
        known = ids.get(str(parent)) if parent is not None else None
        if known is not None and not _is_below(spans, known, index):
            span.parent = known
        else:
            told.append(index)
    enclosing: list[int] = []
    pending = set(told)
    for index, span in enumerate(spans):
        # Spans that have ended contain nothing that starts now; a span that starts later and is open is the shorter.
        enclosing = [other for other in enclosing if spans[other].end_s > span.start_s]
        if index in pending:
            fitting = [
                other
                for other in enclosing
                if spans[other].end_s >= span.end_s and not _is_below(spans, other, index)
            ]
            if fitting:
                span.parent = min(fitting, key=lambda other: (spans[other].end_s - spans[other].start_s, -other))
        enclosing.append(index)
    for index, span in enumerate(spans):
        if span.parent >= 0:
            spans[span.parent].children.append(index)


def _is_below(spans: Sequence[OpenSpan], index: int, ancestor: int) -> bool:
    while index >= 0:
        if index == ancestor:
            return True
        index = spans[index].parent
    return False


def _top(spans: Sequence[OpenSpan]) -> list[int]:
    return [index for index, span in enumerate(spans) if span.parent < 0]


def _parents_first(spans: list[OpenSpan]) -> list[int]:
    order: list[int] = []
    stack = list(reversed(_top(spans)))
    while stack:
        index = stack.pop()
        span = spans[index]
        span.depth = 0 if span.parent < 0 else spans[span.parent].depth + 1
        order.append(index)
        stack += reversed(span.children)
    return order


def _self_times(spans: list[OpenSpan], wall_s: float) -> tuple[float, list[float], list[float]]:
    """Seconds outside all spans; each span's part of the wall time; each span's time as an innermost one."""
    shared, busy = [0.0] * len(spans), [0.0] * len(spans)
    moments: list[tuple[float, int, int]] = []  # at one moment, spans end before others begin
    for index, span in enumerate(spans):
        if span.end_s > span.start_s:
            moments += [(span.start_s, 1, index), (span.end_s, 0, index)]
    moments.sort()
    outside_s, before_s = 0.0, 0.0
    is_open: set[int] = set()
    innermost: set[int] = set()
    for at_s, begins, index in [*moments, (wall_s, 0, -1)]:
        lasted_s = at_s - before_s
        if lasted_s > 0:
            for other in innermost:
                shared[other] += lasted_s / len(innermost)
                busy[other] += lasted_s
            if not innermost:
                outside_s += lasted_s
            before_s = at_s
        if index >= 0:
            _enter_or_leave(spans, index, bool(begins), is_open, innermost)
    return outside_s, shared, busy


def _enter_or_leave(spans: list[OpenSpan], index: int, begins: bool, is_open: set[int], innermost: set[int]) -> None:
    if begins:
        is_open.add(index)
        if spans[index].open_below == 0:
            innermost.add(index)
    else:
        is_open.discard(index)
        innermost.discard(index)
    above = spans[index].parent
    while above >= 0:
        spans[above].open_below += 1 if begins else -1
        if spans[above].open_below == 0 and above in is_open:
            innermost.add(above)
        else:
            innermost.discard(above)
        above = spans[above].parent


def _shown(
    span: OpenSpan, place: Mapping[int, int], times: tuple[float, float, float], position: int
) -> ProfiledSpan:
    tokens = token_counts(span.event)
    return ProfiledSpan(
        index=position,
        parent=None if span.parent < 0 else place[span.parent],
        depth=span.depth,
        phase=phase_of(span.event),
        kind=span.event.kind,
        name=span.event.name,
        start_s=span.start_s,
        end_s=span.end_s,
        self_s=times[0],
        busy_s=times[1],
        critical_s=times[2],
        input_tokens=tokens.get("input_tokens"),
        output_tokens=tokens.get("output_tokens"),
        failed=failed(span.event),
    )
