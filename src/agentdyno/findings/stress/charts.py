"""Pictures of a load run: latency over time, throughput against latency, distributions, scaling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentdyno.findings.stress.model import ScenarioReport, TimePoint
from agentdyno.model.load import Histogram
from agentdyno.show.axes import ACCENT, GRID, INK, LINES, MUTED, legend, number_axis, style
from agentdyno.show.wording import axis_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAD = LINES[1]
LOG_SPAN = 20.0
_GROWTH = 1.01
_NS = 1e9


def over_time_chart(report: ScenarioReport) -> Figure:
    """Latency (median and 99th of a hundred) above, requests asked and done a second below, phases shaded."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.2, 4.6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    points = report.over_time
    times = [point.at_s for point in points]
    scale = _draw_times(upper, times, points)
    upper.set_ylabel(f"latency ({scale})")
    upper.set_title(
        f"{report.scenario}: latency from the time a request was due", fontsize=9.5, color=INK, loc="left"
    )
    lower.plot(
        times, [point.asked_per_s for point in points], color=MUTED, linewidth=1.2, linestyle="--", label="asked"
    )
    lower.plot(times, [point.throughput_per_s for point in points], color=ACCENT, linewidth=1.6, label="done")
    failed = [(point.error_rate or 0.0) * point.asked_per_s for point in points]
    if any(failed):
        lower.fill_between(times, failed, color=BAD, alpha=0.35, linewidth=0, label="failed")
    lower.set_ylabel("requests a second")
    lower.set_xlabel("seconds")
    lower.set_ylim(bottom=0)
    for axes in (upper, lower):
        style(axes, grid="y")
        _shade(axes, report.phases)
    legend(upper)
    legend(lower)
    _name_phases(upper, report.phases)
    return figure


def _draw_times(axes: Axes, times: Sequence[float], points: Sequence[TimePoint]) -> str:
    known = [value for point in points for value in (point.latency_p50_s, point.latency_p99_s) if value is not None]
    if not known:
        axes.text(0.5, 0.5, "no request succeeded", ha="center", va="center", color=MUTED, transform=axes.transAxes)
        return "s"
    scale, unit = axis_scale("s", sorted(known)[len(known) // 2])
    for name, values, color, width in (
        ("p50", [point.latency_p50_s for point in points], ACCENT, 1.6),
        ("p99", [point.latency_p99_s for point in points], BAD, 1.2),
    ):
        heights = [float("nan") if value is None else value / scale for value in values]
        axes.plot(times, heights, color=color, linewidth=width, label=name)
    if max(known) / max(min(known), 1e-9) > LOG_SPAN:
        number_axis(axes, "y", [value / scale for value in known], log=True)
    return unit


def _shade(axes: Axes, phases: Sequence[tuple[str, float, float]]) -> None:
    for number, (_, start, end) in enumerate(phases):
        if number % 2:
            axes.axvspan(start, end, color=GRID, alpha=0.45, linewidth=0)


def _name_phases(axes: Axes, phases: Sequence[tuple[str, float, float]]) -> None:
    if not 1 < len(phases) <= 12:
        return
    for name, start, end in phases:
        axes.annotate(
            name[:16],
            ((start + end) / 2, 1.0),
            (0, -9),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            fontsize=7,
            color=MUTED,
        )


def knee_chart(report: ScenarioReport) -> Figure:
    """Latency against what was asked, step by step, with the breaking point and its interval."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.9), layout="constrained")
    axes = figure.subplots()
    points = sorted(
        (point for point in report.curve if point.latency_p50_s is not None), key=lambda point: point.level
    )
    if not points:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no step had a success", ha="center", va="center", color=MUTED, transform=axes.transAxes)
        return figure
    levels = [point.level for point in points]
    known = [point.latency_p50_s or 0.0 for point in points]
    scale, unit = axis_scale("s", sorted(known)[len(known) // 2])
    axes.plot(
        levels, [value / scale for value in known], "o-", color=ACCENT, markersize=4, linewidth=1.4, label="p50"
    )
    tails = [(point.level, point.latency_p99_s / scale) for point in points if point.latency_p99_s is not None]
    axes.plot(
        [x for x, _ in tails], [y for _, y in tails], "s--", color=BAD, markersize=3.5, linewidth=1.1, label="p99"
    )
    style(axes, grid="both")
    number_axis(axes, "x", levels, log=max(levels) / max(min(levels), 1e-9) > LOG_SPAN)
    values = [y for _, y in tails] + [value / scale for value in known]
    number_axis(axes, "y", values, log=max(values) / max(min(values), 1e-9) > LOG_SPAN)
    _mark_breaking(axes, report)
    axis = report.breaking_point.axis if report.breaking_point is not None else "rate"
    axes.set_xlabel({"rate": "requests a second", "concurrency": "requests in flight"}.get(axis, axis))
    axes.set_ylabel(f"latency ({unit})")
    legend(axes)
    return figure


def _mark_breaking(axes: Axes, report: ScenarioReport) -> None:
    point = report.breaking_point
    if point is None:
        return
    if point.interval is not None:
        axes.axvspan(*point.interval, color=BAD, alpha=0.18, linewidth=0)
    axes.axvline(point.value, color=BAD, linewidth=1.2)
    axes.annotate(
        f"breaks at {point.value:,.4g}",
        (point.value, 1.0),
        (4, -10),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        fontsize=8,
        color=BAD,
    )


def distribution_chart(report: ScenarioReport) -> Figure:
    """How times spread: time to first token and gaps between chunks where it streamed, else the latency."""
    from matplotlib.figure import Figure

    names = [name for name in ("ttft", "itl") if report.distributions.get(name, Histogram()).count]
    names = names or [name for name in ("latency",) if report.distributions.get(name, Histogram()).count]
    figure = Figure(figsize=(9.2, 3.2), layout="constrained")
    if not names:
        axes = figure.subplots()
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no request succeeded", ha="center", va="center", color=MUTED, transform=axes.transAxes)
        return figure
    gap = "gap between tokens" if report.chunks_are_tokens else "gap between chunks"
    titles = {"ttft": "time to first token", "itl": gap, "latency": "latency"}
    for axes, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        _draw_histogram(axes, report.distributions[name])
        axes.set_title(titles[name], fontsize=9.5, color=INK, loc="left")
    return figure


def _draw_histogram(axes: Axes, histogram: Histogram) -> None:
    rows = sorted((int(bucket), count) for bucket, count in histogram.buckets.items())
    group = max(1, (rows[-1][0] - rows[0][0]) // 60)
    grouped: dict[int, int] = {}
    for bucket, count in rows:
        grouped[bucket // group] = grouped.get(bucket // group, 0) + count
    middle = _GROWTH ** (rows[len(rows) // 2][0]) / _NS
    scale, unit = axis_scale("s", middle)
    lefts = [_GROWTH ** (bucket * group) / _NS / scale for bucket in grouped]
    rights = [_GROWTH ** ((bucket + 1) * group) / _NS / scale for bucket in grouped]
    widths = [right - left for left, right in zip(lefts, rights, strict=True)]
    axes.bar(lefts, list(grouped.values()), width=widths, align="edge", color=ACCENT, alpha=0.75, linewidth=0)
    style(axes, grid="y")
    number_axis(axes, "x", [*lefts, rights[-1]], log=rights[-1] / lefts[0] > 4.0)
    axes.set_xlabel(unit)
    axes.set_ylabel("count")


def scaling_chart(report: ScenarioReport) -> Figure:
    """Throughput at each concurrency as a multiple of one, against the ideal and the fitted law."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.9), layout="constrained")
    axes = figure.subplots()
    law = report.law
    if law is None or not law.points:
        axes.set_axis_off()
        axes.text(
            0.5, 0.5, "too few levels for a law", ha="center", va="center", color=MUTED, transform=axes.transAxes
        )
        return figure
    levels = [level for level, _ in law.points]
    highest = max(levels)
    grid = [1 + (highest - 1) * step / 100 for step in range(101)]
    fitted = [n / (1 + law.contention * (n - 1) + law.coherency * n * (n - 1)) for n in grid]
    axes.plot(grid, grid, color=MUTED, linewidth=1.0, linestyle=":", label="ideal")
    axes.plot(grid, fitted, color=ACCENT, linewidth=1.6, label=law.law)
    axes.plot(
        levels, [value / law.single for _, value in law.points], "o", color=INK, markersize=4.5, label="measured"
    )
    axes.set_ylim(0, max(max(fitted), max(value / law.single for _, value in law.points)) * 1.25)
    style(axes, grid="both")
    number_axis(axes, "x", levels, log=False)
    axes.set_xlabel("requests in flight")
    axes.set_ylabel("speed-up")
    legend(axes)
    return figure
