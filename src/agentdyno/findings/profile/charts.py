"""Pictures of a profile: phases as bars, the spans of one execution in time (waterfall) and by depth (flame)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentdyno.findings.profile.model import PerformanceProfile, ProfilePhase, SpanTree
from agentdyno.findings.profile.words import phase_words
from agentdyno.show.axes import GRID, INK, LINES, MUTED, style
from agentdyno.show.wording import axis_scale, shortened, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_DRAWN = 60
"""Spans in one picture; of more, the longest ones."""
COLOURS = {
    ProfilePhase.MODEL: LINES[0],
    ProfilePhase.TOOL: LINES[1],
    ProfilePhase.RETRIEVAL: LINES[2],
    ProfilePhase.OWN_CODE: LINES[3],
    ProfilePhase.QUEUE: LINES[4],
    ProfilePhase.RETRY_WAIT: LINES[5],
    ProfilePhase.IDLE: GRID,
}
_LABEL = 32


def phase_bars(profile: PerformanceProfile) -> Figure:
    """Self time of each phase per execution, with the part on the critical path filled."""
    from matplotlib.figure import Figure

    phases = [phase for phase in profile.profile_data.execution_phases if phase.duration_ms or phase.spans]
    figure = Figure(figsize=(6.4, 0.7 + 0.34 * max(1, len(phases))), layout="constrained")
    axes = figure.subplots()
    style(axes, grid="x")
    longest_s = max((phase.duration_ms / 1000 for phase in phases), default=0.0)
    scale, unit = axis_scale("s", longest_s)
    for place, phase in enumerate(phases):
        colour = COLOURS[ProfilePhase(phase.phase_name)]
        axes.barh(place, phase.duration_ms / 1000 / scale, height=0.6, color=colour, alpha=0.35)
        axes.barh(place, phase.critical_ms / 1000 / scale, height=0.3, color=colour)
    axes.set_yticks(range(len(phases)), [phase_words(ProfilePhase(phase.phase_name)) for phase in phases])
    axes.invert_yaxis()
    axes.set_xlabel(f"per execution, {unit}; narrow: on the critical path", fontsize=8)
    return figure


def waterfall(tree: SpanTree) -> Figure:
    """One line per span, in the order of the tree; the part on the critical path is told by a darker edge."""
    from matplotlib.figure import Figure

    kept = {span.index for span in sorted(tree.spans, key=lambda span: -span.duration_s)[:MOST_DRAWN]}
    shown = [span for span in tree.spans if span.index in kept]
    figure = Figure(figsize=(9.0, 0.8 + 0.2 * max(2, len(shown))), layout="constrained")
    axes = figure.subplots()
    style(axes, grid="x")
    scale, unit = axis_scale("s", tree.wall_s)
    for place, span in enumerate(shown):
        edge = INK if span.critical_s > 0 else "none"
        width = max(span.duration_s, tree.wall_s / 1000) / scale
        axes.barh(
            place, width, left=span.start_s / scale, height=0.7, color=COLOURS[span.phase], edgecolor=edge, lw=0.7
        )
    names = ["  " * span.depth + shortened(span.name or span.kind, _LABEL) for span in shown]
    axes.set_yticks(range(len(shown)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(0, tree.wall_s / scale or 1.0)
    axes.set_xlabel(f"since the case began, {unit}; framed: on the critical path", fontsize=8)
    _legend(figure, {span.phase for span in shown})
    return figure


def flame(tree: SpanTree) -> Figure:
    """Spans by depth: width is time; spans of one depth that overlap lie over each other."""
    from matplotlib.figure import Figure

    deepest = max((span.depth for span in tree.spans), default=0)
    figure = Figure(figsize=(9.0, 1.0 + 0.32 * (deepest + 1)), layout="constrained")
    axes = figure.subplots()
    style(axes, grid="")
    scale, unit = axis_scale("s", tree.wall_s)
    for span in sorted(tree.spans, key=lambda span: -span.duration_s)[:MOST_DRAWN]:
        axes.barh(
            span.depth,
            span.duration_s / scale,
            left=span.start_s / scale,
            height=0.92,
            color=COLOURS[span.phase],
            alpha=0.6,
            edgecolor="white",
            lw=0.5,
        )
        if tree.wall_s > 0 and span.duration_s > tree.wall_s / 12:
            room = max(3, int(span.duration_s / tree.wall_s * 90))
            text = shortened(f"{span.name or span.kind} {show(span.duration_s, 's')}", room)
            axes.text(span.start_s / scale, span.depth, f" {text}", va="center", fontsize=7, color=INK, clip_on=True)
    axes.set_yticks([])
    axes.set_ylim(-0.6, deepest + 0.6)
    axes.set_xlim(0, tree.wall_s / scale or 1.0)
    axes.set_xlabel(f"since the case began, {unit}", fontsize=8)
    _legend(figure, {span.phase for span in tree.spans})
    return figure


def _legend(figure: Figure, phases: set[ProfilePhase]) -> None:
    from matplotlib.patches import Patch

    marks = [Patch(color=COLOURS[phase], label=phase_words(phase)) for phase in ProfilePhase if phase in phases]
    if marks:
        style = {"frameon": False, "fontsize": 7, "labelcolor": MUTED, "ncols": len(marks)}
        figure.legend(handles=marks, loc="outside upper right", **style)
