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
        """A summary has a place for figures that are unknown here and cannot leave it empty.

        The high quantiles stand at the largest figure that is known, the others at their defaults; ``unknown`` names
        them, and belongs into what the arm observed.
        """
        largest = max(self.mean, self.median, self.maximum or 0.0)
        return MetricSummary(
            unit=metric.unit,
            direction=metric.direction,
            provenance=metric.provenance,
            n=self.n,
            mean=self.mean,
            median=self.median,
            p95=largest,
            p99=largest,
            ci=None,
            std=self.std or 0.0,
            cv=self.std / self.mean if self.std is not None and self.mean > 0 else None,
            minimum=self.minimum or 0.0,
            maximum=self.maximum or 0.0,
            machine_dependent=metric.machine_dependent,
        )
