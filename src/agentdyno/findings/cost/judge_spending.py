"""What one agent spent, and on what: sums over the cases of its record."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agentdyno.findings.cost.judge_common_cases import known_use
from agentdyno.model.record import AgentRecord, CaseRecord
from agentdyno.stats import bca

_RESAMPLES = 1_000
_MOST_RESAMPLED = 400
_STRAIGHT_UP = math.pi / 2 - 1e-6


@dataclass(frozen=True, slots=True)
class Spending:
    """One agent in a suite or (``benchmark``) in one benchmark; money is US dollars, ``None`` is unknown.

    ``accuracy`` is the mean over benchmarks of the mean case score; ``speed`` is the mean of their speed scores,
    ``None`` where one of them has none. ``duration_s`` is the median over cases. ``known_tokens`` are those of the
    ``counted`` tasks, whose tokens are known.
    """

    record: AgentRecord
    benchmark: str
    cases: tuple[CaseRecord, ...]
    tasks: int
    successes: int
    cost_usd: float | None
    accuracy: float | None
    speed: float | None
    duration_s: float | None
    total_tokens: float | None
    known_tokens: float | None
    counted: int

    @property
    def cost_per_task_usd(self) -> float | None:
        return None if self.cost_usd is None or not self.tasks else self.cost_usd / self.tasks

    @property
    def cost_per_success_usd(self) -> float | None:
        return None if self.cost_usd is None or not self.successes else self.cost_usd / self.successes


def spending_of(record: AgentRecord, benchmark: str = "") -> Spending:
    """The sums of a record, over the cases that were tried."""
    cases = tuple(case for case in record.cases if case.tries and benchmark in ("", case.benchmark))
    durations = [value for case in cases if not math.isnan(value := known_use(case, "duration_s"))]
    counted = tuple(case for case in cases if not math.isnan(known_use(case, "total_tokens")))
    return Spending(
        record=record,
        benchmark=benchmark,
        cases=cases,
        tasks=sum(case.tries for case in cases),
        successes=sum(case.passed for case in cases),
        cost_usd=_total(cases, "cost_usd"),
        accuracy=_accuracy(cases),
        speed=_speed(record, benchmark),
        duration_s=float(np.median(durations)) if durations else None,
        total_tokens=_total(cases, "total_tokens"),
        known_tokens=_total(counted, "total_tokens"),
        counted=sum(case.tries for case in counted),
    )


def cost_of(case: CaseRecord) -> float:
    """US dollars for all executions of a case whose cost is known."""
    return known_use(case, "cost_usd") * case.tries


def cost_interval(spending: Spending, seed: int) -> tuple[float, float] | None:
    """95 % interval of the cost per success: BCa over clusters of cases drawn again; above 400 of them, from the
    cluster-robust standard error of its logarithm.

    Where every execution succeeded that is no proof that every one would: the share of successes then counts as no
    more certain than so many independent cases make it. ``None`` for fewer than two clusters and where the cost or a
    success is missing, or could as well be.
    """
    value = spending.cost_per_success_usd
    sums = _cluster_sums(spending.cases)
    if value is None or spending.cost_usd is None or len(sums) < 2:
        return None
    if spending.cost_usd == 0:
        return 0.0, 0.0
    if spending.successes == spending.tasks:
        low, high = _always_right(sums, seed)
    elif len(sums) > _MOST_RESAMPLED:
        low, high = _of_many(sums, value)
    else:
        # The angle grows with the cost per success and stays finite where a draw has no success.
        cost, passed = np.ascontiguousarray((sums[:, :2] / sums[:, :2].sum(axis=0)).T)

        def angle(places: npt.NDArray[np.float64], axis: int) -> npt.NDArray[np.float64]:
            picked = places.astype(np.int64)
            return np.asarray(
                np.arctan2(cost[picked].sum(axis=axis), passed[picked].sum(axis=axis)), dtype=np.float64
            )

        found = bca(np.arange(len(sums), dtype=np.float64), angle, resamples=_RESAMPLES, seed=seed)
        if found.high >= _STRAIGHT_UP:
            return None
        low, high = math.tan(found.low) * value, math.tan(found.high) * value
    return min(low, value), max(high, value)


def _of_many(sums: npt.NDArray[np.float64], value: float) -> tuple[float, float]:
    count = len(sums)
    left = sums[:, 0] - value * sums[:, 1]
    error = math.sqrt(count / (count - 1) * float((left**2).sum())) / float(sums[:, 0].sum())
    reach = math.exp(min(1.96 * error, 700.0))
    return value / reach, value * reach


def _always_right(sums: npt.NDArray[np.float64], seed: int) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    count = len(sums)
    picked = rng.integers(count, size=(_RESAMPLES, count))
    per_task = sums[:, 0][picked].sum(axis=1) / sums[:, 2][picked].sum(axis=1)
    draws = per_task / rng.beta(count + 0.5, 0.5, size=_RESAMPLES)
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def _cluster_sums(cases: tuple[CaseRecord, ...]) -> npt.NDArray[np.float64]:
    """Per cluster: cost, successes, executions."""
    sums: dict[str, list[float]] = {}
    for case in cases:
        row = sums.setdefault(case.cluster, [0.0, 0.0, 0.0])
        row[0] += cost_of(case)
        row[1] += case.passed
        row[2] += case.tries
    return np.array(list(sums.values()), dtype=np.float64).reshape(-1, 3)


def _total(cases: tuple[CaseRecord, ...], name: str) -> float | None:
    """Over all executions; unknown where one case does not know."""
    values = [known_use(case, name) * case.tries for case in cases]
    return math.fsum(values) if values and not any(map(math.isnan, values)) else None


def _accuracy(cases: tuple[CaseRecord, ...]) -> float | None:
    scores: dict[str, list[float]] = {}
    for case in cases:
        if case.score is not None:
            scores.setdefault(case.benchmark, []).append(case.score)
    means = [math.fsum(own) / len(own) for own in scores.values()]
    return math.fsum(means) / len(means) if means else None


def _speed(record: AgentRecord, benchmark: str) -> float | None:
    found = [item.scores.get("speed") for item in record.benchmarks if benchmark in ("", item.benchmark_id)]
    known = [value for value in found if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(found) else None
