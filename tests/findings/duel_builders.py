"""Records of agents for head-to-heads: made of given numbers, or drawn with a known truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agentdyno.model.record import AgentRecord, BenchmarkRecord, CaseRecord

TARGETS = {"duration_s": (0.5, 8.0), "cost_usd": (0.001, 0.1)}


def answered(
    case_id: str,
    score: float | None = 1.0,
    *,
    tries: int = 1,
    passed: int | None = None,
    errors: int = 0,
    group: str | None = None,
    benchmark: str = "facts",
    digest: str = "",
    used: Mapping[str, float] | None = None,
    **readings: float,
) -> CaseRecord:
    """A case with that score; from 0.5 on, every try that did not raise has passed unless ``passed`` is given."""
    right = tries - errors if score is not None and score >= 0.5 else 0
    return CaseRecord(
        benchmark=benchmark,
        case_id=case_id,
        digest=digest or case_id,
        tries=tries,
        scored=tries - errors,
        passed=right if passed is None else passed,
        score=score,
        statuses={"error": errors} if errors else {},
        used={**(used or {}), **readings},
        group=group,
    )


def bench(name: str = "facts", **fields: object) -> BenchmarkRecord:
    made = BenchmarkRecord(name, name, "accuracy", "rubric", 0.5, 0, 0, "run-1")
    return replace(made, **fields)  # type: ignore[arg-type]


def record(
    agent: str, cases: Sequence[CaseRecord], benchmarks: Sequence[BenchmarkRecord] = (), **fields: object
) -> AgentRecord:
    """One benchmark per name among the cases unless they are given."""
    name, _, version = agent.rpartition("@")
    own = tuple(benchmarks) or tuple(bench(of) for of in dict.fromkeys(case.benchmark for case in cases))
    made = AgentRecord(agent, name, version, "digest", "suite-id", "suite", "1", 0, "machine", own, tuple(cases))
    return replace(made, **fields)  # type: ignore[arg-type]


def scored(agent: str, scores: Sequence[float], **fields: object) -> AgentRecord:
    """Cases c00, c01, … with these scores."""
    cases = [answered(f"c{i:02}", score) for i, score in enumerate(scores)]
    return record(agent, cases, **fields)  # type: ignore[arg-type]


def using(agent: str, name: str, values: Sequence[float], **fields: object) -> AgentRecord:
    """Cases c00, c01, … that all pass and use so much of one thing."""
    cases = [answered(f"c{i:02}", used={name: value}) for i, value in enumerate(values)]
    return record(agent, cases, **fields)  # type: ignore[arg-type]


def drawn(
    agent: str,
    chances: npt.NDArray[np.float64],
    random: np.random.Generator,
    factors: Mapping[str, float] | None = None,
) -> AgentRecord:
    """Three tries a case, passed with these chances; seconds and dollars log-normal, multiplied by ``factors``."""
    cases = []
    factors = factors or {}
    for place, chance in enumerate(chances):
        passed = int(random.binomial(3, chance))
        # What belongs to the case is the same for every agent.
        of_case = np.sin(place), np.cos(3 * place)
        noise = random.normal(0.0, 0.2, 2)
        cases.append(
            answered(
                f"c{place:03}",
                passed / 3,
                tries=3,
                passed=passed,
                duration_s=float(np.exp(of_case[0] + noise[0]) * factors.get("duration_s", 1.0)),
                cost_usd=float(0.01 * np.exp(of_case[1] + noise[1]) * factors.get("cost_usd", 1.0)),
            )
        )
    return record(agent, cases, [bench(targets=TARGETS)])
