"""Records of agents made of given cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentdyno.model.record import AgentRecord, BenchmarkRecord, CaseRecord, ErrorClass


def tried(
    case_id: str,
    passed: int = 1,
    tries: int = 1,
    *,
    cost: float | None = 0.01,
    duration: float | None = 1.0,
    benchmark: str = "facts",
    used: Mapping[str, float] | None = None,
    **fields: object,
) -> CaseRecord:
    """A case of which ``passed`` of ``tries`` executions passed and the others were answered wrongly.

    ``cost`` is US dollars, ``duration`` seconds, both per execution; ``None`` is unknown.
    """
    readings = {"cost_usd": cost, "duration_s": duration, **(used or {})}
    made = CaseRecord(
        benchmark=benchmark,
        case_id=case_id,
        digest=f"digest of {case_id}",
        tries=tries,
        scored=tries,
        passed=passed,
        score=passed / tries if tries else None,
        statuses={name: number for name, number in (("ok", passed), ("failed", tries - passed)) if number},
        used={name: value for name, value in readings.items() if value is not None},
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def without_answer(case_id: str, tries: int = 1, *, cost: float | None = 0.0, status: str = "error") -> CaseRecord:
    """A case that raised, timed out or met a limit in every try."""
    score = None if status == "error" else 0.0
    return tried(case_id, 0, tries, cost=cost, duration=None, scored=0, score=score, statuses={status: tries})


def cases(passes: Sequence[int], tries: int = 1, **fields: object) -> list[CaseRecord]:
    """Cases c0, c1, … of which so many tries passed."""
    return [tried(f"c{place}", passed, tries, **fields) for place, passed in enumerate(passes)]  # type: ignore[arg-type]


def bench(
    name: str = "facts", *, speed: float | None = None, errors: tuple[ErrorClass, ...] = (), rubric: str = "exact"
) -> BenchmarkRecord:
    return BenchmarkRecord(name, name, "comprehensive", rubric, 0.5, 0, 0, "run-1", {"speed": speed}, {}, errors)


def agent_record(
    agent: str, own: Sequence[CaseRecord], *benchmarks: BenchmarkRecord, **fields: object
) -> AgentRecord:
    """An agent ``name@version``; without benchmarks given, those that its cases name, without a speed score."""
    name, _, version = agent.rpartition("@")
    made = AgentRecord(
        agent=agent,
        name=name,
        version=version,
        suite="suite-digest",
        suite_id="first-suite",
        suite_name="first suite",
        suite_version="1",
        finished_at=1_772_374_072_000,
        machine_id="machine-1",
        benchmarks=benchmarks or tuple(bench(item) for item in dict.fromkeys(case.benchmark for case in own)),
        cases=tuple(own),
    )
    return replace(made, **fields)  # type: ignore[arg-type]
