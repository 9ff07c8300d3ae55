"""Figures of stored runs in words: medians with their intervals, ratios of arms, growth."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from agentdyno import RunError, RunResult, compare

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class FigureEstimate:
    """A figure and its 95 % interval; ``None`` where there are too few samples for one."""

    value: float
    interval: tuple[float, float] | None = None

    def show(self, write: Callable[[float], str]) -> str:
        if self.interval is None:
            return write(self.value)
        low, high = self.interval
        return f"{write(self.value)} [{write(low)}, {write(high)}]"


@dataclass(frozen=True, slots=True)
class FigureSource:
    """A stored run and the store it is in, for comparisons between its arms."""

    run: RunResult
    store: str | None

    def arms(self, **params: object) -> list[int]:
        """Positions of the arms with these values of their parameters, in the order of the run."""
        return [
            number
            for number, arm in enumerate(self.run.arms)
            if all(arm.params.get(name) == value for name, value in params.items())
        ]

    def arm(self, **params: object) -> int:
        """The one arm with these parameters."""
        found = self.arms(**params)
        if len(found) != 1:
            words = ", ".join(f"{name}={value}" for name, value in params.items())
            raise RunError(
                f"run {self.run.run_id} has {len(found)} arms with {words}",
                remedy="Run the shipped spec as it is: dyno run workload:simulation/"
                f"{self.run.name}, or packages/agentdyno-workloads/scripts/simulation_results.sh for all of them.",
            )
        return found[0]

    def values(self, name: str) -> list[object]:
        """The values of a parameter, in the order of the run, each once."""
        return list(dict.fromkeys(arm.params[name] for arm in self.run.arms if name in arm.params))

    def median(self, arm: int, metric: str) -> FigureEstimate | None:
        """A metric's median in an arm; ``None`` where it was not measured."""
        summary = self.run.arms[arm].metrics.get(metric)
        if summary is None or summary.median is None:
            return None
        return FigureEstimate(summary.median, summary.ci)

    def samples(self, arm: int, metric: str) -> list[float]:
        """A metric's values in the measured iterations, in their order."""
        usable = [sample for sample in self.run.arms[arm].samples if sample.usable]
        return [sample.readings[metric] for sample in usable if metric in sample.readings]

    def ratio(self, baseline: int, candidate: int, metric: str) -> tuple[FigureEstimate, str] | None:
        """A metric's ratio between two arms that ran by turns, with the verdict of comparing them."""
        first, second = (f"{self.run.run_id}:{self.run.arms[number].arm_id}" for number in (baseline, candidate))
        found = compare(first, second, store=self.store)
        for row in (row for arm in found.arms for row in arm.metrics if row.metric.name == metric):
            if row.ratio is not None:
                # With few samples the interval has no end.
                bounded = row.interval is not None and all(map(math.isfinite, row.interval))
                verdict = "" if row.verdict is None else row.verdict.value
                return FigureEstimate(row.ratio, row.interval if bounded else None), verdict
        return None


def median_of(values: Sequence[float]) -> FigureEstimate:
    """The median of one value or more; its interval lies between two of the ordered values."""
    ordered = np.sort(np.asarray(values, dtype=float))
    count = ordered.size
    median = float(np.median(ordered))
    # How many values may lie beyond each end: the largest number that is exceeded with 97.5 %.
    beyond, tail = -1, 0.0
    while beyond < count:
        tail += math.comb(count, beyond + 1) / 2**count
        if tail > (1 - CONFIDENCE) / 2:
            break
        beyond += 1
    if beyond < 0:
        return FigureEstimate(median)
    return FigureEstimate(median, (float(ordered[beyond]), float(ordered[count - 1 - beyond])))


def number(value: float) -> str:
    """Three digits, or all before the point."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(decimals, 6)}f}"


def duration(value_s: float) -> str:
    """Seconds, milliseconds or microseconds."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if abs(value_s) * factor >= 1:
            return f"{number(value_s * factor)} {unit}"
    return f"{number(value_s * 1e6)} µs"


def times(value: float) -> str:
    return f"{value:.2f}×"


def percent(value: float) -> str:
    return f"{value:+.1%}"
