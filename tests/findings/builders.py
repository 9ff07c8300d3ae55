"""Arms and results made of given numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from agentdyno.findings.engine.match import Operand
from agentdyno.model import (
    ArmResult,
    Entry,
    Environment,
    Metric,
    MetricSummary,
    Order,
    Phase,
    RunResult,
    RunStatus,
    Sample,
    Side,
    Spec,
    Status,
    known_metric,
)

ENVIRONMENT = Environment("machine-1", "Linux", "6.1", "Some CPU", 4, 8 << 30, "3.11.7", "CPython", "0.1.0")


def samples(
    values: Mapping[str, Sequence[float]], *, processes: int = 1, arm_id: str = "a", status: Status = Status.OK
) -> tuple[Sample, ...]:
    """One sample per position of the values, spread evenly over the processes, in order."""
    total = len(next(iter(values.values())))
    return tuple(
        Sample(
            arm_id,
            Phase.MEASURED,
            i,
            status,
            1_700_000_000_000 + i,
            {name: float(numbers[i]) for name, numbers in values.items()},
            process=i * processes // total,
        )
        for i in range(total)
    )


def summary(metric: Metric) -> MetricSummary:
    """What an arm says of a metric; its figures do not matter where samples are compared."""
    made = MetricSummary(metric.unit, metric.direction, metric.provenance, 1, 1.0, 1.0, 1.0, 1.0, None)
    return replace(made, machine_dependent=metric.machine_dependent)


def arm_of(own: Sequence[Sample], *, metrics: Sequence[Metric] = (), **fields: object) -> ArmResult:
    """An arm with these samples; ``metrics`` are those that its name does not tell enough about."""
    names = dict.fromkeys(name for sample in own for name in sample.readings)
    known = {name: known_metric(name) for name in names} | {metric.name: metric for metric in metrics}
    made = ArmResult("a", "work", "work", metrics={name: summary(metric) for name, metric in known.items()})
    return replace(made, samples=tuple(own), **fields)  # type: ignore[arg-type]


def arm(
    values: Mapping[str, Sequence[float]] | Sequence[float], *, processes: int = 1, metrics: Sequence[Metric] = ()
) -> ArmResult:
    """An arm with these values; a bare list are durations."""
    named = values if isinstance(values, Mapping) else {"duration_s": values}
    return arm_of(samples(named, processes=processes), metrics=metrics)


def result(
    *arms: ArmResult, run_id: str = "run", machine: str = "machine-1", order: Order = Order.INTERLEAVED
) -> RunResult:
    return RunResult(
        run_id,
        "experiment",
        "name",
        RunStatus.COMPLETE,
        0,
        1,
        0,
        Spec("name", (Entry("work"),), order=order),
        replace(ENVIRONMENT, machine_id=machine),
        None,
        arms=arms,
    )


def operand(label: str, *arms: ArmResult, machine: str = "machine-1", run_id: str | None = None) -> Operand:
    """One side of a comparison of two runs."""
    return Operand(label, result(*arms, run_id=run_id or label, machine=machine), arms)


def two_sided(baseline: ArmResult, candidate: ArmResult, order: Order = Order.INTERLEAVED) -> RunResult:
    """A run that measured both."""
    return result(
        replace(baseline, arm_id="b", side=Side.BASELINE),
        replace(candidate, arm_id="c", side=Side.CANDIDATE),
        order=order,
    )


def noisy(
    rng: np.random.Generator,
    centre: float = 0.01,
    *,
    n: int = 30,
    spread: float = 0.02,
    processes: int = 1,
    own: float = 0,
) -> list[float]:
    """Lognormal values around ``centre``: ``spread`` between samples, ``own`` between processes."""
    of_process = rng.normal(0, own, processes) if own else np.zeros(processes)
    effect = of_process[np.arange(n) * processes // n]
    return [float(value) for value in centre * np.exp(effect + rng.normal(0, spread, n))]
