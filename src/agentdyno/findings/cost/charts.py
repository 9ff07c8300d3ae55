"""Cost against accuracy, or against latency: one point per agent, and the line that nobody crosses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from agentdyno.findings.cost.model import CostReport, CostRow
from agentdyno.show.axes import ACCENT, GRID, MUTED, number_axis, style
from agentdyno.show.label_places import label_points
from agentdyno.show.wording import agent_names, axis_scale, shortened, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOG_SPAN = 20.0
"""Costs that differ by more than this factor get a logarithmic axis."""
MOST_AGENTS = 40
_LABEL = 28

Axis = Literal["accuracy", "latency"]


def cost_scatter(report: CostReport, axis: Axis = "accuracy") -> Figure:
    """Cost per task in US dollars against accuracy in per cent, or median duration; agents lacking one are left out.

    Filled points lie on the frontier, hollow ones do not; triangles are simulated. On a logarithmic axis what is free
    stands at its left end.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.9), layout="constrained")
    axes = figure.subplots()
    shown = [row for row in report.rows if row.cost_per_task_usd is not None and _height(row, axis) is not None]
    shown = shown[:MOST_AGENTS]
    if not shown:
        axes.set_axis_off()
        text = "no agent whose cost and " + ("accuracy are" if axis == "accuracy" else "duration are") + " known"
        axes.text(0.5, 0.5, text, ha="center", va="center", color=MUTED, transform=axes.transAxes)
        return figure
    heights = [_height(row, axis) or 0.0 for row in shown]
    scale, unit = axis_scale("s", sorted(heights)[len(heights) // 2]) if axis == "latency" else (0.01, "%")
    ys = [height / scale for height in heights]
    costs = [row.cost_per_task_usd or 0.0 for row in shown]
    free = _free_place(costs)
    xs = [cost if cost > 0 or free is None else free for cost in costs]
    style(axes, grid="both")
    _money_axis(axes, xs, free)
    _value_axis(axes, ys, axis, unit)
    line = sorted((x, y) for row, x, y in zip(shown, xs, ys, strict=True) if _on(row, axis))
    if len(line) > 1:
        _frontier(axes, line, axis)
        figure.legend(frameon=False, fontsize=8, labelcolor=MUTED, loc="outside upper right")
    _points(axes, shown, list(zip(xs, ys, strict=True)), axis)
    names = agent_names(row.agent for row in report.rows)
    named = [(x, y, shortened(names[row.agent], _LABEL)) for row, x, y in zip(shown, xs, ys, strict=True)]
    label_points(axes, named, line)
    return figure


def _height(row: CostRow, axis: Axis) -> float | None:
    return row.accuracy if axis == "accuracy" else row.duration_s


def _on(row: CostRow, axis: Axis) -> bool | None:
    return row.on_accuracy_frontier if axis == "accuracy" else row.on_latency_frontier


def _frontier(axes: Axes, corners: Sequence[tuple[float, float]], axis: Axis) -> None:
    axes.step(
        [x for x, _ in corners],
        [y for _, y in corners],
        where="post",
        color=ACCENT,
        linewidth=1.4,
        alpha=0.8,
        label="frontier: nobody is both cheaper and " + ("more accurate" if axis == "accuracy" else "faster"),
        zorder=2,
    )


def _points(axes: Axes, rows: Sequence[CostRow], places: Sequence[tuple[float, float]], axis: Axis) -> None:
    for row, (x, y) in zip(rows, places, strict=True):
        on = bool(_on(row, axis))
        axes.plot(
            [x],
            [y],
            "^" if row.simulated else "o",
            markersize=6.5,
            color=ACCENT if on else MUTED,
            fillstyle="full" if on else "none",
            markeredgewidth=1.2,
            zorder=3,
        )


def _free_place(costs: Sequence[float]) -> float | None:
    """Where free agents stand on a logarithmic axis; ``None`` where the axis is linear."""
    paid = [cost for cost in costs if cost > 0]
    if not paid or max(paid) / min(paid) <= LOG_SPAN:
        return None
    return min(paid) / math.sqrt(math.sqrt(max(paid) / min(paid)))


def _money_axis(axes: Axes, xs: Sequence[float], free: float | None) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    low, high = min(xs), max(xs)
    if free is None:
        room = 0.12 * (high - low) or 0.2 * high or 1.0
        axes.set_xlim(max(0.0, low - room) if low > room else -0.3 * room, high + 1.6 * room)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: show(value, "usd") if value >= 0 else ""))
        axes.set_xlabel("cost per task")
        return
    axes.set_xscale("log")
    factor = (high / low) ** 0.09
    axes.set_xlim(low / factor, high * factor**2)
    paid = [x for x in xs if x > free]
    ticks = _log_ticks(min(paid) / factor, high * factor)
    if free in xs:
        ticks = [free, *(tick for tick in ticks if tick > free * factor)]
        axes.axvline(math.sqrt(free * min(paid)), color=GRID, linewidth=1.0, linestyle=":")
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: "free" if math.isclose(x, free) else show(x, "usd")))
    axes.set_xlabel("cost per task (log)")


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, with twos and fives where they are few."""
    steps = (1.0,) if high / low > 300 else (1.0, 2.0, 5.0)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [tick for decade in decades for step in steps if low <= (tick := step * 10.0**decade) <= high]


def _value_axis(axes: Axes, ys: Sequence[float], axis: Axis, unit: str) -> None:
    if axis == "accuracy":
        number_axis(axes, "y", ys, log=False)
        room = max(4.0, 0.15 * (max(ys) - min(ys)))
        axes.set_ylim(max(-4.0, min(ys) - room), min(104.0, max(ys) + room))
        axes.set_ylabel(f"accuracy ({unit})")
        return
    log = min(ys) > 0 and max(ys) / min(ys) > LOG_SPAN
    number_axis(axes, "y", ys, log=log)
    if log:
        axes.set_ylim(min(ys) / 1.6, max(ys) * 1.6)
    else:
        room = 0.15 * (max(ys) - min(ys)) or 0.2 * max(ys) or 1.0
        axes.set_ylim(max(0.0, min(ys) - room), max(ys) + room)
    axes.set_ylabel(f"median duration ({unit}{', log' if log else ''})")
