"""The values of a metric in an arm, and what is known of the metric itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from agentdyno.model import Direction, Metric, Phase, Provenance, Sample, Spec, Status, known_metric
from agentdyno.model.parameter import ExperimentInfo

PER_PROCESS = frozenset({"peak_rss_bytes"})
"""Metrics that have one value per process, however many samples the process gave."""


def metric_values(samples: Iterable[Sample]) -> dict[str, list[float]]:
    """Values by metric name, in the order of the samples; instruments' own passes count for their metrics only."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for sample in samples:
        if sample.usable or (sample.phase is Phase.INSTRUMENTED and sample.status is Status.OK):
            for name, value in sample.readings.items():
                values[name].append(value)
    durations = values.get("duration_s")
    if durations and all(value > 0 for value in durations):
        values["throughput_per_s"] = [1.0 / value for value in durations]
    return dict(values)


def per_process(samples: Sequence[Sample], name: str) -> dict[int, list[float]]:
    """Values of usable samples by the process that gave them."""
    groups: defaultdict[int, list[float]] = defaultdict(list)
    for sample in samples:
        if sample.usable and name in sample.readings:
            groups[sample.process].append(sample.readings[name])
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
