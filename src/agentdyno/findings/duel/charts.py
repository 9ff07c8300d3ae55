"""A head-to-head as a chart: two dots per dimension, and how far apart they are beyond chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentdyno.findings.duel.model import Duel, PairedRow
from agentdyno.findings.duel.words import change_text, row_name
from agentdyno.model import Verdict
from agentdyno.show.axes import GRID, INK, LINES, MUTED, style
from agentdyno.show.wording import agent_names, shortened, verdict_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BASELINE, _CANDIDATE = LINES[0], LINES[1]
_LABEL = 30
_WIDEST = 100.0
"""Per cent or points to either side at most; what reaches further ends in an arrow."""
_DECIDED = (Verdict.BETTER, Verdict.WORSE)


def dumbbell_chart(found: Duel) -> Figure:
    """To the left the scores of both agents, to the right the change with its interval, better to the right.

    A decided row is drawn strongly and says so; a dimension without a score or without a comparison says that.
    """
    from matplotlib.figure import Figure

    rows = found.rows
    figure = Figure(figsize=(9.2, 1.1 + 0.42 * max(2, len(rows))), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.0, 1.15))
    for place, row in enumerate(rows):
        _scores(left, place, row)
    _changes(right, rows)
    style(left, grid="x")
    style(right, grid="x")
    left.set_xlim(-3, 103)
    left.set_xticks([0, 25, 50, 75, 100])
    left.set_title("score (points)", fontsize=8.5, color=INK)
    right.set_title("change (% or points), better to the right", fontsize=8.5, color=INK)
    left.set_yticks(range(len(rows)), [_named(row) for row in rows])
    left.set_ylim(len(rows) - 0.5, -0.5)
    names = agent_names((found.baseline, found.candidate))
    _legend(figure, shortened(names[found.baseline], _LABEL), shortened(names[found.candidate], _LABEL))
    return figure


def _scores(axes: Axes, place: int, row: PairedRow) -> None:
    if row.baseline_score is None or row.candidate_score is None:
        axes.text(50, place, "no score", color=MUTED, fontsize=7.5, ha="center", va="center")
        return
    first, second = 100 * row.baseline_score, 100 * row.candidate_score
    decided = row.verdict in _DECIDED
    axes.hlines(place, min(first, second), max(first, second), color=MUTED, linewidth=3.0 if decided else 1.2)
    axes.plot([first], [place], "o", color=_BASELINE, markersize=7, zorder=3)
    axes.plot([second], [place], "D", color=_CANDIDATE, markersize=6, zorder=3)


def _changes(axes: Axes, rows: tuple[PairedRow, ...]) -> None:
    reach = max([2.0, *(abs(end) for row in rows for end in _ends(row))])
    reach = min(_WIDEST, reach)
    axes.axvline(0.0, color=GRID, linewidth=1.2)
    for place, row in enumerate(rows):
        shift = row.worsening
        if shift is None or row.verdict is None:
            axes.text(0, place, "not compared", color=MUTED, fontsize=7.5, ha="center", va="center")
            continue
        decided = row.verdict in _DECIDED
        color = _CANDIDATE if decided else MUTED
        low, high = (max(-reach, min(reach, end)) for end in _ends(row))
        axes.hlines(place, low, high, color=color, linewidth=2.4 if decided else 1.2)
        for end, given, mark in ((low, _ends(row)[0], "<"), (high, _ends(row)[1], ">")):
            if end != given:
                axes.plot([end], [place], mark, color=color, markersize=5, clip_on=False)
        point = max(-reach, min(reach, -100 * shift))
        axes.plot([point], [place], "D", color=color, markersize=5.5, mfc=color if decided else "none", zorder=3)
        text = f"{change_text(row, row.change)}  {verdict_text(row.verdict)}"
        axes.text(reach * 1.12, place, text, color=INK if decided else MUTED, fontsize=7.5, va="center")
    axes.set_xlim(-1.08 * reach, 2.15 * reach)
    ticks = _ticks(reach)
    axes.set_xticks(ticks, [f"{tick:+g}" if tick else "0" for tick in ticks])


def _ends(row: PairedRow) -> tuple[float, float]:
    """The interval in per cent or points, turned so that more is better; the change alone where there is none."""
    low, high = row.interval or (row.change or 0.0, row.change or 0.0)
    return (100 * low, 100 * high) if row.higher_is_better else (-100 * high, -100 * low)


def _ticks(reach: float) -> list[float]:
    step = next((size for size in (1, 2, 5, 10, 20, 25, 50) if reach / size < 3.0), 50)
    most = int(reach / step)
    return [float(step * number) for number in range(-most, most + 1)]


def _named(row: PairedRow) -> str:
    name = row_name(row)
    return name if name.startswith(row.metric) else f"{row.metric}\n{name}"


def _legend(figure: Figure, baseline: str, candidate: str) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], marker="o", linestyle="", color=_BASELINE, markersize=7, label=f"{baseline} (baseline)"),
        Line2D([], [], marker="D", linestyle="", color=_CANDIDATE, markersize=6, label=f"{candidate} (candidate)"),
    ]
    figure.legend(handles=marks, loc="outside lower left", ncols=2, frameon=False, fontsize=8, labelcolor=MUTED)
