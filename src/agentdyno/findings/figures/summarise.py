"""Samples of an arm to the figures of its metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from agentdyno.findings.figures.values import metric_named, metric_values, per_process
from agentdyno.model import Metric, MetricSummary, Phase, Sample
from agentdyno.stats import Values, count_outliers, describe, hierarchical, median_interval, without_outliers


def summarise(samples: Sequence[Sample], declared: Mapping[str, Metric] | None = None) -> dict[str, MetricSummary]:
    """One summary per metric, ``duration_s`` first."""
    values = metric_values(samples)
    names = sorted(values, key=lambda name: (name != "duration_s", name != "cpu_s", name))
    return {
        name: _summary(metric_named(name, declared or {}), values[name], per_process(samples, name)) for name in names
    }


def status_counts(samples: Sequence[Sample]) -> dict[str, int]:
    """How many measured samples ended in which way."""
    counts = Counter(sample.status.value for sample in samples if sample.phase is Phase.MEASURED)
    return dict(sorted(counts.items()))


def _summary(metric: Metric, values: list[float], processes: Mapping[int, list[float]]) -> MetricSummary:
    return summary_of(metric, values, _interval(values, processes))


def summary_of(metric: Metric, values: Values, ci: tuple[float, float] | None) -> MetricSummary:
    """The figures of at least one value, with the interval of the median as it was found."""
    figures = describe(values)
    outliers = count_outliers(values) if len(values) >= 4 else None
    kept = without_outliers(values) if outliers is not None and outliers.total else None
    return MetricSummary(
        unit=metric.unit,
        direction=metric.direction,
        provenance=metric.provenance,
        n=figures.n,
        mean=figures.mean,
        median=figures.median,
        p95=figures.p95,
        p99=figures.p99,
        ci=ci,
        std=figures.std,
        mad=figures.mad,
        cv=figures.cv,
        minimum=figures.minimum,
        maximum=figures.maximum,
        outliers=outliers.total if outliers is not None else 0,
        mean_without_outliers=float(kept.mean()) if kept is not None and len(kept) else None,
        machine_dependent=metric.machine_dependent,
    )


RESAMPLES = 1000


def _interval(values: list[float], processes: Mapping[int, list[float]]) -> tuple[float, float] | None:
    """Of the median: exact where one process gave all samples, else bootstrapped over processes and samples."""
    if len(processes) >= 3 and len(set(values)) > 1 and sum(map(len, processes.values())) == len(values):
        interval = hierarchical(list(processes.values()), "median", resamples=RESAMPLES, seed=len(values))
        return interval.low, interval.high
    exact = median_interval(values)
    return None if exact is None else (exact.low, exact.high)
