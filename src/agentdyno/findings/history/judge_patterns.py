"""Signs that no single step shows: a slow drift, a growing scatter, failures that creep in.

Each looks at one series and is held against noise that is correlated and heavy-tailed: p-values are those of as many
independent points as the series is worth, and 0.01 is the most that counts (`judge_slope` says what counts for a
drift). Where nothing changes, fewer than one series in a hundred gives any of them (2 of 500 in the test with seeded
noise).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from agentdyno.findings.engine.severity import DEFAULT_THRESHOLD, FAILING, RANKS, Worsening, severity_of, threshold_of
from agentdyno.findings.history.judge import level_change
from agentdyno.findings.history.judge_slope import ALPHA, corrected, in_blocks
from agentdyno.findings.history.model import History, HistoryChange
from agentdyno.findings.history.model_regression import Detector, Regression, Severity
from agentdyno.model.metric import format_value
from agentdyno.stats import mann_whitney, theil_sen
from agentdyno.stats.samples import Array, median_of
from agentdyno.stats.series.long_run_variance import robust_sigma, running_median

CREEP_POINTS = 16
"""Fewest points in which a creep is sought; in fewer a rate of failing may drift like anything else."""
VARIANCE_POINTS = 30
"""Fewest points in which the scatter of the last third is set against that of the rest."""
SPREAD = 2.0
"""How many times the earlier scatter the later one must be."""
CREEP = 0.02
"""By how much a rate of failing must have risen over the series: two points of a hundred."""
_HINT = 1.25
_LATEST = 60


@dataclass(frozen=True, slots=True)
class _Sign:
    """``before`` and ``after`` are what was compared, ``start`` the first point of the stretch."""

    kind: str
    before: float
    after: float
    moved: Worsening
    threshold: float
    p_value: float
    start: int


def history_patterns(
    histories: Iterable[History], *, threshold: Mapping[str, float] | float = DEFAULT_THRESHOLD
) -> tuple[list[Regression], list[Regression]]:
    """Drifts, rising variance and error creep for the worse; and drifts for the better.

    A drift counts where it amounts to more than ``threshold`` over its stretch. A metric without a direction is never
    judged.
    """
    worse: list[Regression] = []
    better: list[Regression] = []
    for item in histories:
        if item.higher_is_better is None:
            continue
        limit = threshold_of(threshold, item.metric)
        creeping = item.metric in FAILING and len(item.points) >= CREEP_POINTS
        drifting = error_creep(item, limit) if creeping else drift(item, limit)
        for found in (drifting, rising_variance(item, limit)):
            if found is not None:
                (better if found.improvement else worse).append(found)
    return worse, better


def drift(item: History, threshold: float = DEFAULT_THRESHOLD) -> Regression | None:
    """The steady slope of the history, where it comes to more than ``threshold``."""
    line = item.drift
    if line is None:
        return None
    moved = level_change(item, line.before, line.after)
    if not (moved.exceeds(threshold) or moved.improves(threshold)):
        return None
    points = len(item.points) - line.index
    text = f"in a steady slope over {points} points, {moved.text(threshold, item.unit)}"
    sign = _Sign("drift", line.before, line.after, moved, threshold, line.p_value, line.index)
    return _finding(item, sign, f"{_move(item, line.before, line.after)} {text}")


def rising_variance(item: History, threshold: float = DEFAULT_THRESHOLD) -> Regression | None:
    """The last third scatters at least twice as much as before, and by half of ``threshold`` of the level or more.

    Scatter is the robust sigma around the running median, so that neither steps nor spikes count as scatter.
    """
    values = _values(item)
    if values.size < VARIANCE_POINTS:
        return None
    late = min(values.size // 3, _LATEST)
    steps = np.abs(np.diff(values))
    if median_of(steps[-late:]) < _HINT * median_of(steps[:-late]):
        return None  # a cheap look that spares most series the rest
    left = values - running_median(values)
    before, after = robust_sigma(left[:-late]), robust_sigma(left[-late:])
    level = abs(median_of(values))
    least = threshold / 2.0 * (level if level > 0.0 and item.metric not in FAILING else 1.0)
    if after < SPREAD * before or after <= least:
        return None
    sizes = np.abs(left)
    around = np.concatenate([sizes[:-late] - sizes[:-late].mean(), sizes[-late:] - sizes[-late:].mean()])
    p_value = corrected(mann_whitney(sizes[:-late], sizes[-late:]).p_value, around)
    if not p_value < ALPHA:
        return None
    relative = before > 0.0 and math.isfinite(after / before)
    moved = Worsening(after / before - 1.0 if relative else after, relative)
    severity = severity_of(item.metric, moved, math.nan, SPREAD - 1.0) if relative else Severity.LOW
    text = f"{item.metric}{_where(item)}: the scatter of the last {late} points is {format_value(after, item.unit)}"
    sign = _Sign("rising-variance", before, after, moved, SPREAD - 1.0, p_value, values.size - late)
    found = _finding(item, sign, f"{text}, before that {format_value(before, item.unit)}")
    return replace(found, severity=min(severity, Severity.MEDIUM, key=RANKS.__getitem__))


def error_creep(item: History, threshold: float = DEFAULT_THRESHOLD) -> Regression | None:
    """A rate of failing that rises by two points of a hundred or more over the series, without a step beyond
    ``threshold``: small ones count as part of the creep.

    Mostly zeros have no median slope: the line goes through the means of the first and the last third, and the ranks
    (Mann–Kendall) judge it.
    """
    large = [change.index for change in item.changes if not change.comparable or _large(item, change, threshold)]
    start = large[-1] if large else 0
    values = _values(item)[start:]
    if values.size < CREEP_POINTS:
        return None
    third = values.size // 3
    slope = (float(values[-third:].mean()) - float(values[:third].mean())) / (values.size - third)
    rise, middle = slope * (values.size - 1), float(values.mean())
    before = max(0.0, middle - rise / 2.0)
    after = min(1.0, before + rise)
    moved = level_change(item, before, after)
    if moved.amount < CREEP:
        return None
    blocks, size = in_blocks(values, middle=False)
    trend = theil_sen(blocks)
    if trend is None:
        return None
    p_value = corrected(trend.p_value, blocks - slope * size * np.arange(blocks.size))
    if not p_value < ALPHA:
        return None
    sign = _Sign("error-creep", before, after, moved, threshold, p_value, start)
    return _finding(item, sign, f"{_move(item, before, after)}, creeping up over {values.size} points")


def _large(item: History, change: HistoryChange, threshold: float) -> bool:
    moved = level_change(item, change.before, change.after)
    return moved.exceeds(threshold) or moved.improves(threshold)


def _values(item: History) -> Array:
    return np.array([point.value for point in item.points], dtype=np.float64)


def _where(item: History) -> str:
    return f" in {item.benchmark}" if item.benchmark else ""


def _move(item: History, before: float, after: float) -> str:
    return f"{item.metric}{_where(item)}: {format_value(before, item.unit)} → {format_value(after, item.unit)}"


def _finding(item: History, sign: _Sign, text: str) -> Regression:
    return Regression(
        detector=Detector.PATTERN,
        kind=sign.kind,
        metric=item.metric,
        baseline=sign.before,
        current=sign.after,
        amount=sign.moved.amount,
        relative=sign.moved.relative,
        threshold=sign.threshold,
        severity=severity_of(item.metric, sign.moved, sign.after, sign.threshold),
        explanation=f"{text}; p = {sign.p_value:.2g}",
        benchmark=item.benchmark,
        p_value=sign.p_value,
        improvement=sign.moved.amount < 0,
        since=item.points[sign.start].at,
        unit=item.unit,
    )
