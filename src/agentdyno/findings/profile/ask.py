"""Profiles of what a store holds: of a run's agents, of one case, of two runs side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agentdyno.errors import NotComparable, SpecError
from agentdyno.findings.case.ask import events_of
from agentdyno.findings.profile.judge import ProfileSubject, compare_profiles, make_profile
from agentdyno.findings.profile.judge_spans import has_spans
from agentdyno.findings.profile.model import (
    PerformanceProfile,
    ProfileComparison,
    ProfiledExecution,
    ProfileReport,
)
from agentdyno.findings.record.ask_names import UnknownName, agent_named, run_named
from agentdyno.findings.standing.model import SuiteFindings
from agentdyno.model import ArmResult, Findings, Phase, RunResult, Sample
from agentdyno.model.naming import meant_by, shown_agent
from agentdyno.model.plan import TRACING
from agentdyno.runs.kinds import SUITE
from agentdyno.store import Store

_MOST_EXECUTIONS = 50


@dataclass(frozen=True, slots=True)
class ProfileQuestion:
    """``subject`` is a run (an id, ``last``) or an agent (``NAME``, ``NAME@VERSION``), whose newest run is meant.

    ``against`` is the baseline, likewise. ``case_id`` may be written ``BENCHMARK/CASE``.
    """

    subject: str
    agent: str | None = None
    case_id: str | None = None
    benchmark: str | None = None
    against: str | None = None


@dataclass(frozen=True, slots=True)
class RunSide:
    """A run, and which of its agents are meant; ``None``: all of them."""

    header: RunResult
    agent: str | None

    @property
    def agents(self) -> list[str]:
        labels = dict.fromkeys(arm.agent for arm in self.header.arms if arm.agent)
        return [label for label in labels if self.agent is None or meant_by(self.header.suite, label, self.agent)]


class Profiles:
    """Answers questions about one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def report(self, question: ProfileQuestion) -> ProfileReport:
        """One profile per agent, or each agent of the run beside its baseline."""
        side = self._side(question.subject, question.agent)
        if question.against is None:
            return ProfileReport(tuple(self._profile(side.header, agent, question) for agent in side.agents))
        other = self._side(question.against, None)
        pairs = _pairs(other, side)
        return ProfileReport(comparisons=tuple(self._compared(other, side, pair, question) for pair in pairs))

    def newest_suite_run(self) -> str | None:
        """The id of the newest run of a suite, of the last few runs of any kind."""
        return next((row.run_id for row in self._store.runs.newest(_MOST_EXECUTIONS) if row.kind == SUITE), None)

    def _side(self, text: str, agent: str | None) -> RunSide:
        found = None if text.startswith("last") else self._newest_run_of(text)
        if found is None:
            try:
                run_id = run_named(self._store, text)
            except UnknownName as error:
                if text.startswith("last"):
                    raise
                known = [row.name for row in self._store.boards.agents()]
                raise UnknownName(
                    f"{text!r} is neither a run nor an agent here",
                    near=UnknownName.of("agent", text, known).near,
                    remedy=error.remedy,
                ) from None
            found = RunSide(self._store.runs.load(run_id, samples=False), agent)
        if found.header.suite is None:
            raise NotComparable(
                f"run {found.header.run_id[:13]} is no run of a suite: profiles are of agents on cases",
                remedy="dyno show RUN shows what instruments saw of an experiment.",
            )
        if agent is not None and not found.agents:
            raise UnknownName.of("agent", agent, [arm.agent or "" for arm in found.header.arms])
        return found

    def _newest_run_of(self, text: str) -> RunSide | None:
        try:
            name = agent_named(self._store, text)
        except UnknownName:
            return None
        rows = self._store.boards.agent_executions(name.name, name.version, None, limit=_MOST_EXECUTIONS)
        stored = [row for row in rows if row.run_id]
        if not stored:
            raise NotComparable(
                f"{text} has no run here: only totals of it were imported",
                remedy=f"dyno run SUITE --agent {name.name} makes one.",
            )
        header = self._store.runs.load(stored[0].run_id, samples=False)
        return RunSide(header, f"{name.name}@{stored[0].version}")

    def _profile(
        self, header: RunResult, agent: str, question: ProfileQuestion, only: frozenset[tuple[str, str]] | None = None
    ) -> PerformanceProfile:
        benchmark, case_id = named_case(header, question.case_id, question.benchmark)
        arms = [arm for arm in header.arms if arm.agent == agent and benchmark in (None, arm.benchmark)]
        executions = (
            item
            for arm in arms
            for item in _executions(header, arm, self._store, case_id)
            if only is None or (item.benchmark, item.case_id) in only
        )
        suite = header.suite.suite_id if header.suite is not None else ""
        subject = ProfileSubject(shown_agent(header.suite, agent), header.run_id, suite, benchmark, case_id)
        return make_profile(subject, executions, keep_trees=case_id is not None)

    def _compared(
        self, other: RunSide, side: RunSide, pair: tuple[str, str], question: ProfileQuestion
    ) -> ProfileComparison:
        shared = self._cases(other.header, pair[0]) & self._cases(side.header, pair[1])
        if question.case_id is None and not shared:
            raise NotComparable(
                f"{pair[0]} and {pair[1]} have no case with spans in common", remedy="Profile runs of one suite."
            )
        only = None if question.case_id is not None else frozenset(shared)
        baseline = self._profile(other.header, pair[0], question, only)
        candidate = self._profile(side.header, pair[1], question, only)
        return compare_profiles(baseline, candidate, 1 if only is None else len(shared))

    def _cases(self, header: RunResult, agent: str) -> set[tuple[str, str]]:
        """Cases of which an agent has spans, each with its benchmark."""
        found: set[tuple[str, str]] = set()
        for arm in header.arms:
            if arm.agent == agent:
                items = _executions(header, arm, self._store)
                found |= {(item.benchmark, item.case_id) for item in items if has_spans(item.events)}
        return found


def with_profiles(findings: Findings, result: RunResult, store: Store | None) -> Findings:
    """Findings of a run of a suite with the profiles of its agents, for reports; of those that have spans."""
    if not isinstance(findings, SuiteFindings) or result.suite is None:
        return findings
    profiles = []
    for agent in dict.fromkeys(arm.agent for arm in result.arms if arm.agent):
        executions = (item for arm in result.arms if arm.agent == agent for item in _executions(result, arm, store))
        shown = shown_agent(result.suite, agent)
        profile = make_profile(ProfileSubject(shown, result.run_id, result.suite.suite_id), executions)
        if profile.executions:
            profiles.append(profile)
    return replace(findings, profiles=tuple(profiles))


def _executions(
    result: RunResult, arm: ArmResult, store: Store | None, case_id: str | None = None
) -> Iterator[ProfiledExecution]:
    """Those of the pass with tracing where there was one, else those of the timed pass.

    From the store, where it has the run: a result at hand may lack the events.
    """
    if store is not None and store.runs.has(result.run_id):
        traced = any(
            sample.instrument == TRACING for sample in store.runs.iter_samples(result.run_id, arm_id=arm.arm_id)
        )
        if case_id is None:
            samples = store.runs.iter_samples(result.run_id, arm_id=arm.arm_id, details=True)
        else:
            found = store.runs.find_samples(result.run_id, case_id)
            samples = iter([sample for sample in found if sample.arm_id == arm.arm_id])
    else:
        traced = any(sample.instrument == TRACING for sample in arm.samples)
        samples = (sample for sample in arm.samples if case_id in (None, sample.case_id))
    for sample in samples:
        wanted = sample.instrument == TRACING if traced else sample.phase is Phase.MEASURED
        if wanted and not sample.details.get("cached"):
            yield execution_of(sample, arm.benchmark or "", traced=traced)


def execution_of(sample: Sample, benchmark: str, *, traced: bool = False) -> ProfiledExecution:
    """What a profile is made from, out of a stored sample."""
    attempts = sample.details.get("attempts")
    waits = [
        float(item["waited_s"])
        for item in (attempts if isinstance(attempts, list | tuple) else ())
        if isinstance(item, Mapping) and isinstance(item.get("waited_s"), int | float)
    ]
    return ProfiledExecution(
        sample.case_id,
        benchmark,
        sample.iteration,
        sample.readings.get("duration_s"),
        events_of(sample.details.get("events")),
        sample.readings,
        sample.usage,
        sample.attempts,
        sum(waits),
        bool(sample.details.get("simulated")),
        traced,
    )


def named_case(header: RunResult, case_id: str | None, benchmark: str | None) -> tuple[str | None, str | None]:
    """Benchmark and case that are meant, both checked; ``None`` where none is named."""
    benchmarks = header.suite.benchmarks if header.suite is not None else ()
    names = [item.benchmark_id for item in benchmarks]
    if benchmark is not None and benchmark not in names:
        raise UnknownName.of("benchmark", benchmark, names)
    if case_id is None:
        return benchmark, None
    found = [
        (item.benchmark_id, case.id)
        for item in benchmarks
        for case in item.cases
        if benchmark in (None, item.benchmark_id) and case_id in (case.id, f"{item.benchmark_id}/{case.id}")
    ]
    if not found:
        raise UnknownName.of("case", case_id, [case.id for item in benchmarks for case in item.cases])
    if len(found) > 1:
        listed = ", ".join(f"{own}/{name}" for own, name in found)
        raise SpecError(
            f"{len(found)} benchmarks have a case {case_id!r}", where="case", remedy=f"Name one: {listed}."
        )
    return found[0]


def _pairs(baseline: RunSide, candidate: RunSide) -> Sequence[tuple[str, str]]:
    """Agents of both runs by label, else by name; one against one whatever they are called."""
    ours, theirs = candidate.agents, baseline.agents
    if len(ours) == len(theirs) == 1:
        return [(theirs[0], ours[0])]
    by_name = {_name(label): label for label in theirs}
    pairs = [
        (label if label in theirs else by_name[_name(label)], label)
        for label in ours
        if label in theirs or _name(label) in by_name
    ]
    if not pairs:
        raise NotComparable(
            "the two runs have no agent in common",
            remedy=f"Name one of each: {', '.join(theirs)}, and --agent of {', '.join(ours)}.",
        )
    return pairs


def _name(label: str) -> str:
    return label.rpartition("@")[0] or label
