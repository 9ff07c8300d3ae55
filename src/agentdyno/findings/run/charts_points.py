"""The numbers behind the charts: raw values of an arm, and the lines of a sweep."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentdyno.findings.run.tables import arm_name
from agentdyno.model import ArmResult, Direction, RunResult, known_metric
from agentdyno.show.wording import label, one_line, settings

MOST_LINES = 8
MOST_POINTS = 600
"""Points that one chart draws; more would be one blot and a slow page."""
LOG_RANGE = 20.0
"""An axis whose largest value is more than this many times its smallest is logarithmic."""


@dataclass(frozen=True, slots=True)
class ArmValues:
    """The usable values of one metric in one arm, in run order, with the arm's median and interval."""

    arm_id: str
    name: str
    metric: str
    unit: str
    values: tuple[float, ...]
    median: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    median: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a sweep; ``label`` names the other parameters, empty when there are none."""

    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The median of a metric against a swept parameter; ``left_out`` lines were too many to draw."""

    experiment: str
    parameter: str
    metric: str
    unit: str
    lines: tuple[Line, ...]
    left_out: int = 0


def primary_metric(arms: Iterable[ArmResult]) -> str | None:
    """What the charts show: the duration, else the first metric with a direction, else the first at all."""
    found = [(name, metric) for arm in arms for name, metric in sorted(arm.metrics.items()) if metric.n]
    names = [name for name, _ in found]
    if "duration_s" in names:
        return "duration_s"
    directed = [name for name, metric in found if metric.direction is not Direction.UNKNOWN]
    return next(iter(directed or names), None)


def arm_values(arm: ArmResult, metric: str) -> ArmValues:
    """The arm's finite values of ``metric``."""
    summary = arm.metrics.get(metric)
    values = (sample.readings.get(metric) for sample in arm.samples if sample.usable)
    return ArmValues(
        arm.arm_id,
        arm_name(arm),
        metric,
        summary.unit if summary else known_metric(metric).unit,
        tuple(value for value in values if value is not None and math.isfinite(value)),
        summary.median if summary and summary.n and _is_number(summary.median) else None,
        _finite(summary.ci) if summary else None,
    )


def thin(values: Sequence[float], most: int = MOST_POINTS) -> list[tuple[int, float]]:
    """Positions (from 1) and values, every so many where there are more than ``most``."""
    step = max(1, math.ceil(len(values) / most))
    return [(index + 1, values[index]) for index in range(0, len(values), step)]


def wants_log(values: Sequence[float]) -> bool:
    """Whether the values span more than a linear axis shows well."""
    return bool(values) and min(values) > 0 and max(values) / min(values) > LOG_RANGE


def sweeps(result: RunResult) -> tuple[Sweep, ...]:
    """One sweep per experiment whose arms vary a number."""
    groups: dict[str, list[ArmResult]] = {}
    for arm in result.arms:
        groups.setdefault(arm.experiment, []).append(arm)
    found = (_sweep(experiment, arms) for experiment, arms in groups.items())
    return tuple(sweep for sweep in found if sweep is not None)


def _sweep(experiment: str, arms: Sequence[ArmResult]) -> Sweep | None:
    metric = primary_metric(arms)
    parameter = _swept(arms)
    if metric is None or parameter is None:
        return None
    varying = [
        name for name in _names(arms) if name != parameter and len({str(a.params.get(name)) for a in arms}) > 1
    ]
    lines: dict[str, list[Point]] = {}
    for arm in arms:
        summary = arm.metrics.get(metric)
        x = _number(arm.params.get(parameter))
        middle = summary.median if summary is not None and summary.n else None
        if summary is None or x is None or middle is None or not math.isfinite(middle):
            continue
        others = settings({name: arm.params.get(name) for name in varying})
        side = arm.side.value if arm.side else ""
        key = ", ".join(part for part in (others, side) if part)
        lines.setdefault(key, []).append(Point(x, middle, _finite(summary.ci)))
    if lines and all(len(points) == 1 for points in lines.values()):
        # Parameters that vary together leave one point per combination: they are one line.
        lines = {"": [point for points in lines.values() for point in points]}
    if not any(len({point.x for point in points}) > 1 for points in lines.values()):
        return None
    drawn = tuple(Line(name, tuple(sorted(points, key=lambda p: p.x))) for name, points in lines.items())
    unit = next(arm.metrics[metric].unit for arm in arms if metric in arm.metrics)
    return Sweep(one_line(experiment), parameter, metric, unit, drawn[:MOST_LINES], max(0, len(drawn) - MOST_LINES))


def sweep_title(sweep: Sweep) -> str:
    return f"{label(sweep.metric)} against {one_line(sweep.parameter)}"


def _swept(arms: Sequence[ArmResult]) -> str | None:
    sizes = {}
    for name in _names(arms):
        numbers = [_number(arm.params.get(name)) for arm in arms]
        if all(number is not None for number in numbers) and len(set(numbers)) > 1:
            sizes[name] = len(set(numbers))
    return max(sizes, key=lambda name: sizes[name], default=None)


def _names(arms: Sequence[ArmResult]) -> list[str]:
    return list(dict.fromkeys(name for arm in arms for name in arm.params))


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def _finite(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    return interval if interval is not None and all(map(math.isfinite, interval)) else None
