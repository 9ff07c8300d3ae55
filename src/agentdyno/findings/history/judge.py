"""A metric of one subject over time: where its level changed, and what became worse for good."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from agentdyno.findings.engine.severity import DEFAULT_THRESHOLD, Worsening, severity_of, threshold_of, worsening
from agentdyno.findings.figures.dimensions import OVERALL, WEIGHTS
from agentdyno.findings.history.judge_series import depends_on_machine, series_metric
from agentdyno.findings.history.judge_slope import find_slope
from agentdyno.findings.history.model import History, HistoryChange, HistoryDrift, HistoryLevel, HistoryPoint
from agentdyno.findings.history.model_regression import Detector, Impact, Regression
from agentdyno.model.metric import format_value
from agentdyno.stats.intervals import Interval
from agentdyno.stats.samples import Array, median_of
from agentdyno.stats.series.changepoint import Change, analyse
from agentdyno.stats.series.level import last_level, slope_end
from agentdyno.stats.series.short import FEWEST_POINTS

_LARGEST = 1e150
"""Squares of larger values are not finite."""
_NEAR = 2
"""How many points a change that is found may lie from what caused it."""
_AROUND = 8
"""Points a side that say which suite, machine or version a level belongs to."""
_Attribute = Literal["suite", "machine_id", "version", "proxied"]


def history(
    subject: str,
    metric: str,
    points: Sequence[HistoryPoint],
    *,
    unit: str,
    higher_is_better: bool | None,
    suite: str = "",
    benchmark: str = "",
    baseline: float | None = None,
) -> History:
    """The series, oldest first, with every change of level that is more than noise.

    A change within two points of one of the suite's version, or of the machine or of whether model calls were
    recorded where the metric depends on it, is kept with that as its ``cause`` and is not comparable; one at a change
    of the agent's version names both versions.
    Points without a finite value are left out, and ``note`` says so.
    """
    finite = sorted((point for point in points if math.isfinite(point.value)), key=lambda point: point.at)
    values = np.array([point.value for point in finite], dtype=np.float64)
    found = analyse(values)
    bounds = [0, *(change.index for change in found), len(finite)]
    changes = tuple(
        _change(finite, change, (bounds[place], bounds[place + 2]), metric, higher_is_better)
        for place, change in enumerate(found)
    )
    line = find_slope(values, changes) if values.size and np.abs(values).max() < _LARGEST else None
    drift = (
        None
        if line is None
        else HistoryDrift(line.start, finite[line.start].at, line.before, line.after, line.p_value)
    )
    return History(
        subject=subject,
        metric=metric,
        unit=unit,
        higher_is_better=higher_is_better,
        points=tuple(finite),
        changes=changes,
        suite=suite,
        benchmark=benchmark,
        baseline=baseline if baseline is not None and math.isfinite(baseline) else None,
        note=" ".join(_notes(finite, len(points) - len(finite), changes)),
        drift=drift,
        now=_now(values, changes, drift, unit) if finite else None,
    )


def metric_history(
    subject: str,
    metric: str,
    points: Sequence[HistoryPoint],
    *,
    suite: str = "",
    benchmark: str = "",
    baseline: float | None = None,
) -> History:
    """``history`` of a metric of agents, whose unit and direction are known."""
    kind = series_metric(metric)
    return history(
        subject,
        metric,
        points,
        unit=kind.unit,
        higher_is_better=kind.higher_is_better,
        suite=suite,
        benchmark=benchmark,
        baseline=baseline,
    )


def history_regressions(
    histories: Iterable[History], *, threshold: Mapping[str, float] | float = DEFAULT_THRESHOLD
) -> tuple[list[Regression], list[Regression]]:
    """Regressions and improvements: the comparable changes of more than ``threshold`` (a share of the level before,
    points for rates of failing), in the order of the histories.

    One that a later change took back has ``undone_at``. A metric without a direction is never judged.
    """
    worse: list[Regression] = []
    better: list[Regression] = []
    for item in histories:
        if item.higher_is_better is None:
            continue
        limit = threshold_of(threshold, item.metric)
        for place, change in enumerate(item.changes):
            moved = level_change(item, change.before, change.after)
            if not change.comparable or not (moved.exceeds(limit) or moved.improves(limit)):
                continue
            (worse if moved.amount > 0 else better).append(_finding(item, place, moved, limit))
    return worse, better


def level_change(item: History, before: float, after: float) -> Worsening:
    """By how much one level of a history is worse than another."""
    return worsening(item.metric, before, after, higher_is_better=item.higher_is_better is not False, unit=item.unit)


def _now(values: Array, changes: Sequence[HistoryChange], drift: HistoryDrift | None, unit: str) -> HistoryLevel:
    """The level of the last regime, a provisional one too; where the series drifts, how far it came."""
    if np.abs(values).max() >= _LARGEST:
        return HistoryLevel(median_of(values), None, None, values.size)
    known: Interval | None
    if drift is not None:
        start, sure = drift.index, True
        value, known = slope_end(values[start:])
    else:
        start, sure = (changes[-1].index, changes[-1].confirmed) if changes else (0, True)
        value, known = last_level(values, [change.index for change in changes])
    if known is None:
        return HistoryLevel(value, None, None, values.size - start, sure)
    # Few points have a wide interval: not wider than what such values can be.
    low = max(known.low, 0.0) if values.min() >= 0.0 else known.low
    high = min(known.high, 1.0) if unit == "ratio" and values.max() <= 1.0 else known.high
    return HistoryLevel(value, low, high, values.size - start, sure)


def _change(
    points: Sequence[HistoryPoint],
    change: Change,
    bounds: tuple[int, int],
    metric: str,
    higher_is_better: bool | None,
) -> HistoryChange:
    index = change.index
    before, after = points[max(bounds[0], index - _AROUND) : index], points[index : min(bounds[1], index + _AROUND)]
    at_suite = _switch(points, index, (before, after), "suite")
    at_machine = _switch(points, index, (before, after), "machine_id")
    at_version = _switch(points, index, (before, after), "version")
    at_recording = _switch(points, index, (before, after), "proxied")
    place = index if at_version is None else at_version
    causes = []
    if at_suite is not None:
        causes.append("the suite changed")
    if at_machine is not None:
        causes.append("the machine changed")
    if at_recording is not None:
        since = "from here on" if points[at_recording].proxied else "until here"
        causes.append(f"model calls were recorded {since}")
    if at_version is not None:
        causes.append(f"version {points[place - 1].version} → {points[place].version}")
    return HistoryChange(
        index=index,
        at=points[index].at,
        before=change.before,
        after=change.after,
        relative=change.relative,
        p_value=change.p_value,
        confirmed=change.confirmed,
        better=None if higher_is_better is None else (change.absolute > 0) == higher_is_better,
        version_before=points[place - 1].version,
        version_after=points[place].version,
        cause=", ".join(causes),
        comparable=at_suite is None
        and ((at_machine is None and at_recording is None) or not depends_on_machine(metric)),
    )


def _switch(
    points: Sequence[HistoryPoint],
    index: int,
    sides: tuple[Sequence[HistoryPoint], Sequence[HistoryPoint]],
    name: _Attribute,
) -> int | None:
    """Where near ``index`` an attribute changed for good; ``None`` where it did not, or is not known.

    For good: it is not the same for most points of both sides. Runs that alternate between two machines are no
    reason for a level to change.
    """
    before, after = (Counter(str(getattr(point, name)) for point in side).most_common(1)[0][0] for side in sides)
    if before == after or not before or not after:
        return None
    near = [
        place
        for place in range(max(1, index - _NEAR), min(len(points), index + _NEAR + 1))
        if getattr(points[place - 1], name) != getattr(points[place], name)
    ]
    return min(near, key=lambda place: abs(place - index), default=None)


def _notes(points: Sequence[HistoryPoint], left_out: int, changes: Sequence[HistoryChange]) -> list[str]:
    notes = []
    if left_out:
        notes.append(f"{left_out} {'point' if left_out == 1 else 'points'} without a finite value left out.")
    if len(points) < FEWEST_POINTS:
        count = f"{len(points)} {'point' if len(points) == 1 else 'points'}" if points else "No point"
        notes.append(f"{count}: {FEWEST_POINTS} are needed to tell a change, {FEWEST_POINTS - len(points)} more.")
    elif len({point.value for point in points}) == 1:
        notes.append("All values are equal.")
    apart = sum(not change.comparable for change in changes)
    if apart:
        notes.append(
            f"{apart} {'change comes' if apart == 1 else 'changes come'} with another suite, machine or recording "
            "and cannot be put down to the subject."
        )
    return notes


def _finding(item: History, place: int, moved: Worsening, threshold: float) -> Regression:
    change = item.changes[place]
    certain = "" if change.confirmed else f"; provisional, seen in {len(item.points) - change.index} points"
    cause = f", with {change.cause}" if change.cause else ""
    values = f"{format_value(change.before, item.unit)} → {format_value(change.after, item.unit)}"
    return Regression(
        detector=Detector.HISTORY,
        kind="step",
        metric=item.metric,
        baseline=change.before,
        current=change.after,
        amount=moved.amount,
        relative=moved.relative,
        threshold=threshold,
        severity=severity_of(item.metric, moved, change.after, threshold),
        explanation=(
            f"{item.metric} in {item.benchmark or 'the whole series'}: {values}, "
            f"{moved.text(threshold, item.unit)}{cause}{certain}; p = {change.p_value:.2g}"
        ),
        benchmark=item.benchmark,
        p_value=change.p_value,
        confirmed=change.confirmed,
        improvement=moved.amount < 0,
        since=change.at,
        version=change.version_after,
        impact=Impact(overall=_overall_loss(item, change)),
        unit=item.unit,
        undone_at=_undone(item, place, threshold),
    )


def _overall_loss(item: History, change: HistoryChange) -> float | None:
    """What the step alone takes from the overall score; only a history of whole runs of that score can say."""
    if item.unit != "ratio" or item.benchmark:
        return None
    weight = 1.0 if item.metric == OVERALL else WEIGHTS.get(item.metric)
    return None if weight is None else weight * (change.before - change.after)


def _undone(item: History, place: int, threshold: float) -> int | None:
    """When a later change took this one back to stay: within the threshold of where it was, or beyond."""
    change = item.changes[place]
    worse = level_change(item, change.before, change.after).amount > 0
    since = None
    for later in item.changes[place + 1 :]:
        if not later.comparable:
            break
        if not later.confirmed:
            continue
        moved = level_change(item, change.before, later.after)
        if moved.exceeds(threshold) if worse else moved.improves(threshold):
            since = None
        elif since is None:
            since = later.at
    return since
