"""The figures that bands are about, taken from one arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentdyno.model.metric import CensoredValue, Provenance
from agentdyno.model.plan import Phase
from agentdyno.model.result import ArmResult, MetricSummary
from agentdyno.stats.series.trend import theil_sen
from agentdyno.stats.survival import median_time

FEWEST_POINTS = 10
"""Samples of one process from which growing memory is told from chance."""
WARM_SHARE = 0.2
"""The first fifth of them is left out: caches fill, modules are loaded."""
SIGNIFICANT = 0.01
LEAST_GROWTH_BYTES = 1024.0**2
FEWEST_FOR_SPREAD = 3


@dataclass(frozen=True, slots=True)
class BandFigure:
    """One figure; ``value`` is ``None`` where what it counts did not come about."""

    metric: str
    figure: str
    value: float | None
    unit: str
    n: int
    simulated: bool = False


def summarised(name: str, figure: str) -> Callable[[ArmResult], BandFigure | None]:
    """Takes one figure (``median``, ``p95``, ``maximum``, …) of a metric, where the arm has it."""

    def take(arm: ArmResult) -> BandFigure | None:
        summary = arm.metrics.get(name)
        value: float | None = getattr(summary, figure) if summary is not None and summary.n else None
        if summary is None or value is None:
            return None
        return BandFigure(name, figure, value, summary.unit, summary.n, _simulated(summary))

    return take


def variation_of_times(arm: ArmResult) -> BandFigure | None:
    """The coefficient of variation of an arm's times, from three samples on."""
    summary = arm.metrics.get("duration_s")
    if summary is None or summary.cv is None or summary.n < FEWEST_FOR_SPREAD:
        return None
    return BandFigure("duration_s", "cv", summary.cv, "ratio", summary.n, _simulated(summary))


def memory_growth(arm: ArmResult) -> BandFigure | None:
    """By how much the memory of one process grew over its samples, as a share of where it stood after warming up.

    It is 0 where it does not rise significantly, or by less than a megabyte. Not known where no process took enough
    samples.
    """
    taken = [item for item in arm.samples if item.phase is Phase.MEASURED and "rss_bytes" in item.readings]
    if not taken:
        return None
    process, _ = Counter(item.process for item in taken).most_common(1)[0]
    values = [item.readings["rss_bytes"] for item in taken if item.process == process]
    kept = values[round(len(values) * WARM_SHARE) :]
    trend = theil_sen(kept) if len(values) >= FEWEST_POINTS else None
    if trend is None or kept[0] <= 0:
        return None
    grown = trend.slope * (len(kept) - 1)
    is_rising = trend.p_value < SIGNIFICANT and trend.slope > 0 and grown >= LEAST_GROWTH_BYTES
    return BandFigure("rss_bytes", "growth", grown / kept[0] if is_rising else 0.0, "ratio", len(kept))


def episodes_to_target(arm: ArmResult) -> BandFigure | None:
    """Kaplan-Meier median of ``episodes_to_target``, which trainings return at their end."""
    found = [time for item in arm.samples if (time := _censored(item.output)) is not None]
    if not found:
        return None
    return BandFigure("result.episodes_to_target", "median", median_time(found).median, "", len(found))


def _censored(output: object) -> CensoredValue | None:
    told = output.get("episodes_to_target") if isinstance(output, Mapping) else None
    value = told.get("value") if isinstance(told, Mapping) else None
    if not isinstance(told, Mapping) or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return CensoredValue(float(value), reached=told.get("reached") is True)


def _simulated(summary: MetricSummary) -> bool:
    return summary.provenance is Provenance.SIMULATED
