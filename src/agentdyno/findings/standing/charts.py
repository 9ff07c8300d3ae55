"""The agents of a suite on every dimension: a dot with its interval, one panel per dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL
from agentdyno.findings.run.charts_points import wants_log
from agentdyno.findings.standing.model import SuiteStanding
from agentdyno.findings.standing.tables_labels import agent_labels
from agentdyno.show.axes import ACCENT, GRID, INK, MUTED, number_axis, style
from agentdyno.show.wording import axis_scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_AGENTS = 30
_LABEL = 26


def dimension_chart(standing: SuiteStanding) -> Figure:
    """Agents from the first to the last, at most 30 of them; a dimension that is not known has no dot."""
    from matplotlib.figure import Figure

    shown = standing.agents[:MOST_AGENTS]
    labels = agent_labels(standing)
    names = (OVERALL, *DIMENSIONS)
    figure = Figure(figsize=(9.2, 0.8 + 0.27 * max(2, len(shown))), layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True)
    for panel, name in zip(panels, names, strict=True):
        for row, agent in enumerate(shown):
            estimate = agent.scores.get(name)
            if estimate is None or estimate.value is None:
                panel.text(50, row, "not known", color=MUTED, fontsize=7, ha="center", va="center")
                continue
            if estimate.interval is not None:
                low, high = estimate.interval
                panel.hlines(row, 100 * low, 100 * high, color=ACCENT, linewidth=1.6, alpha=0.6)
            panel.plot([100 * estimate.value], [row], "o", color=INK if name == OVERALL else ACCENT, markersize=4.5)
        style(panel, grid="x")
        panel.set_xlim(-4, 104)
        panel.set_xticks([0, 50, 100])
        panel.set_title(name, fontsize=8.5, color=INK)
        panel.spines["bottom"].set_color(GRID)
    panels[0].set_yticks(range(len(shown)), [_short(labels[agent.agent]) for agent in shown])
    panels[0].set_ylim(len(shown) - 0.5, -0.5)
    return figure


def agent_chart(standing: SuiteStanding, name: str) -> Figure:
    """``accuracy``, ``cost`` or ``time`` of every agent: a dot, and a line where it is known how far it reaches."""
    from matplotlib.figure import Figure

    labels, shown = agent_labels(standing), standing.agents[:MOST_AGENTS]
    drawn = drawn_of(standing, name)
    figure = Figure(figsize=(4.4, 0.75 + 0.3 * max(2, len(shown))), layout="constrained")
    axes = figure.subplots()
    scale, unit = _scale(name, [dot.value for dot in drawn.values()])
    for row, agent in enumerate(shown):
        dot = drawn.get(agent.agent)
        if dot is None:
            axes.annotate("not known", (0.02, row), xycoords=("axes fraction", "data"), color=MUTED, va="center")
            continue
        axes.hlines(row, dot.low / scale, dot.high / scale, color=ACCENT, linewidth=1.8, alpha=0.6)
        axes.plot([dot.value / scale], [row], "o", color=ACCENT, markersize=6)
    style(axes, grid="x")
    ends = [end / scale for dot in drawn.values() for end in (dot.low, dot.high)]
    if name == "accuracy":
        axes.set_xlim(-4, 104)
        axes.set_xticks([0, 25, 50, 75, 100])
    else:
        log = wants_log(sorted(ends))
        number_axis(axes, "x", ends if log else [0.0, *ends], log=log)
        if not log:
            axes.set_xlim(0, 1.06 * max(ends) or 1)
    axes.set_xlabel(f"{name} ({unit})")
    axes.set_yticks(range(len(shown)), [_short(labels[agent.agent]) for agent in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    return figure


@dataclass(frozen=True, slots=True)
class Dot:
    """A value with the ends of its line."""

    value: float
    low: float
    high: float


def drawn_of(standing: SuiteStanding, name: str) -> dict[str, Dot]:
    """By agent what a picture of ``accuracy``, ``cost`` or ``time`` shows; who has no figure is missing."""
    found: dict[str, Dot] = {}
    for agent in standing.agents[:MOST_AGENTS]:
        if name == "accuracy":
            score = agent.scores["accuracy"]
            if score.value is not None:
                low, high = score.interval or (score.value, score.value)
                found[agent.agent] = Dot(100 * score.value, 100 * low, 100 * high)
        elif name == "cost":
            if agent.cost_usd is not None and agent.samples:
                each = agent.cost_usd / agent.samples
                found[agent.agent] = Dot(each, each, each)
        elif agent.duration_s is not None:
            found[agent.agent] = Dot(agent.duration_s, agent.duration_s, agent.duration_p95_s or agent.duration_s)
    return found


def _scale(name: str, values: list[float]) -> tuple[float, str]:
    if name == "accuracy":
        return 1.0, "points of 100"
    return axis_scale("usd" if name == "cost" else "s", max(values, default=0.0))


def _short(text: str) -> str:
    return text if len(text) <= _LABEL else f"{text[: _LABEL // 2 - 1]}…{text[-(_LABEL // 2) :]}"
