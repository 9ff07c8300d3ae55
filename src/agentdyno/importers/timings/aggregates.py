"""Figures that a tool kept instead of raw values."""

from __future__ import annotations

from dataclasses import dataclass

from agentdyno.model import Metric, MetricSummary


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What is known of ``n`` values without having them, in the unit of the metric. ``None`` is unknown."""

    n: int
    mean: float
    median: float | None = None
    std: float | None = None
    minimum: float | None = None
    maximum: float | None = None

    def summary(self, metric: Metric) -> MetricSummary:
        """What is not known stays null."""
        return MetricSummary(
            unit=metric.unit,
            direction=metric.direction,
            provenance=metric.provenance,
            n=self.n,
            mean=self.mean,
            median=self.median,
            p95=None,
            p99=None,
            ci=None,
            std=self.std,
            cv=self.std / self.mean if self.std is not None and self.mean > 0 else None,
            minimum=self.minimum,
            maximum=self.maximum,
            machine_dependent=metric.machine_dependent,
        )
