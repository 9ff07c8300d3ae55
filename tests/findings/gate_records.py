"""Agent records for gates: cases that pass so many of so many executions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agentdyno.findings.duel.model import PairedRow
from agentdyno.model.metric import Verdict
from agentdyno.model.record import AgentRecord, BenchmarkRecord, CaseRecord

FINISHED = 1_772_374_000_000


def case(name: str, passed: int = 5, tries: int = 5, errors: int = 0, **fields: object) -> CaseRecord:
    """Scored are the executions without an error; the score is their share that passed."""
    scored = tries - errors
    statuses = {"ok": passed, "failed": scored - passed, "error": errors}
    made = CaseRecord(
        benchmark=str(fields.pop("benchmark", "facts")),
        case_id=name,
        digest=f"d-{name}",
        tries=tries,
        scored=scored,
        passed=passed,
        score=passed / scored if scored else None,
        statuses={key: value for key, value in statuses.items() if value},
        used={"duration_s": 1.0, "total_tokens": 100.0, "cost_usd": 0.001},
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def record(cases: Sequence[CaseRecord], agent: str = "mine@1", **fields: object) -> AgentRecord:
    names = list(dict.fromkeys(item.benchmark for item in cases))
    made = AgentRecord(
        agent=agent,
        name=agent.partition("@")[0],
        version=agent.partition("@")[2],
        suite="s1",
        suite_id="suite-1",
        suite_name="first suite",
        suite_version="1",
        finished_at=FINISHED,
        machine_id="m1",
        benchmarks=tuple(
            BenchmarkRecord(name, name.title(), "accuracy", "r1", 0.5, len(cases), 5 * len(cases), "run-1")
            for name in names
        ),
        cases=tuple(cases),
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def drawn(chances: npt.NDArray[np.float64], tries: int, seed: Sequence[int], agent: str = "mine@1") -> AgentRecord:
    """An agent that passes each case with a chance of its own, with times that vary."""
    rng = np.random.default_rng(list(seed))
    cases = []
    for i, chance in enumerate(chances):
        passed = int(rng.binomial(tries, chance))
        used: Mapping[str, float] = {
            "duration_s": float(np.exp(rng.normal(0.0, 0.3))),
            "total_tokens": float(rng.integers(80, 120)),
            "cost_usd": float(rng.uniform(0.0008, 0.0012)),
        }
        cases.append(case(f"c{i:03}", passed, tries, used=used))
    return record(cases, agent)


def row(metric: str = "accuracy", **fields: object) -> PairedRow:
    """Accuracy 0.90 against 0.80 in 100 cases, beyond doubt; another metric is a relative one, 1 against 1.5."""
    score = metric in ("accuracy", "error_rate", "unscored", "reliability", "pass_hat_3", "overall")
    up = metric in ("accuracy", "reliability", "pass_hat_3", "overall")
    before, after, change = (0.9, 0.8, -0.1) if up else (0.0, 0.1, 0.1) if score else (1.0, 1.5, 0.5)
    made = PairedRow(
        metric=metric,
        benchmark="",
        quantity="score" if metric == "accuracy" else metric,
        unit="ratio" if score else "s",
        higher_is_better=up,
        relative=not score,
        baseline=before,
        candidate=after,
        change=change,
        p_value=0.0004,
        detectable=0.01,
        cases=100,
        clusters=100,
        wins=2,
        losses=20,
        verdict=Verdict.WORSE,
    )
    return replace(made, **fields)  # type: ignore[arg-type]
