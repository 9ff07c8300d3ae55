"""The chance that k tries all succeed, against k: how fast trust in an agent falls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentdyno.findings.reliability.model import Reliability
from agentdyno.show.axes import LINES, MUTED, number_axis, style
from agentdyno.show.wording import agent_names, one_line, shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_AGENTS = 12
_BANDS = 4
"""Agents up to which each has its band: more bands hide each other."""
_MARKERS = "osD^vPXd"
_DASHES = ("-", "--", "-.", ":")
_LABEL = 30


def pass_curve(found: Sequence[Reliability]) -> Figure:
    """pass^k in per cent per agent, at most 12 of them, with bands of 95 % for up to four."""
    from matplotlib.figure import Figure

    drawn = [item for item in found if item.pass_hat][:MOST_AGENTS]
    figure = Figure(figsize=(6.4, 3.4), layout="constrained")
    axes = figure.subplots()
    if not drawn:
        axes.set_axis_off()
        text = "no case was tried"
        axes.text(0.5, 0.5, text, ha="center", va="center", color=MUTED, transform=axes.transAxes)
        return figure
    names = agent_names(item.agent for item in drawn)
    for place, item in enumerate(drawn):
        color = LINES[place % len(LINES)]
        known = [(k, estimate) for k, estimate in item.pass_hat if estimate.value is not None]
        ks = [k for k, _ in known]
        ends = [estimate.interval for _, estimate in known if estimate.interval is not None]
        if len(drawn) <= _BANDS and len(ends) == len(ks):
            low, high = [100 * end[0] for end in ends], [100 * end[1] for end in ends]
            if len(ks) > 1:
                axes.fill_between(ks, low, high, color=color, alpha=0.13, linewidth=0)
            else:
                axes.vlines(ks, low, high, color=color, alpha=0.4, linewidth=3)
        name = names[item.agent] + (f" in {one_line(item.benchmark)}" if item.benchmark else "")
        axes.plot(
            ks,
            [100 * (estimate.value or 0.0) for _, estimate in known],
            _DASHES[place // len(LINES) % len(_DASHES)],
            marker=_MARKERS[place % len(_MARKERS)],
            markersize=4.5,
            linewidth=1.6,
            color=color,
            label=shortened(name, _LABEL) + (" (simulated)" if item.simulated else ""),
        )
    style(axes, grid="y")
    most = max(k for item in drawn for k, _ in item.pass_hat)
    number_axis(axes, "x", range(1, most + 1), log=False, exact=True, whole=True)
    axes.set_xlim(0.85, most + 0.15 if most > 1 else 1.5)
    axes.set_ylim(-2, 102)
    axes.set_xlabel("k: tries of a case that must all succeed")
    axes.set_ylabel("pass^k (% of cases)")
    # Beside the lines: inside there is no corner that they leave free for certain.
    figure.legend(frameon=False, fontsize=8, labelcolor=MUTED, loc="outside right upper")
    return figure
