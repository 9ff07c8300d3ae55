"""Executions to a profile, one at a time: a few numbers are kept of each, and its events are not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agentdyno.findings.profile.judge_opportunities import ProfileTotals, Rules, look_at, opportunities
from agentdyno.findings.profile.judge_spans import ArrangedSpans, arrange
from agentdyno.findings.profile.judge_tokens import CallTokens, analyse_tokens, call_tokens
from agentdyno.findings.profile.judge_utilisation import UseOfResources
from agentdyno.findings.profile.model import (
    DEFINITIONS,
    Bottleneck,
    ExecutionPhase,
    PerformanceProfile,
    ProfileChange,
    ProfileComparison,
    ProfileData,
    ProfiledExecution,
    ProfilePhase,
    ResourceUsage,
    SpanTree,
)
from agentdyno.findings.profile.words import (
    OUTSIDE,
    calls_words,
    cause_words,
    is_executor,
    location_words,
    suggestion_words,
    worst_words,
)

MOST_BOTTLENECKS = 10
LEAST_SHARE = 0.01
"""Of the wall time; what takes less is no bottleneck."""
SLACK, SLACK_S = 0.02, 0.002
"""How far spans may go beyond the measured time: two clocks, and what is done between their readings."""
_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
_OUTWARD = (ProfilePhase.MODEL, ProfilePhase.TOOL, ProfilePhase.RETRIEVAL)


@dataclass(frozen=True, slots=True)
class ProfileSubject:
    """Whose profile it is."""

    agent: str
    run_id: str = ""
    suite: str = ""
    benchmark: str | None = None
    case_id: str | None = None


@dataclass(slots=True)
class PhaseTotal:
    """Seconds over all executions."""

    self_s: float = 0.0
    busy_s: float = 0.0
    critical_s: float = 0.0
    spans: int = 0
    cpu_s: float | None = None
    cpu_of_s: float = 0.0
    memory_bytes: float | None = None


@dataclass(slots=True)
class PlaceTotal:
    """One name within a phase: how long the critical path is there."""

    critical_s: float = 0.0
    spent_s: float = 0.0
    calls: int = 0
    executions: int = 0
    longest_s: float = -1.0
    longest: str = ""


@dataclass(slots=True)
class ProfileMaking:
    """Takes executions, gives a profile. ``keep_trees``: of one case, whose spans are shown one by one."""

    subject: ProfileSubject
    keep_trees: bool = False
    phases: dict[ProfilePhase, PhaseTotal] = field(
        default_factory=lambda: {phase: PhaseTotal() for phase in ProfilePhase}
    )
    places: dict[tuple[ProfilePhase, str], PlaceTotal] = field(default_factory=dict)
    use: UseOfResources = field(default_factory=UseOfResources)
    use_without_spans: UseOfResources = field(default_factory=UseOfResources)
    calls: list[CallTokens] = field(default_factory=list)
    told: dict[str, float] = field(default_factory=dict)
    rules: Rules = field(default_factory=dict)
    trees: list[SpanTree] = field(default_factory=list)
    executions: int = 0
    without_spans: int = 0
    wall_s: float = 0.0
    waited_s: float = 0.0
    unreadable: int = 0
    beyond_measured: int = 0
    traced: bool = False
    simulated: bool = False

    def add(self, execution: ProfiledExecution) -> None:
        """One without any span is counted; what it used is told where no other has spans."""
        arranged = arrange(execution)
        self.unreadable += arranged.tree.unreadable
        self.simulated = self.simulated or execution.simulated
        if not arranged.tree.spans:
            self.without_spans += 1
            self.use_without_spans.add(execution, arranged.tree)
            return
        self.executions += 1
        self.wall_s += arranged.tree.wall_s
        self.waited_s += execution.waited_s
        measured_s = arranged.tree.measured_s
        self.beyond_measured += measured_s is not None and arranged.tree.wall_s > (1 + SLACK) * measured_s + SLACK_S
        self.traced = self.traced or execution.traced
        if self.keep_trees:
            self.trees.append(arranged.tree)
        self._add_phases(arranged, self.use.add(execution, arranged.tree))
        self._add_places(arranged.tree)
        calls = call_tokens(execution.events)
        self.calls += calls
        for name in _TOKENS:
            if name in execution.usage:
                self.told[name] = self.told.get(name, 0.0) + execution.usage[name]
        look_at(arranged, execution.events, calls, self.rules)

    def profile(self) -> PerformanceProfile:
        tokens = analyse_tokens(self.calls, self.told)
        critical_s = {phase: total.critical_s for phase, total in self.phases.items()}
        cpu_known = self.use.cpu_executions == self.executions > 0
        executor_s = sum(place.critical_s for key, place in self.places.items() if is_executor(*key))
        critical_s[ProfilePhase.OWN_CODE] -= executor_s
        totals = ProfileTotals(self.executions, self.wall_s, critical_s, cpu_known, tokens, executor_s)
        outward_s = sum(self.phases[phase].self_s for phase in _OUTWARD)
        use = self.use if self.executions else self.use_without_spans
        data = ProfileData(self._phases(), self._bottlenecks(), use.result(self._not_own_s(), outward_s), tokens)
        return PerformanceProfile(
            self.subject.agent,
            data,
            opportunities(self.rules, totals) if self.executions else (),
            self.subject.run_id,
            self.subject.suite,
            self.subject.benchmark,
            self.subject.case_id,
            self.executions,
            self.without_spans,
            self.wall_s,
            self.waited_s,
            self.use.cpu_executions,
            self.unreadable,
            self.beyond_measured,
            self.traced,
            self.simulated,
            tuple(self.trees),
            DEFINITIONS,
        )

    def _add_phases(self, arranged: ArrangedSpans, cpu_s: float | None) -> None:
        own = PhaseTotal(arranged.tree.outside_s, arranged.tree.outside_s, arranged.tree.outside_critical_s)
        for span, event in zip(arranged.tree.spans, arranged.events, strict=True):
            named = event.details.get("phase") is not None
            total = own if span.phase is ProfilePhase.OWN_CODE and not named else self.phases[span.phase]
            total.self_s += span.self_s
            total.busy_s += span.busy_s
            total.critical_s += span.critical_s
            total.spans += 1
            _add_told(self.phases[span.phase], event.details, span.duration_s)
        # What is not computed is waited for: own work cannot be longer than the CPU time, where that is known.
        share = 1.0 if cpu_s is None or own.self_s <= 0 else min(1.0, cpu_s / own.self_s)
        for phase, part in ((ProfilePhase.OWN_CODE, share), (ProfilePhase.IDLE, 1.0 - share)):
            self.phases[phase].self_s += own.self_s * part
            self.phases[phase].busy_s += own.busy_s * part
            self.phases[phase].critical_s += own.critical_s * part
        self.phases[ProfilePhase.OWN_CODE].spans += own.spans

    def _add_places(self, tree: SpanTree) -> None:
        seen: set[tuple[ProfilePhase, str]] = set()
        for span in tree.spans:
            key = (span.phase, span.name)
            place = self.places.setdefault(key, PlaceTotal())
            place.critical_s += span.critical_s
            place.spent_s += span.duration_s
            place.calls += 1
            place.executions += key not in seen
            seen.add(key)
            if span.duration_s > place.longest_s:
                place.longest_s, place.longest = span.duration_s, worst_words(tree, span)
        if tree.outside_critical_s > 0:
            place = self.places.setdefault((ProfilePhase.OWN_CODE, OUTSIDE), PlaceTotal())
            place.critical_s += tree.outside_critical_s
            place.spent_s += tree.outside_s
            place.calls += 1
            place.executions += 1

    def _not_own_s(self) -> float:
        return sum(total.self_s for phase, total in self.phases.items() if phase is not ProfilePhase.OWN_CODE)

    def _phases(self) -> tuple[ExecutionPhase, ...]:
        if not self.executions:
            return ()
        each_ms = 1000.0 / self.executions
        return tuple(
            ExecutionPhase(
                phase.value,
                total.self_s * each_ms,
                100.0 * total.self_s / self.wall_s if self.wall_s > 0 else None,
                _usage(phase, total),
                total.critical_s * each_ms,
                total.busy_s * each_ms,
                total.spans,
            )
            for phase, total in self.phases.items()
        )

    def _bottlenecks(self) -> tuple[Bottleneck, ...]:
        if self.wall_s <= 0:
            return ()
        basis_ms = 1000.0 * self.wall_s / self.executions
        ranked = sorted(self.places.items(), key=lambda item: (-item[1].critical_s, item[0]))
        return tuple(
            Bottleneck(
                location_words(phase, name),
                1000.0 * place.critical_s / self.executions,
                cause_words(phase, name),
                suggestion_words(phase, name),
                place.critical_s / self.wall_s,
                basis_ms,
                phase,
                place.calls,
                place.executions,
                tuple(
                    text
                    for text in (
                        calls_words(place.calls, place.executions, place.spent_s / place.calls),
                        place.longest,
                    )
                    if text
                ),
            )
            for (phase, name), place in ranked[:MOST_BOTTLENECKS]
            if place.critical_s >= LEAST_SHARE * self.wall_s
        )


def make_profile(
    subject: ProfileSubject, executions: Iterable[ProfiledExecution], *, keep_trees: bool = False
) -> PerformanceProfile:
    """The profile of these executions; ``keep_trees`` keeps their spans one by one."""
    making = ProfileMaking(subject, keep_trees)
    for execution in executions:
        making.add(execution)
    return making.profile()


def compare_profiles(baseline: PerformanceProfile, candidate: PerformanceProfile, cases: int) -> ProfileComparison:
    """Both sides beside each other; ``cases`` is how many cases both are made from."""
    changes = [_change("wall time", "s", _each(baseline, baseline.wall_s), _each(candidate, candidate.wall_s))]
    theirs = {phase.phase_name: phase for phase in candidate.profile_data.execution_phases}
    for phase in baseline.profile_data.execution_phases:
        other = theirs.get(phase.phase_name)
        if phase.duration_ms or (other is not None and other.duration_ms):
            after_s = None if other is None else other.duration_ms / 1000.0
            changes.append(_change(phase.phase_name, "s", phase.duration_ms / 1000.0, after_s))
    for name in ("input_tokens", "output_tokens", "cached_tokens", "wasted_tokens"):
        sides = [getattr(side.profile_data.token_analysis, name) for side in (baseline, candidate)]
        changes.append(_change(name, "", _each(baseline, sides[0]), _each(candidate, sides[1])))
    for name in ("cpu_efficiency", "io_efficiency", "parallelization_score"):
        before, after = (getattr(side.profile_data.resource_utilization, name) for side in (baseline, candidate))
        changes.append(_change(name, "ratio", before, after))
    known = (item for item in changes if item.baseline is not None or item.candidate is not None)
    return ProfileComparison(baseline, candidate, cases, tuple(known))


def _each(profile: PerformanceProfile, total: float | None) -> float | None:
    return None if total is None or not profile.executions else total / profile.executions


def _change(name: str, unit: str, before: float | None, after: float | None) -> ProfileChange:
    ratio = after / before if before and after is not None else None
    return ProfileChange(name, unit, before, after, ratio)


def _usage(phase: ProfilePhase, total: PhaseTotal) -> ResourceUsage:
    return ResourceUsage(
        100.0 * total.cpu_s / total.cpu_of_s if total.cpu_s is not None and total.cpu_of_s > 0 else None,
        None if total.memory_bytes is None else total.memory_bytes / 1024**2,
        total.spans if phase in _OUTWARD else None,
    )


def _add_told(total: PhaseTotal, details: Mapping[str, object], duration_s: float) -> None:
    """What a span tells of its own use of CPU and memory."""
    cpu_s, memory = details.get("cpu_s"), details.get("peak_rss_bytes", details.get("rss_bytes"))
    if _is_number(cpu_s):
        total.cpu_s = (total.cpu_s or 0.0) + float(cpu_s)  # type: ignore[arg-type]
        total.cpu_of_s += duration_s
    if _is_number(memory):
        total.memory_bytes = max(total.memory_bytes or 0.0, float(memory))  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
