"""Samples of an arm to the figures of its metrics."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from agentdyno.model import Direction, Metric, MetricSummary, Phase, Provenance, Sample, Spec, Status, known_metric
from agentdyno.model.parameter import ExperimentInfo
from agentdyno.stats import Values, describe, median_interval


def summarise(samples: Sequence[Sample], declared: Mapping[str, Metric] | None = None) -> dict[str, MetricSummary]:
    """One summary per metric, ``duration_s`` first."""
    values = metric_values(samples)
    names = sorted(values, key=lambda name: (name != "duration_s", name != "cpu_s", name))
    # Of one or two processes no interval takes notice; to divide the values of every metric costs time.
    several = len({sample.process for sample in samples}) >= FEWEST_PROCESSES
    processes = {name: per_process(samples, name) if several else {} for name in names}
    return {name: _summary(metric_named(name, declared or {}), values[name], processes[name]) for name in names}


def status_counts(samples: Sequence[Sample]) -> dict[str, int]:
    """How many measured samples ended in which way."""
    counts = Counter(sample.status.value for sample in samples if sample.phase is Phase.MEASURED)
    return dict(sorted(counts.items()))


def _summary(metric: Metric, values: list[float], processes: Mapping[int, list[float]]) -> MetricSummary:
    return summary_of(metric, values, _interval(values, processes))


def summary_of(metric: Metric, values: Values, ci: tuple[float, float] | None) -> MetricSummary:
    """The figures of at least one value, with the interval of the median as it was found."""
    figures = describe(values)
    outliers, mean_within = _outliers(values) if len(values) >= 4 else (0, None)
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
        outliers=outliers,
        mean_without_outliers=mean_within,
        machine_dependent=metric.machine_dependent,
    )


def _outliers(values: Values) -> tuple[int, float | None]:
    """How many there are, and the mean of the others where that is another one."""
    from agentdyno.stats import count_outliers, without_outliers

    count = count_outliers(values).total
    kept = without_outliers(values) if count else None
    return count, float(kept.mean()) if kept is not None and len(kept) else None


RESAMPLES = 1000
FEWEST_PROCESSES = 3
"""That an interval can be bootstrapped over."""


def _interval(values: list[float], processes: Mapping[int, list[float]]) -> tuple[float, float] | None:
    """Of the median: exact where one process gave all samples, or each a single one (these share nothing); else
    bootstrapped over processes and samples."""
    several = FEWEST_PROCESSES <= len(processes) < len(values)
    if several and len(set(values)) > 1 and sum(map(len, processes.values())) == len(values):
        from agentdyno.stats import hierarchical

        interval = hierarchical(list(processes.values()), "median", resamples=RESAMPLES, seed=len(values))
        return interval.low, interval.high
    exact = median_interval(values)
    return None if exact is None else (exact.low, exact.high)


def whole_trials(samples: Sequence[Sample]) -> Sequence[Sample]:
    """One sample a trial where trials gave several: samples of one trial are no independent readings.

    Times add up, a peak is the highest, every other reading is the mean of those that have it. A trial whose last
    sample failed counts as failed.
    """
    if not any(sample.part for sample in samples):
        return samples
    trials: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        trials[sample.key].append(sample)
    return [_whole(sorted(parts, key=lambda sample: sample.part)) for parts in trials.values()]


def _whole(parts: Sequence[Sample]) -> Sample:
    values: defaultdict[str, list[float]] = defaultdict(list)
    for sample in parts:
        for name, value in sample.readings.items():
            values[name].append(value)
    readings = {name: _JOINED.get(name, fmean)(found) for name, found in values.items()}
    return replace(parts[-1], readings=readings, started_at_ms=parts[0].started_at_ms, part=0)


_JOINED: dict[str, Callable[[Iterable[float]], float]] = {
    "duration_s": sum,
    "cpu_s": sum,
    "involuntary_switches": sum,
    "peak_rss_bytes": max,
}
THROUGHPUT = "throughput_per_s"
_LARGEST = 1e150
"""Of larger numbers neither the sum of squares nor, in the end, the mean is a number."""
PER_PROCESS = frozenset({"peak_rss_bytes"})
"""Metrics that have one value per process, however many samples the process gave."""


def metric_values(samples: Iterable[Sample]) -> dict[str, list[float]]:
    """Values by metric name, in the order of the samples; instruments' own passes count for their metrics only."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for sample in samples:
        # What the measured code returns while a perturbing instrument watches it is disturbed as its clock is.
        own = f"{sample.instrument}." if sample.phase is Phase.INSTRUMENTED and sample.status is Status.OK else None
        usable = sample.usable
        for name, value in sample.readings.items():
            if (usable or (own is not None and name.startswith(own))) and abs(value) <= _LARGEST:
                values[name].append(value)
    durations = values.get("duration_s")
    if durations and all(value > 0 for value in durations):
        values[THROUGHPUT] = [1.0 / value for value in durations]
    return dict(values)


def usable_value(sample: Sample, name: str) -> float | None:
    """The value that a sample of the timed work gives for a metric, measured or derived; ``None`` without one."""
    if not sample.usable:
        return None
    if name == THROUGHPUT and name not in sample.readings:
        duration = sample.readings.get("duration_s", 0.0)
        value = 1.0 / duration if duration > 0 else math.nan
    else:
        value = sample.readings.get(name, math.nan)
    return value if abs(value) <= _LARGEST else None


def per_process(samples: Sequence[Sample], name: str) -> dict[int, list[float]]:
    """Values of usable samples by the process that gave them."""
    groups: defaultdict[int, list[float]] = defaultdict(list)
    for sample in samples:
        value = usable_value(sample, name)
        if value is not None:
            groups[sample.process].append(value)
    return dict(groups)


def declared_metrics(spec: Spec, infos: Iterable[ExperimentInfo] = ()) -> dict[str, Metric]:
    """Metrics that a spec or an experiment declares for the numbers it returns, as ``result.<key>``."""
    metrics: dict[str, Metric] = {}
    for info in infos:
        for metric in info.metrics:
            name = f"result.{metric.name}"
            metrics[name] = Metric(name, metric.unit, metric.direction, metric.provenance, metric.machine_dependent)
    for key, declared in spec.metrics.items():
        name = key if "." in key else f"result.{key}"
        metrics[name] = Metric(name, declared.unit, Direction(declared.direction), Provenance.MEASURED)
    return metrics


def metric_named(name: str, declared: Mapping[str, Metric]) -> Metric:
    """The declared metric of that name, else what its name tells."""
    return declared.get(name) or known_metric(name)
