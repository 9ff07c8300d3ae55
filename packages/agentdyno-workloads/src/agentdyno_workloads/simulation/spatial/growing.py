"""The nearest points by discs that grow until they hold enough: what is inside is nearer than what is not."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from agentdyno_workloads.simulation.spatial.compressed import Floats, Ints, ranges


class Discs(Protocol):
    """Anything that tells which points lie in a disc."""

    def radius(self, x: Floats, y: Floats, radius: float) -> tuple[Ints, Ints]: ...


def nearest_by_discs(
    index: Discs, points: tuple[Floats, Floats], asked: tuple[Floats, Floats], count: int, first: float
) -> tuple[Ints, Floats]:
    """Places and distances of the ``count`` nearest of ``points``; ``first`` is the radius to begin with."""
    x, y = asked
    places = np.full((x.size, count), -1, dtype=np.int64)
    distances = np.full((x.size, count), np.inf)
    have = min(count, points[0].size)
    if not have or not x.size:
        return places, distances
    open_: Ints = np.arange(x.size, dtype=np.int64)
    radius, widest = first, _widest(points, asked)
    while open_.size:
        indptr, indices = index.radius(x[open_], y[open_], min(radius, widest))
        enough = np.diff(indptr) >= have
        rows = np.flatnonzero(enough)
        if rows.size:
            who = open_[rows]
            picked, gaps = _closest(points, (x[who], y[who]), (indptr, indices, rows), have)
            places[who, :have], distances[who, :have] = picked, gaps
        open_ = open_[~enough]
        radius *= 2.0
    return places, distances


def _closest(
    points: tuple[Floats, Floats], asked: tuple[Floats, Floats], found: tuple[Ints, Ints, Ints], have: int
) -> tuple[Ints, Floats]:
    """The nearest of each of some rows; of equal ones the lower place."""
    indptr, indices, rows = found
    lengths = indptr[rows + 1] - indptr[rows]
    taken = indices[ranges(indptr[rows], indptr[rows + 1])]
    owner = np.repeat(np.arange(rows.size), lengths)
    dx, dy = points[0][taken] - asked[0][owner], points[1][taken] - asked[1][owner]
    squared = dx * dx + dy * dy
    order = np.lexsort((taken, squared, owner))
    begins = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)[:-1]])
    picked = order[(begins[:, None] + np.arange(have)).ravel()]
    return taken[picked].reshape(-1, have), np.sqrt(squared[picked]).reshape(-1, have)


def _widest(points: tuple[Floats, Floats], asked: tuple[Floats, Floats]) -> float:
    """A radius that holds every point from every question."""
    far = [
        max(abs(float(asks.max()) - float(held.min())), abs(float(held.max()) - float(asks.min())))
        for held, asks in zip(points, asked, strict=True)
    ]
    return math.hypot(*far) * 1.000001 + 1e-9
