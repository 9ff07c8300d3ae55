"""Squares in four squares in four squares, as deep as there are points."""

from __future__ import annotations

import numpy as np

from agentdyno_workloads.simulation.spatial.box_tree import LEAF, BoxTree, Nodes
from agentdyno_workloads.simulation.spatial.compressed import Floats, Ints

DEEPEST = 24
"""Levels at most: points that are closer than 1/2**24 of the world share a leaf."""


class QuadTree(BoxTree):
    """Points in the order of their Morton codes: the points of every square lie one after the other."""

    name = "quad_tree"

    def divide(self, x: Floats, y: Floats) -> tuple[Ints, Nodes]:
        codes = _morton(_cells(x), _cells(y))
        order: Ints = np.argsort(codes, kind="stable")
        codes = codes[order]
        starts, ends, firsts, kids = [], [], [], []
        bounds = [(np.zeros(1, dtype=np.int64), np.full(1, x.size, dtype=np.int64))]
        made, depth = 1, 0
        while bounds:
            start, end = bounds.pop()
            starts.append(start)
            ends.append(end)
            splits = (end - start > LEAF) & (depth < DEEPEST)
            first, children = np.zeros(start.size, dtype=np.int64), np.zeros(start.size, dtype=np.int64)
            if splits.any():
                below, counts = _quarters(codes, start[splits], end[splits], depth)
                children[splits] = counts
                first[splits] = made + np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)[:-1]])
                made += int(counts.sum())
                bounds.append(below)
                depth += 1
            firsts.append(first)
            kids.append(children)
        return order, Nodes(
            np.concatenate(starts), np.concatenate(ends), np.concatenate(firsts), np.concatenate(kids), depth
        )


def _quarters(codes: Ints, start: Ints, end: Ints, depth: int) -> tuple[tuple[Ints, Ints], Ints]:
    """The quarters of each square that hold points, and how many each square has."""
    shift = 2 * (DEEPEST - 1 - depth)
    lowest = (codes[start] >> (shift + 2)) << 2
    edges = np.stack(
        [np.searchsorted(codes, (lowest + quarter) << shift, side="left") for quarter in range(5)], axis=1
    )
    edges = np.clip(edges, start[:, None], end[:, None])
    lows, highs = edges[:, :-1], edges[:, 1:]
    filled = highs > lows
    return (lows[filled], highs[filled]), filled.sum(axis=1).astype(np.int64)


def _cells(values: Floats) -> Ints:
    low, high = float(values.min()), float(values.max())
    span = max(high - low, 1e-12)
    cells: Ints = np.clip((values - low) / span * (1 << DEEPEST), 0, (1 << DEEPEST) - 1).astype(np.int64)
    return cells


def _morton(x: Ints, y: Ints) -> Ints:
    return _spread(x) | (_spread(y) << 1)


def _spread(values: Ints) -> Ints:
    """The bits of a number of 24 bits with a gap after each."""
    v = values & 0xFFFFFF
    v = (v | (v << 16)) & 0x0000FFFF0000FFFF
    v = (v | (v << 8)) & 0x00FF00FF00FF00FF
    v = (v | (v << 4)) & 0x0F0F0F0F0F0F0F0F
    v = (v | (v << 2)) & 0x3333333333333333
    spread: Ints = (v | (v << 1)) & 0x5555555555555555
    return spread
