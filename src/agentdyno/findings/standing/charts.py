"""The agents of a suite on every dimension: a dot with its interval, one panel per dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL
from agentdyno.findings.standing.model import SuiteStanding
from agentdyno.findings.standing.tables_labels import agent_labels
from agentdyno.show.axes import ACCENT, GRID, INK, MUTED, style

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


def _short(text: str) -> str:
    return text if len(text) <= _LABEL else f"{text[: _LABEL // 2 - 1]}…{text[-(_LABEL // 2) :]}"
