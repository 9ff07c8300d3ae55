"""Runs to look through: samples a page at a time, and everything about one case."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentdyno.errors import SpecError
from agentdyno.findings.record.ask_names import UnknownName
from agentdyno.model import Benchmark, Case, Failure, Phase, RunResult, Sample, Status
from agentdyno.model.case import Event
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.naming import meant_by, shown_agent, shown_result
from agentdyno.store import Store
from agentdyno.store.runs.pages import AfterSample, SampleFilter

SHOWN_CHARACTERS = 2_000
"""Of an output, in a list."""
WHOLE_CHARACTERS = 200_000
"""Of an output, where it is shown by itself."""


@dataclass(frozen=True, slots=True)
class SampleRow:
    """One line of a list of samples; ``output`` is text, its first 2,000 characters where ``output_cut``.

    ``failure`` is the message of one. ``agent`` and ``benchmark`` are ``None`` for an experiment.
    """

    arm_id: str
    arm: str
    agent: str | None
    benchmark: str | None
    case_id: str
    phase: str
    iteration: int
    instrument: str
    status: Status
    score: float | None
    duration_s: float | None
    cost_usd: float | None
    total_tokens: float | None
    output: str | None
    output_cut: bool
    failure: str | None
    simulated: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """One execution of a case. ``tokens`` are in and out together; ``output`` is any JSON value, or text where
    ``output_cut``. ``scoring`` is what each scorer said, ``attempts`` counts calls, retries included."""

    arm_id: str
    agent: str
    benchmark: str
    iteration: int
    status: Status
    score: float | None
    scores: Mapping[str, float | None]
    output: object
    output_cut: bool
    failure: Failure | None
    events: tuple[Event, ...]
    duration_s: float | None
    cost_usd: float | None
    tokens: float | None
    started_at_ms: int
    readings: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, float] = field(default_factory=dict)
    scoring: tuple[object, ...] = ()
    attempts: int = 1
    simulated: bool = False
    cached: bool = False


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case and every answer to it in one run, agent by agent, epoch by epoch."""

    run_id: str
    benchmark: str
    case: Case
    answers: tuple[Answer, ...]


class Browsing:
    """Looks through one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def samples(
        self, run_id: str, wanted: SampleFilter, after: AfterSample | None, limit: int
    ) -> tuple[list[SampleRow], AfterSample | None]:
        """At most ``limit`` samples of a run (a full id), and what the next page goes on after, if any."""
        header = self._store.runs.load(run_id, samples=False)
        _check(header, wanted)
        own = wanted._replace(agent=_of_arms(header, wanted.agent))
        found = self._store.runs.sample_page(run_id, own, after, limit=limit + 1)
        arms = {arm.arm_id: arm for arm in shown_result(header).arms}
        rows = [
            _row(sample, arms[sample.arm_id].name, arms[sample.arm_id].agent, arms[sample.arm_id].benchmark)
            for sample in found[:limit]
        ]
        return rows, _place(found[limit - 1]) if len(found) > limit else None

    def case(self, run_id: str, case_id: str, *, benchmark: str | None = None, agent: str | None = None) -> CaseView:
        """One case of a run (a full id); of one agent (``NAME`` or ``NAME@VERSION``) where it is named."""
        header = self._store.runs.load(run_id, samples=False)
        _check(header, SampleFilter(agent=agent))
        own, case = _find_case(header, case_id, benchmark)
        arms = {
            arm.arm_id: arm
            for arm in header.arms
            if arm.benchmark == own.benchmark_id and (agent is None or meant_by(header.suite, arm.agent or "", agent))
        }
        answers = tuple(
            answer_of(sample, shown_agent(header.suite, arms[sample.arm_id].agent or ""), own.benchmark_id)
            for sample in self._store.runs.find_samples(run_id, case.id)
            if sample.arm_id in arms and sample.phase is Phase.MEASURED
        )
        return CaseView(run_id, own.benchmark_id, case, answers)


def header_of(result: RunResult) -> RunResult:
    """A run as it is shown beside its samples: the suite without its cases, which are read one by one."""
    shown = shown_result(result)
    bare = replace(shown, arms=tuple(replace(arm, samples=()) for arm in shown.arms))
    if bare.suite is None:
        return bare
    benchmarks = tuple(replace(item, cases=()) for item in bare.suite.benchmarks)
    return replace(bare, suite=replace(bare.suite, benchmarks=benchmarks))


def answer_of(sample: Sample, agent: str, benchmark: str) -> Answer:
    """A sample as it is shown by itself."""
    details = sample.details
    scoring = details.get("scoring")
    output, is_cut = _whole(sample.output)
    return Answer(
        arm_id=sample.arm_id,
        agent=agent,
        benchmark=benchmark,
        iteration=sample.iteration,
        status=sample.status,
        score=sample.scores.get("score"),
        scores=sample.scores,
        output=output,
        output_cut=is_cut,
        failure=sample.failure,
        events=events_of(details.get("events")),
        duration_s=sample.readings.get("duration_s"),
        cost_usd=sample.readings.get("cost_usd"),
        tokens=sample.readings.get("total_tokens"),
        started_at_ms=sample.started_at_ms,
        readings=sample.readings,
        usage=sample.usage,
        scoring=tuple(scoring) if isinstance(scoring, (list, tuple)) else (),
        attempts=sample.attempts,
        simulated=bool(details.get("simulated")),
        cached=bool(details.get("cached")),
    )


def _row(sample: Sample, arm: str, agent: str | None, benchmark: str | None) -> SampleRow:
    text = None if sample.output is None else _text(sample.output)
    return SampleRow(
        arm_id=sample.arm_id,
        arm=arm,
        agent=agent,
        benchmark=benchmark,
        case_id=sample.case_id,
        phase=sample.phase.value,
        iteration=sample.iteration,
        instrument=sample.instrument,
        status=sample.status,
        score=sample.scores.get("score"),
        duration_s=sample.readings.get("duration_s"),
        cost_usd=sample.readings.get("cost_usd"),
        total_tokens=sample.readings.get("total_tokens"),
        output=None if text is None else text[:SHOWN_CHARACTERS],
        output_cut=text is not None and len(text) > SHOWN_CHARACTERS,
        failure=None if sample.failure is None else sample.failure.message[:SHOWN_CHARACTERS],
        simulated=bool(sample.details.get("simulated")),
    )


def _place(sample: Sample) -> AfterSample:
    place = (sample.arm_id, sample.phase.value, sample.iteration, sample.case_id, sample.instrument, sample.part)
    return AfterSample(*place)


def _check(header: RunResult, wanted: SampleFilter) -> None:
    """Names that the run does not have are mistakes, not empty lists."""
    agents = {arm.agent for arm in header.arms if arm.agent}
    if wanted.agent is not None and not any(meant_by(header.suite, agent, wanted.agent) for agent in agents):
        raise UnknownName.of("agent", wanted.agent, agents)
    benchmarks = {arm.benchmark for arm in header.arms if arm.benchmark}
    if wanted.benchmark is not None and wanted.benchmark not in benchmarks:
        raise UnknownName.of("benchmark", wanted.benchmark, benchmarks)
    if wanted.arm is not None and all(wanted.arm not in (arm.arm_id, arm.name) for arm in header.arms):
        raise UnknownName.of("arm", wanted.arm, [arm.name for arm in header.arms])


def _of_arms(header: RunResult, agent: str | None) -> str | None:
    """What the arms say for an agent that is called by its label; a name that they know stays."""
    labels = dict.fromkeys(arm.agent for arm in header.arms if arm.agent)
    if agent is None or any(agent in (label, label.rpartition("@")[0]) for label in labels):
        return agent
    return next((label for label in labels if meant_by(header.suite, label, agent)), agent)


def _find_case(header: RunResult, case_id: str, benchmark: str | None) -> tuple[Benchmark, Case]:
    benchmarks: Sequence[Benchmark] = header.suite.benchmarks if header.suite is not None else ()
    if benchmark is not None:
        known = [item.benchmark_id for item in benchmarks]
        if benchmark not in known:
            raise UnknownName.of("benchmark", benchmark, known)
        benchmarks = [item for item in benchmarks if item.benchmark_id == benchmark]
    found = [(item, case) for item in benchmarks for case in item.cases if case.id == case_id]
    if not found:
        raise UnknownName.of("case", case_id, [case.id for item in benchmarks for case in item.cases])
    if len(found) > 1:
        listed = ", ".join(item.benchmark_id for item, _ in found)
        raise SpecError(
            f"{len(found)} benchmarks have a case {case_id!r}", where="benchmark", remedy=f"Name one: {listed}."
        )
    return found[0]


def _whole(output: object) -> tuple[object, bool]:
    """An output with at most ``WHOLE_CHARACTERS``, and whether something was cut off."""
    text = _text(output)
    return (text[:WHOLE_CHARACTERS], True) if len(text) > WHOLE_CHARACTERS else (output, False)


def _text(output: object) -> str:
    return output if isinstance(output, str) else json.dumps(to_plain(output), ensure_ascii=False)


def events_of(plain: object) -> tuple[Event, ...]:
    """The steps that can be read; those of other tools may be written otherwise and are shown as notes."""
    return tuple(_event(item) for item in plain) if isinstance(plain, (list, tuple)) else ()


def _event(plain: object) -> Event:
    try:
        return from_plain(Event, plain)
    except (TypeError, ValueError):
        return Event("note", content=plain)
