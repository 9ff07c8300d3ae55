"""What trees of boxes have in common: points in leaves, a tight box around every node, questions level by level."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agentdyno_workloads.simulation.spatial.compressed import Floats, Ints, compress, in_boxes, in_discs, ranges
from agentdyno_workloads.simulation.spatial.growing import nearest_by_discs

LEAF = 16
"""Points in a leaf, about."""


@dataclass(slots=True)
class Nodes:
    """Nodes from the root down, level after level. A node's points are ``order[start:end]``; its children are
    ``first_child`` and the ``children - 1`` nodes after it (none in a leaf)."""

    start: Ints
    end: Ints
    first_child: Ints
    children: Ints
    depth: int

    def __len__(self) -> int:
        return int(self.start.size)


class BoxTree:
    """Subclasses say how points are divided; everything else is here."""

    name = ""

    def __init__(self, radius_hint: float | None = None) -> None:
        del radius_hint
        self._x = self._y = np.zeros(0)
        self._order = np.zeros(0, dtype=np.int64)
        self._sorted_x = self._sorted_y = np.zeros(0)
        self._nodes: Nodes | None = None
        self._boxes = np.zeros((4, 0))
        self._stale = False

    def divide(self, x: Floats, y: Floats) -> tuple[Ints, Nodes]:
        """The order of the points in the leaves, and the nodes."""
        raise NotImplementedError

    def build(self, x: Floats, y: Floats) -> None:
        self._x, self._y = x.copy(), y.copy()
        self._grow()

    def update(self, which: Ints, x: Floats, y: Floats) -> None:
        """Builds anew when next asked: the boxes of a tree whose points moved far would overlap."""
        self._x[which], self._y[which] = x, y
        self._stale = True

    def radius(self, x: Floats, y: Floats, radius: float) -> tuple[Ints, Ints]:
        from agentdyno_workloads.simulation.spatial import check_radius

        reach = check_radius(radius)
        pairs = in_discs(
            self._candidates(x - reach, y - reach, x + reach, y + reach, disc=(x, y, reach**2)),
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
        held = [self._x, self._y, self._order, self._sorted_x, self._sorted_y, self._boxes]
        if self._nodes is not None:
            held += [self._nodes.start, self._nodes.end, self._nodes.first_child, self._nodes.children]
        return sum(item.nbytes for item in held)

    def _grow(self) -> None:
        self._stale = False
        if not self._x.size:
            self._nodes = None
            return
        self._order, self._nodes = self.divide(self._x, self._y)
        self._sorted_x, self._sorted_y = self._x[self._order], self._y[self._order]
        self._boxes = self._bound(self._nodes)

    def _bound(self, nodes: Nodes) -> Floats:
        """Left, bottom, right and top of the points of every node."""
        boxes = np.empty((4, len(nodes)))
        # Stretches of one level do not overlap; levels are done one after the other.
        for first, last in _levels(nodes):
            starts = nodes.start[first:last]
            gaps = np.empty(2 * starts.size, dtype=np.int64)
            gaps[0::2], gaps[1::2] = starts, nodes.end[first:last]
            limit = self._sorted_x.size
            cut = gaps[:-1] if gaps[-1] >= limit else gaps
            for row, values, least in (
                (0, self._sorted_x, True),
                (1, self._sorted_y, True),
                (2, self._sorted_x, False),
                (3, self._sorted_y, False),
            ):
                reduce = np.minimum.reduceat if least else np.maximum.reduceat
                boxes[row, first:last] = reduce(values, cut)[0::2]
        return boxes

    def _candidates(
        self,
        left: Floats,
        bottom: Floats,
        right: Floats,
        top: Floats,
        disc: tuple[Floats, Floats, float] | None = None,
    ) -> tuple[Ints, Ints]:
        """Pairs of question and place in the leaves' order, for every leaf that a box (or disc) touches."""
        if self._stale:
            self._grow()
        none = np.zeros(0, dtype=np.int64)
        if self._nodes is None or not left.size:
            return none, none
        nodes, boxes = self._nodes, self._boxes
        asking: Ints = np.arange(left.size, dtype=np.int64)
        at = np.zeros(left.size, dtype=np.int64)
        owners, places = [], []
        while asking.size:
            touches = (boxes[0, at] <= right[asking]) & (boxes[2, at] >= left[asking])
            touches &= (boxes[1, at] <= top[asking]) & (boxes[3, at] >= bottom[asking])
            asking, at = asking[touches], at[touches]
            if disc is not None:
                near = self._near(asking, at, disc)
                asking, at = asking[near], at[near]
            leaf = nodes.children[at] == 0
            ends, starts = nodes.end[at[leaf]], nodes.start[at[leaf]]
            owners.append(np.repeat(asking[leaf], ends - starts))
            places.append(ranges(starts, ends))
            asking, at = asking[~leaf], at[~leaf]
            below = nodes.children[at]
            asking = np.repeat(asking, below)
            at = ranges(nodes.first_child[at], nodes.first_child[at] + below)
        return np.concatenate(owners), np.concatenate(places)

    def _near(self, asking: Ints, at: Ints, disc: tuple[Floats, Floats, float]) -> Ints:
        x, y, limit = disc
        boxes = self._boxes
        dx = np.maximum(np.maximum(boxes[0, at] - x[asking], x[asking] - boxes[2, at]), 0.0)
        dy = np.maximum(np.maximum(boxes[1, at] - y[asking], y[asking] - boxes[3, at]), 0.0)
        # A hair wider than the disc, so that rounding never cuts off a point at its very edge.
        return np.flatnonzero(dx * dx + dy * dy <= limit * (1.0 + 1e-12))

    def _first_radius(self, count: int) -> float:
        if not self._x.size:
            return 1.0
        width = max(float(np.ptp(self._x)), 1e-9)
        height = max(float(np.ptp(self._y)), 1e-9)
        return math.sqrt(width * height * max(count, 1) / self._x.size / math.pi) * 1.2 + 1e-9


def _levels(nodes: Nodes) -> list[tuple[int, int]]:
    """First and last + 1 of the nodes of each level: the root, then the children of what came before."""
    levels, first, last = [(0, 1)], 0, 1
    while True:
        inner = nodes.children[first:last]
        total = int(inner.sum())
        if not total:
            return levels
        first, last = last, last + total
        levels.append((first, last))
