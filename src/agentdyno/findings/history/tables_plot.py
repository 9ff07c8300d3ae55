"""A history as a plot of characters, for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from agentdyno.findings.history.model import History, HistoryChange
from agentdyno.show.wording import show, when

_NARROWEST = 30
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bits of a braille character, by column and row."""
_BLANK = 0x2800
_REACH = 0.5
"""How far the plot reaches beyond the middle 96 % of the points, in parts of what they span."""


def history_plot(history: History, width: int = 80, height: int = 10) -> str:
    """Every point as a dot, evenly spaced, oldest first; no line is wider than ``width`` (at least 30).

    Lines are the median of each stretch, or the slope of a drift, dotted the baseline; a bar and a sign below mark
    each change: ✗ worse, ✓ better, ◆ neither, with ? where it is provisional. Points far off are drawn at the edge.
    "" without a point.
    """
    values = [point.value for point in history.points]
    if not values:
        return ""
    low, high = _range(values, history.baseline)
    rows = max(3, height)
    ticks = _ticks(low, high, rows, values, history.unit)
    margin = max(len(text) for text in ticks.values())
    columns = max(8, max(width, _NARROWEST) - margin - 2)
    canvas = _Canvas(columns, rows, low, high, len(values))
    for place, value in enumerate(values):
        canvas.dot(place, value)
    if history.baseline is not None and low <= history.baseline <= high:
        canvas.line(0, len(values), history.baseline, "┄")
    drift = history.drift
    end = len(values) if drift is None else drift.index
    bounds = [0, *(change.index for change in history.changes if change.index < end), end]
    for start, stop in pairwise(bounds):
        if stop > start:
            canvas.line(start, stop, median(values[start:stop]), "─")
    if drift is not None:
        slope = (drift.after - drift.before) / max(1, len(values) - 1 - end)
        for place in range(end, len(values)):
            canvas.line(place, place + 1, drift.before + slope * (place - end), "─")
    for change in history.changes:
        canvas.bar(change.index, "│" if change.confirmed else "┊")
    lines = [f"{ticks.get(row, ''):>{margin}} ┤{text}" for row, text in enumerate(canvas.text())]
    lines.append(f"{'':>{margin}} └{_axis(history.changes, canvas)}")
    first, last = (when(history.points[place].at).partition(" ")[0] for place in (0, -1))
    gap = columns - len(first) - len(last)
    lines.append(f"{'':>{margin}}  {first}{' ' * gap + last if gap > 0 and len(values) > 1 else ''}")
    return "\n".join(line.rstrip() for line in lines) + "\n"


class _Canvas:
    """Dots in braille, two across and four down in a cell; lines and bars only where a cell has no dot."""

    def __init__(self, columns: int, rows: int, low: float, high: float, points: int) -> None:
        self.columns, self.rows, self.points = columns, rows, points
        self.low, self.high = low, high
        self.dots = [[0] * columns for _ in range(rows)]
        self.under = [[" "] * columns for _ in range(rows)]

    def dot(self, place: int, value: float) -> None:
        x, y = self._x(place), self._y(value)
        self.dots[y // 4][x // 2] |= _DOTS[x % 2][y % 4]

    def line(self, start: int, stop: int, value: float, sign: str) -> None:
        row = self._y(value) // 4
        for column in range(self.column(start), self.column(stop - 1) + 1):
            self.under[row][column] = sign

    def bar(self, place: int, sign: str) -> None:
        for row in range(self.rows):
            self.under[row][self.column(place)] = sign

    def column(self, place: int) -> int:
        return self._x(place) // 2

    def text(self) -> list[str]:
        return [
            "".join(chr(_BLANK + bits) if bits else under for bits, under in zip(dots, unders, strict=True))
            for dots, unders in zip(self.dots, self.under, strict=True)
        ]

    def _x(self, place: int) -> int:
        return round(place * (2 * self.columns - 1) / max(1, self.points - 1)) if self.points > 1 else self.columns

    def _y(self, value: float) -> int:
        return _height(value, self.low, self.high, self.rows)


def _height(value: float, low: float, high: float, rows: int) -> int:
    """Which of the dots from the top stands for a value, four in a row of characters."""
    share = (high - value) / (high - low)
    return round(min(1.0, max(0.0, share)) * (4 * rows - 1))


def _ticks(low: float, high: float, rows: int, values: Sequence[float], unit: str) -> dict[int, str]:
    """Three values by their row; where all points are one value, this one alone, beside its dots."""
    if min(values) == max(values) and low < values[0] < high:
        return {_height(values[0], low, high, rows) // 4: show(values[0], unit)}
    return {row: show(high - (high - low) * row / (rows - 1), unit) for row in (0, (rows - 1) // 2, rows - 1)}


def _axis(changes: Sequence[HistoryChange], canvas: _Canvas) -> str:
    signs = ["─"] * canvas.columns
    for change in changes:
        column = canvas.column(change.index)
        plain = not change.comparable or change.better is None
        signs[column] = "◆" if plain else "✓" if change.better else "✗"
        if not change.confirmed:
            # The sign of doubt goes beside the other one, inwards at the edge.
            signs[column + 1 if column + 1 < canvas.columns else column - 1] = "?"
    return "".join(signs)


def _range(values: Sequence[float], baseline: float | None) -> tuple[float, float]:
    """From the lowest to the highest; single points far off do not count, a baseline within reach does."""
    ordered = sorted(values)
    last = len(ordered) - 1
    inner = ordered[math.floor(0.02 * last)], ordered[math.ceil(0.98 * last)]
    reach = _REACH * (inner[1] - inner[0])
    low, high = (
        (ordered[0], ordered[-1])
        if reach == 0.0
        else (
            max(ordered[0], inner[0] - reach),
            min(ordered[-1], inner[1] + reach),
        )
    )
    if baseline is not None and abs(baseline - (low + high) / 2.0) <= 2.0 * (high - low):
        low, high = min(low, baseline), max(high, baseline)
    if not high > low:
        pad = abs(high) * 0.05 or 1.0
        low, high = low - pad, high + pad
    return low, high
