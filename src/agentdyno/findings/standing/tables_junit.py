"""A suite's run as test cases: one per agent and case, failing with what was wanted and what came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentdyno.findings.figures.traces import answer_text, as_text, shorten, why_text
from agentdyno.findings.standing.model import HeldCase
from agentdyno.model import ArmResult, Benchmark, Case, Phase, RunResult, Sample, Status
from agentdyno.show.wording import count, one_line

_MOST_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """One test case. ``tag`` is ``failure`` for wrong answers, ``error`` where none came, ``skipped`` where the case
    is quarantined, "" where it passed."""

    group: str
    name: str
    time_s: float | None
    tag: str
    kind: str
    message: str
    text: str
    summary: str


def case_outcomes(result: RunResult, held: Sequence[HeldCase] = ()) -> list[CaseOutcome]:
    """Every case that was tried by every agent, benchmark by benchmark; ``held`` ones are quarantined."""
    found = []
    reasons = {(item.key.benchmark, item.key.case_id): item.reason for item in held}
    benchmarks = {item.benchmark_id: item for item in result.suite.benchmarks} if result.suite is not None else {}
    for arm in result.arms:
        benchmark = benchmarks.get(arm.benchmark or "")
        if benchmark is None:
            continue
        taken: dict[str, list[Sample]] = {}
        for sample in arm.samples:
            if sample.phase is Phase.MEASURED and sample.status is not Status.CANCELLED:
                taken.setdefault(sample.case_id, []).append(sample)
        cases = {case.id: case for case in benchmark.cases}
        for case_id, samples in taken.items():
            outcome = _outcome(arm, benchmark, cases.get(case_id), samples)
            reason = reasons.get((benchmark.benchmark_id, case_id))
            if reason is not None:
                outcome = replace(outcome, tag="skipped", kind="", message=f"{reason}; {outcome.summary}", text="")
            found.append(outcome)
    return found


def _outcome(arm: ArmResult, benchmark: Benchmark, case: Case | None, samples: list[Sample]) -> CaseOutcome:
    """A case passes by its score over the epochs, as everywhere else."""
    from agentdyno.findings.figures.cases import CaseTally, has_passed

    tally = CaseTally()
    for sample in samples:
        tally.add(sample)
    score = tally.score(benchmark.rubric)
    passed = tally.passed == tally.tries if score is None else score >= benchmark.rubric.pass_threshold
    durations = sorted(sample.readings["duration_s"] for sample in samples if "duration_s" in sample.readings)
    bad = next((sample for sample in samples if not has_passed(sample)), samples[0])
    summary = f"{tally.passed} of {count(tally.tries, 'execution')} passed" + (
        "" if score is None else f", score {score:.3f}"
    )
    want = "" if case is None or case.target is None else as_text(case.target)
    tag, kind, message, text = "", "", "", ""
    if not passed:
        answered = tally.scored > 0 and bad.failure is None
        tag = "failure" if tally.scored else "error"
        kind = bad.status.value if bad.failure is None else f"{bad.status.value}.{bad.failure.kind.value}"
        silent = bad.failure.message if bad.failure else "no score"
        got = (answer_text(bad) or as_text(bad.output)) if answered else silent
        why = why_text(bad) if answered else ""
        message = f"want {shorten(want, 120)}, got {shorten(got, 120)}" if want else f"got {shorten(got, 240)}"
        text = f"{summary}\nwant: {want[:_MOST_CHARACTERS]}\ngot: {got[:_MOST_CHARACTERS]}"
        if why:
            text += f"\nwhy: {why}"
            if not want:  # what is asked for is said by no target, but by the scorer
                message = f"{shorten(why, 120)} ({message})"
        if bad.failure is not None and bad.failure.traceback:
            text += f"\n{bad.failure.traceback}"
    return CaseOutcome(
        group=f"{one_line(benchmark.benchmark_id)}.{one_line(arm.agent or arm.name)}",
        name=samples[0].case_id,
        time_s=durations[len(durations) // 2] if durations else None,
        tag=tag,
        kind=kind,
        message=message,
        text=text,
        summary=summary,
    )
