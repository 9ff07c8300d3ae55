"""A history as a picture: points, levels, changes and the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from agentdyno.findings.history.model import History, HistoryChange
from agentdyno.show.axes import ACCENT, INK, LINES, MUTED, number_axis, style
from agentdyno.show.wording import axis_scale, change, label, one_line, when

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WORSE, BETTER = LINES[1], LINES[2]
MOST_LABELS = 12
"""Changes, and versions, that are named; more of them are marked and not named."""
_DATES = 6


def history_chart(history: History) -> Figure:
    """Runs from the oldest to the newest, evenly spaced and dated.

    Lines are the median of each stretch between two changes, or the slope of a drift. Vertical lines are changes,
    dashed where provisional, with what they come to above; below stand the versions of the subject.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.2, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.set_title(_short(history_title(history), 90), fontsize=9.5, color=INK, loc="left", pad=22)
    if not history.points:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no point", ha="center", va="center", color=MUTED, transform=axes.transAxes)
        return figure
    values = [point.value for point in history.points]
    scale, unit = axis_scale(history.unit, sorted(abs(value) for value in values)[len(values) // 2])
    scaled = [value / scale for value in values]
    _draw_levels(axes, history, scaled, scale)
    style(axes, grid="y")
    number_axis(axes, "y", scaled, log=False)
    if history.baseline is not None:
        _draw_baseline(axes, history.baseline / scale)
    _draw_changes(axes, history.changes)
    _draw_versions(axes, [point.version for point in history.points])
    _date_axis(axes, [point.at for point in history.points])
    axes.set_ylabel(label(history.metric) + (f" ({unit})" if unit not in ("", "ratio") else ""))
    return figure


def _draw_levels(axes: Axes, history: History, values: Sequence[float], scale: float) -> None:
    size = 3.4 if len(values) <= 120 else 2.4 if len(values) <= 600 else 1.4
    axes.plot(range(len(values)), values, "o", color=INK, markersize=size, alpha=0.55, mew=0)
    line = history.drift
    end = len(values) if line is None else line.index
    bounds = [0, *(item.index for item in history.changes if item.index < end), end]
    for start, stop in pairwise(bounds):
        if stop > start:
            level = median(values[start:stop])
            axes.hlines(level, start - 0.4, stop - 0.6, color=ACCENT, linewidth=2.0)
    if line is not None:
        ends = [line.before / scale, line.after / scale]
        axes.plot([end - 0.4, len(values) - 0.6], ends, color=ACCENT, linewidth=2.0)
    spread = max(values) - min(values)
    pad = 0.08 * spread or 0.05 * abs(values[0]) or 1.0
    axes.set_ylim(min(values) - 2 * pad, max(values) + pad)  # the versions stand below
    axes.set_xlim(-0.6 - 0.01 * len(values), len(values) - 0.4 + 0.01 * len(values))


def _draw_baseline(axes: Axes, baseline: float) -> None:
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, baseline - 0.06 * (high - low)), max(high, baseline + 0.06 * (high - low)))
    axes.axhline(baseline, color=MUTED, linewidth=1.1, linestyle=(0, (1, 2)))
    axes.annotate(
        "baseline",
        (1.0, baseline),
        (2, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="center",
        fontsize=7.5,
        color=MUTED,
    )


def _draw_changes(axes: Axes, changes: Sequence[HistoryChange]) -> None:
    lowest = -1.0
    width = axes.get_xlim()[1] - axes.get_xlim()[0]
    for item in changes:
        color = MUTED if not item.comparable or item.better is None else BETTER if item.better else WORSE
        at = item.index - 0.5
        axes.axvline(at, color=color, linewidth=1.3, linestyle="-" if item.confirmed else (0, (4, 3)))
        axes.plot([at], [1.0], "v", color=color, markersize=5, transform=axes.get_xaxis_transform(), clip_on=False)
        if len(changes) > MOST_LABELS or at < lowest:
            continue
        text = _change_text(item)
        # Two labels that would overlap: the later one is left out, its line stays.
        lowest = at + width * (0.0115 * max(map(len, text.splitlines())) / 2 + 0.005) * 2
        axes.annotate(
            text,
            (at, 1.0),
            (0, 5),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=7.5,
            color=color,
        )


def _change_text(item: HistoryChange) -> str:
    size = "" if item.relative is None else change(1 + item.relative)
    if not item.comparable:
        word = one_line(item.cause.partition(",")[0], 30)
    else:
        word = {True: "better", False: "worse", None: "changed"}[item.better]
    first = f"{size}{', ' if size and not item.comparable else ' '}{word}".strip()
    return first if item.confirmed else f"{first}?"


def _draw_versions(axes: Axes, versions: Sequence[str]) -> None:
    """The version's name at the first run of each, along the bottom; nothing where there is one or none."""
    starts = [0, *(place for place in range(1, len(versions)) if versions[place] != versions[place - 1])]
    if len(set(versions)) < 2 or len(starts) > MOST_LABELS:
        return
    for start in starts:
        axes.annotate(
            one_line(versions[start], 14) or "?",
            (start - 0.3, 0.0),
            (0, 4),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            fontsize=7.5,
            color=MUTED,
        )
        axes.plot([start - 0.5] * 2, [0.0, 0.06], color=MUTED, linewidth=1.0, transform=axes.get_xaxis_transform())


def _date_axis(axes: Axes, stamps: Sequence[int]) -> None:
    count = min(_DATES, len(stamps))
    places = sorted({round(part * (len(stamps) - 1) / max(1, count - 1)) for part in range(count)})
    same_day = len({when(stamp).partition(" ")[0] for stamp in stamps}) == 1
    names = [when(stamps[place]).partition(" ")[2 if same_day else 0] for place in places]
    axes.set_xticks(places, names)
    day = f" of {when(stamps[0]).partition(' ')[0]}" if same_day else ""
    axes.set_xlabel(f"runs{day}, oldest first")


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def history_title(history: History) -> str:
    """``my-agent: duration in facts``."""
    where = f" in {one_line(history.benchmark)}" if history.benchmark else ""
    return f"{one_line(history.subject)}: {label(history.metric)}{where}"
