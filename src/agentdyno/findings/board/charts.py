"""Agents on the five dimensions at a glance: a ring of axes, one outline per agent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agentdyno.findings.figures.dimensions import DIMENSIONS
from agentdyno.show.axes import GRID, INK, LINES, MUTED
from agentdyno.show.wording import one_line, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_AGENTS = 6
"""More outlines than this cannot be told apart."""
_RINGS = (25, 50, 75, 100)
_LABEL = 28
_MARKERS = "osD^vP"
_DASHES = ("-", "--", "-.", ":", "-", "--")

Point = tuple[float, float]


def radar_chart(entries: Mapping[str, Mapping[str, float | None]]) -> Figure:
    """Scores in 0..1 by agent and dimension, drawn as points of 100; the first six agents.

    A dimension that is not known leaves a gap in the outline and is named beside the agent.
    """
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    figure = Figure(figsize=(7.6, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-1.45, 1.45)
    axes.set_ylim(-1.08, 1.25)
    _rings(axes)
    shown = list(entries.items())[:MOST_AGENTS]
    for place, (agent, scores) in enumerate(shown):
        _outline(axes, place, agent, [_known(scores.get(name)) for name in DIMENSIONS])
    if not shown:
        axes.text(0, 0, "no agent", ha="center", va="center", color=MUTED)
        return figure
    legend = figure.legend(frameon=False, fontsize=8, labelcolor=INK, loc="outside right center", labelspacing=0.9)
    legend.set_alignment("left")
    if len(shown) < len(entries):
        legend.set_title(f"the first {len(shown)} of {len(entries)} agents", prop=FontProperties(size=8))
        legend.get_title().set_color(MUTED)
    return figure


def _rings(axes: Axes) -> None:
    """The web behind the outlines: points of 100 on the first axis, a name at the end of each."""
    for ring in _RINGS:
        corners = [_at(place, ring / 100) for place in range(len(DIMENSIONS) + 1)]
        axes.plot(*zip(*corners, strict=True), color=GRID, linewidth=1.0 if ring == 100 else 0.7, zorder=1)
        x, y = _at(0, ring / 100)
        axes.text(x + 0.02, y + 0.01, str(ring), color=MUTED, fontsize=6.5, ha="left", va="bottom", zorder=5)
    for place, name in enumerate(DIMENSIONS):
        axes.plot(*zip((0.0, 0.0), _at(place, 1.0), strict=True), color=GRID, linewidth=0.7, zorder=1)
        x, y = _at(place, 1.1)
        side = "center" if abs(x) < 0.05 else "left" if x > 0 else "right"
        axes.text(x, y, name, color=INK, fontsize=9, ha=side, va="bottom" if y > 0.9 else "center")


def _outline(axes: Axes, place: int, agent: str, scores: Sequence[float | None]) -> None:
    color, marker, dash = LINES[place], _MARKERS[place], _DASHES[place]
    missing = [name for name, score in zip(DIMENSIONS, scores, strict=True) if score is None]
    unknown = ", ".join(missing) if len(missing) < 3 else f"{len(missing)} dimensions"
    label = shortened(one_line(agent), _LABEL) + (f"\n{unknown} not known" if missing else "")
    for number, run in enumerate(_runs(scores) or [[]]):
        corners = [_at(index, scores[index] or 0.0) for index in run]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        axes.plot(
            xs,
            ys,
            color=color,
            linestyle=dash,
            marker=marker,
            linewidth=1.6,
            markersize=4.5,
            zorder=4,
            label=None if number else label,
        )
        if len(run) > 1:  # an open run is filled as far as its own axes reach
            closed = len(run) > len(scores)
            axes.fill(xs if closed else [*xs, 0.0], ys if closed else [*ys, 0.0], color=color, alpha=0.09, lw=0)


def _runs(scores: Sequence[float | None]) -> list[list[int]]:
    """Neighbouring axes that have a score, around the ring; all of them come back to the first."""
    size = len(scores)
    gaps = [index for index, score in enumerate(scores) if score is None]
    if not gaps:
        return [[*range(size), 0]]
    found: list[list[int]] = [[]]
    for step in range(1, size + 1):
        index = (gaps[0] + step) % size
        if scores[index] is None:
            found.append([])
        else:
            found[-1].append(index)
    return [run for run in found if run]


def _at(place: int, radius: float) -> Point:
    """The first axis points up, the others follow clockwise."""
    angle = 2 * math.pi * place / len(DIMENSIONS)
    return radius * math.sin(angle), radius * math.cos(angle)


def _known(score: float | None) -> float | None:
    return None if score is None or not math.isfinite(score) else min(1.0, max(0.0, score))
