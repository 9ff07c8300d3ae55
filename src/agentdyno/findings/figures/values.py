"""The values of a metric in an arm, and what is known of the metric itself."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from agentdyno.model import Direction, Metric, Phase, Provenance, Sample, Spec, Status, known_metric
from agentdyno.model.parameter import ExperimentInfo

THROUGHPUT = "throughput_per_s"
PER_PROCESS = frozenset({"peak_rss_bytes"})
"""Metrics that have one value per process, however many samples the process gave."""


def metric_values(samples: Iterable[Sample]) -> dict[str, list[float]]:
    """Values by metric name, in the order of the samples; instruments' own passes count for their metrics only."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for sample in samples:
        # What the measured code returns while a perturbing instrument watches it is disturbed as its clock is.
        own = f"{sample.instrument}." if sample.phase is Phase.INSTRUMENTED and sample.status is Status.OK else None
        for name, value in sample.readings.items():
            if (sample.usable or (own is not None and name.startswith(own))) and math.isfinite(value):
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
    return value if math.isfinite(value) else None


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
