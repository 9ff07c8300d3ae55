"""Hand-made records and rows of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentdyno.findings.duel.model import PairedRow
from agentdyno.model.metric import Verdict
from agentdyno.model.record import AgentRecord, BenchmarkRecord, CaseRecord

HIGHER = ("accuracy", "reliability")
QUANTITIES = {"speed": ("duration_s", "s"), "cost": ("cost_usd", "usd"), "efficiency": ("total_tokens", "")}


def case(
    case_id: str,
    score: float | None = 1.0,
    *,
    benchmark: str = "facts",
    digest: str = "",
    tries: int = 4,
    errors: int = 0,
    used: Mapping[str, float] | None = None,
) -> CaseRecord:
    passed = round((score or 0.0) * tries)
    return CaseRecord(
        benchmark=benchmark,
        case_id=case_id,
        digest=digest or f"digest of {case_id}",
        tries=tries,
        scored=tries - errors,
        passed=passed,
        score=score,
        statuses={"ok": passed, "failed": tries - passed - errors, "error": errors},
        used=used if used is not None else {"duration_s": 1.0},
    )


def record(
    version: str,
    cases: Sequence[CaseRecord],
    *,
    scores: Mapping[str, float | None] | None = None,
    categories: Mapping[str, str] | None = None,
    finished_at: int = 1_000,
) -> AgentRecord:
    names = list(dict.fromkeys(item.benchmark for item in cases)) or list(categories or {})
    return AgentRecord(
        agent=f"helper@{version}",
        name="helper",
        version=version,
        suite="digest",
        suite_id="suite",
        suite_name="suite",
        suite_version="1",
        finished_at=finished_at,
        machine_id="machine",
        benchmarks=tuple(
            BenchmarkRecord(
                benchmark_id=name,
                name=name,
                category=(categories or {}).get(name, "accuracy"),
                rubric="rubric",
                pass_threshold=0.5,
                cases=sum(item.benchmark == name for item in cases),
                planned=4,
                run_id=f"run {version}",
                scores=scores or {"accuracy": 0.8},
            )
            for name in names
        ),
        cases=tuple(cases),
    )


def row(
    metric: str,
    baseline: float | None,
    candidate: float | None,
    p_value: float | None = 0.0001,
    *,
    benchmark: str = "",
    cases: int = 40,
    scores: tuple[float | None, float | None] = (None, None),
) -> PairedRow:
    """A row as the engine judges it alone: significant at 5 % is better or worse."""
    quantity, unit = QUANTITIES.get(metric, (metric, "ratio"))
    verdict = None if p_value is None else Verdict.INCONCLUSIVE
    if p_value is not None and p_value < 0.05 and baseline is not None and candidate is not None:
        verdict = Verdict.BETTER if (candidate > baseline) == (metric in HIGHER) else Verdict.WORSE
    return PairedRow(
        metric=metric,
        benchmark=benchmark,
        quantity=quantity,
        unit=unit,
        higher_is_better=metric in HIGHER,
        relative=metric in QUANTITIES,
        baseline=baseline,
        candidate=candidate,
        baseline_score=scores[0],
        candidate_score=scores[1],
        p_value=p_value,
        adjusted_p=p_value,
        family=1,
        cases=cases,
        verdict=verdict,
    )
