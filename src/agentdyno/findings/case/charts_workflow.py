"""A workflow as a graph over time: bars where steps ran, lines to what they needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentdyno.findings.case.judge_workflow import ShownStep
from agentdyno.show.axes import ACCENT, GRID, INK, LINES, MUTED, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAILED = LINES[1]
"""Colour of a step that failed, which a cross shows too."""


def workflow_chart(steps: Sequence[ShownStep], title: str = "") -> Figure:
    """Time on the x axis, a row for each step. The critical path is strong, the rest pale; skipped steps are rings,
    failed ones end in a cross."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 0.9 + 0.32 * len(steps)), layout="constrained")
    axes = figure.subplots()
    rows = {(step.start, step.name): at for at, step in enumerate(steps)}
    by_key = {(step.start, step.name): step for step in steps}
    first = min(step.at_s for step in steps)
    for at, step in enumerate(steps):
        begin = step.at_s - first
        for need in step.needs:
            before = by_key.get((step.start, need))
            if before is not None:
                end = before.at_s - first + (before.duration_s or 0.0)
                both = step.critical and before.critical
                axes.plot(
                    [end, begin],
                    [rows[step.start, need], at],
                    color=INK if both else MUTED,
                    linewidth=1.2 if both else 0.6,
                    zorder=1,
                )
        if step.duration_s is None:
            axes.plot(
                [begin], [at], marker="o" if step.state == "skipped" else "x", color=MUTED, mfc="none", zorder=3
            )
            continue
        color = FAILED if step.state == "failed" else ACCENT
        axes.barh([at], [step.duration_s], left=[begin], height=0.55, color=color, alpha=1 if step.critical else 0.45)
        if step.state == "failed":
            axes.plot([begin + step.duration_s], [at], marker="x", color=FAILED, zorder=3)
    style(axes, "x")
    names = [f"{step.name} ({step.start})" if step.start else step.name for step in steps]
    axes.set_yticks(range(len(steps)), names)
    axes.set_ylim(len(steps) - 0.4, -0.6)
    axes.set_xlabel("seconds since the first step began", fontsize=8)
    axes.axhline(len(steps) - 0.45, color=GRID, linewidth=0.5)
    if title:
        axes.set_title(title, fontsize=9, color=INK, loc="left")
    return figure
