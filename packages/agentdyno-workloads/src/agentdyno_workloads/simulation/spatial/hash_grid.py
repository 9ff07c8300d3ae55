"""Points sorted into square cells. The cells of one row lie one after the other, so that a question about a disc is a
few stretches of one array."""

from __future__ import annotations

import math

import numpy as np

from agentdyno_workloads.simulation.spatial import Floats, Ints, check_radius
from agentdyno_workloads.simulation.spatial.compressed import compress, in_boxes, in_discs, ranges
from agentdyno_workloads.simulation.spatial.growing import nearest_by_discs

_MOST_CELLS = 4
"""Cells per point, at most: larger cells where the points are few and far between."""
_PER_CELL = 2.0
"""Points per cell on average, where no radius is known beforehand."""


class HashGrid:
    name = "hash_grid"

    def __init__(self, radius_hint: float | None = None) -> None:
        self._hint = radius_hint
        self._x = self._y = np.zeros(0)
        self._order = np.zeros(0, dtype=np.int64)
        self._starts = np.zeros(2, dtype=np.int64)
        self._left = self._bottom = 0.0
        self._cell = 1.0
        self._columns = self._rows = 1
        self._sorted_x = self._sorted_y = np.zeros(0)
        self._stale = False

    def build(self, x: Floats, y: Floats) -> None:
        self._x, self._y = x.copy(), y.copy()
        self._sort()

    def update(self, which: Ints, x: Floats, y: Floats) -> None:
        """Sorts anew when next asked: sorting all costs less than moving single points between cells."""
        self._x[which], self._y[which] = x, y
        self._stale = True

    def radius(self, x: Floats, y: Floats, radius: float) -> tuple[Ints, Ints]:
        reach = check_radius(radius)
        pairs = in_discs(
            self._candidates(x - reach, y - reach, x + reach, y + reach),
            (self._sorted_x, self._sorted_y),
            (x, y),
            reach,
        )
        return self._answer(pairs, x.size)

    def rectangle(self, left: Floats, bottom: Floats, right: Floats, top: Floats) -> tuple[Ints, Ints]:
        pairs = in_boxes(
            self._candidates(left, bottom, right, top), (self._sorted_x, self._sorted_y), (left, bottom, right, top)
        )
        return self._answer(pairs, left.size)

    def nearest(self, x: Floats, y: Floats, count: int) -> tuple[Ints, Floats]:
        return nearest_by_discs(self, (self._x, self._y), (x, y), count, self._first_radius(count))

    def _answer(self, pairs: tuple[Ints, Ints], questions: int) -> tuple[Ints, Ints]:
        owners, places = pairs
        return compress(owners, self._order[places], questions, self._x.size)

    def bytes(self) -> int:
        held = (self._x, self._y, self._order, self._starts, self._sorted_x, self._sorted_y)
        return sum(item.nbytes for item in held)

    def _sort(self) -> None:
        self._stale = False
        count = self._x.size
        if not count:
            self._starts = np.zeros(2, dtype=np.int64)
            self._columns = self._rows = 1
            self._order = np.zeros(0, dtype=np.int64)
            self._sorted_x = self._sorted_y = np.zeros(0)
            return
        self._left, self._bottom = float(self._x.min()), float(self._y.min())
        width, height = float(self._x.max()) - self._left, float(self._y.max()) - self._bottom
        self._cell = self._cell_size(width, height, count)
        self._columns = int(width / self._cell) + 1
        self._rows = int(height / self._cell) + 1
        keys = self._row(self._y) * self._columns + self._column(self._x)
        self._order = np.argsort(keys, kind="stable")
        self._sorted_x, self._sorted_y = self._x[self._order], self._y[self._order]
        counts = np.bincount(keys, minlength=self._columns * self._rows)
        self._starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])

    def _cell_size(self, width: float, height: float, count: int) -> float:
        """The hinted radius, unless that would make many more cells than points."""
        area = max(width, 1e-12) * max(height, 1e-12)
        wanted = self._hint or math.sqrt(area * _PER_CELL / count)
        least = math.sqrt(area / (_MOST_CELLS * count + 1.0))
        longest = max(width, height) / (_MOST_CELLS * count + 1.0)
        return max(wanted, least, longest, 1e-9)

    def _column(self, x: Floats) -> Ints:
        column: Ints = np.clip((x - self._left) / self._cell, 0, self._columns - 1).astype(np.int64)
        return column

    def _row(self, y: Floats) -> Ints:
        row: Ints = np.clip((y - self._bottom) / self._cell, 0, self._rows - 1).astype(np.int64)
        return row

    def _candidates(self, left: Floats, bottom: Floats, right: Floats, top: Floats) -> tuple[Ints, Ints]:
        """Pairs of question and place in the sorted order, for every cell that a box touches."""
        if self._stale:
            self._sort()
        if not self._x.size or not left.size:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        first_row, last_row = self._row(bottom), self._row(top)
        first, last = self._column(left), self._column(right)
        rows = last_row - first_row + 1
        question = np.repeat(np.arange(left.size, dtype=np.int64), rows)
        row = ranges(first_row, last_row + 1)
        starts = self._starts[row * self._columns + first[question]]
        ends = self._starts[row * self._columns + last[question] + 1]
        return np.repeat(question, ends - starts), ranges(starts, ends)

    def _first_radius(self, count: int) -> float:
        per_cell = max(self._x.size / (self._columns * self._rows), 1e-9)
        return self._cell * max(0.5, math.sqrt(count / per_cell / math.pi) * 1.2)
