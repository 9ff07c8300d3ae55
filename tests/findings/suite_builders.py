"""Suites, samples and results of suites made of given numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentdyno.model import (
    ArmResult,
    Benchmark,
    Case,
    Failure,
    FailureKind,
    Phase,
    RunResult,
    RunStatus,
    Sample,
    Spec,
    Status,
    Suite,
)

from .builders import ENVIRONMENT

RUN_ID = "019ca9c1-4d80-7abc-8def-0123456789ab"
_KINDS = {Status.TIMEOUT: FailureKind.TIMEOUT, Status.LIMIT: FailureKind.TOKENS}


def case(case_id: str, group: str | None = None, target: object = "yes") -> Case:
    return Case(case_id, f"question {case_id}", target, group=group)


def benchmark(*cases: Case | str, **fields: object) -> Benchmark:
    made = Benchmark(
        str(fields.pop("name", "facts")), tuple(case(item) if isinstance(item, str) else item for item in cases)
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def sample(
    case_id: str,
    outcome: float | Status | None = 1.0,
    epoch: int = 0,
    *,
    readings: Mapping[str, float] | None = None,
    output: object = "answer",
    arm_id: str = "a",
    **fields: object,
) -> Sample:
    """A number is the score (from 0.5 it passes); ``None`` an answer that nobody could judge."""
    if isinstance(outcome, Status):
        status, scores = outcome, {}
        failure = Failure(_KINDS.get(outcome, FailureKind.EXCEPTION), f"{outcome.value} happened")
    else:
        status = Status.OK if outcome is None or outcome >= 0.5 else Status.FAILED
        scores, failure = {"score": outcome}, None
    made = Sample(
        arm_id,
        Phase.MEASURED,
        epoch,
        status,
        1_772_374_000_000 + epoch,
        readings={"duration_s": 1.0, **(readings or {})},
        case_id=case_id,
        scores=scores,
        output=None if failure else output,
        failure=failure,
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def arm(agent: str, of: str, samples: Sequence[Sample], **fields: object) -> ArmResult:
    arm_id = f"{of}/{agent}"
    made = ArmResult(
        arm_id,
        f"{of} · {agent.rpartition('@')[0]}",
        "suite",
        benchmark=of,
        agent=agent,
        planned=len(samples),
        samples_total=len(samples),
        samples=tuple(replace(item, arm_id=arm_id) for item in samples),
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def suite_of(*benchmarks: Benchmark, name: str = "first suite", **fields: object) -> Suite:
    return replace(Suite(name, benchmarks), **fields)  # type: ignore[arg-type]


def suite_result(suite: Suite, *arms: ArmResult, **fields: object) -> RunResult:
    made = RunResult(
        run_id=RUN_ID,
        kind="suite",
        name=suite.name,
        status=RunStatus.COMPLETE,
        started_at=1_772_374_000_000,
        finished_at=1_772_374_072_000,
        seed=7,
        spec=Spec(suite.name, ()),
        environment=ENVIRONMENT,
        vcs=None,
        arms=arms,
        suite=suite,
    )
    return replace(made, **fields)  # type: ignore[arg-type]
