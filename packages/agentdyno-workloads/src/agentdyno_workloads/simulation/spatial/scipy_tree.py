"""SciPy's KD-tree, asked the same questions."""

from __future__ import annotations

from typing import Any

import numpy as np

from agentdyno_workloads.simulation.spatial import Floats, Ints, check_radius
from agentdyno_workloads.simulation.spatial.compressed import compress, in_boxes, in_discs


class ScipyTree:
    name = "scipy"

    def __init__(self, radius_hint: float | None = None) -> None:
        del radius_hint
        self._points = np.zeros((0, 2))
        self._tree: Any = None
        self._stale = False

    def build(self, x: Floats, y: Floats) -> None:
        from scipy.spatial import cKDTree

        self._points = np.column_stack([x, y])
        self._tree = cKDTree(self._points)
        self._stale = False

    def update(self, which: Ints, x: Floats, y: Floats) -> None:
        self._points[which, 0], self._points[which, 1] = x, y
        self._stale = True

    def radius(self, x: Floats, y: Floats, radius: float) -> tuple[Ints, Ints]:
        reach = check_radius(radius)
        found = self._asked().query_ball_point(np.column_stack([x, y]), reach * (1.0 + 1e-12))
        pairs = in_discs(self._pairs(found, x.size), (self._points[:, 0], self._points[:, 1]), (x, y), reach)
        return self._answer(pairs, x.size)

    def nearest(self, x: Floats, y: Floats, count: int) -> tuple[Ints, Floats]:
        """SciPy's choice among equally near points is its own; they are put in order here."""
        from agentdyno_workloads.simulation.spatial.growing import nearest_by_discs

        if not len(self._points) or not x.size:
            return np.full((x.size, count), -1, dtype=np.int64), np.full((x.size, count), np.inf)
        have = min(count, len(self._points))
        distances, _ = self._asked().query(np.column_stack([x, y]), k=[have])
        first = float(np.max(distances)) * (1.0 + 1e-12) + 1e-12
        return nearest_by_discs(self, (self._points[:, 0], self._points[:, 1]), (x, y), count, first)

    def rectangle(self, left: Floats, bottom: Floats, right: Floats, top: Floats) -> tuple[Ints, Ints]:
        """A disc around each rectangle, then what of it is inside."""
        x, y = (left + right) / 2.0, (bottom + top) / 2.0
        reach = np.hypot(right - left, top - bottom) / 2.0 * (1.0 + 1e-12) + 1e-12
        found = self._asked().query_ball_point(np.column_stack([x, y]), reach)
        pairs = in_boxes(
            self._pairs(found, left.size), (self._points[:, 0], self._points[:, 1]), (left, bottom, right, top)
        )
        return self._answer(pairs, left.size)

    def _answer(self, pairs: tuple[Ints, Ints], questions: int) -> tuple[Ints, Ints]:
        owners, places = pairs
        return compress(owners, places, questions, len(self._points))

    def bytes(self) -> int:
        """The points, the tree's copy of them, its order, and nodes of about 72 bytes with 16 points each."""
        nodes = 2 * max(1, len(self._points) // self._tree.leafsize) if self._tree is not None else 0
        return 2 * self._points.nbytes + 8 * len(self._points) + 72 * nodes

    def _asked(self) -> Any:
        if self._stale:
            self.build(self._points[:, 0], self._points[:, 1])
        return self._tree

    def _pairs(self, found: Any, questions: int) -> tuple[Ints, Ints]:
        lengths = np.fromiter((len(row) for row in found), dtype=np.int64, count=questions)
        places = np.fromiter((place for row in found for place in row), dtype=np.int64, count=int(lengths.sum()))
        return np.repeat(np.arange(questions, dtype=np.int64), lengths), places
