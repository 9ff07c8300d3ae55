"""Figures that a tool kept instead of raw values."""

from __future__ import annotations

from dataclasses import dataclass

from agentdyno.model import Metric, MetricSummary

UNKNOWN_FIGURES = "unknown_figures"
"""The key of ``ArmResult.observed`` that lists the figures of ``MetricSummary`` that say nothing in this arm."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What is known of ``n`` values without having them, in the unit of the metric. ``None`` is unknown."""

    n: int
    mean: float
    median: float
    std: float | None = None
    minimum: float | None = None
    maximum: float | None = None

    @property
    def unknown(self) -> tuple[str, ...]:
        """The figures of a ``MetricSummary`` that cannot be told from these."""
        given = {"std": self.std, "minimum": self.minimum, "maximum": self.maximum}
        return ("p95", "p99", "mad", *(name for name, value in given.items() if value is None))

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
