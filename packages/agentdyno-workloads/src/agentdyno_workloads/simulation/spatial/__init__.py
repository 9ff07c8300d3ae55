"""Who is near: indexes of points in the plane that all give the same answers."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agentdyno import SpecError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_HOMES = {
    "brute": ("brute", "BruteForce"),
    "hash_grid": ("hash_grid", "HashGrid"),
    "kd_tree": ("kd_tree", "KdTree"),
    "quad_tree": ("quad_tree", "QuadTree"),
    "scipy": ("scipy_tree", "ScipyTree"),
}
INDEXES = tuple(_HOMES)


class SpatialIndex(Protocol):
    """Points by their place in the arrays that they were built from.

    Answers to many questions come compressed: ``(indptr, indices)``, where the answer to question ``i`` is
    ``indices[indptr[i]:indptr[i + 1]]``, ascending. A point at exactly the radius belongs to the answer.
    """

    name: str

    def build(self, x: Floats, y: Floats) -> None: ...

    def update(self, which: Ints, x: Floats, y: Floats) -> None:
        """The points ``which`` have moved to ``x`` and ``y``."""

    def radius(self, x: Floats, y: Floats, radius: float) -> tuple[Ints, Ints]: ...

    def nearest(self, x: Floats, y: Floats, count: int) -> tuple[Ints, Floats]:
        """Places and distances of the ``count`` nearest, nearest first, of equal ones the lower place; -1 and
        infinity where there are fewer points."""

    def rectangle(self, left: Floats, bottom: Floats, right: Floats, top: Floats) -> tuple[Ints, Ints]:
        """Points in closed rectangles."""

    def bytes(self) -> int:
        """Memory of the index with its copy of the points."""


def make_index(name: str, *, radius_hint: float | None = None) -> SpatialIndex:
    """An empty index; ``radius_hint`` is the radius that will be asked for most."""
    if name not in _HOMES:
        raise SpecError(f"there is no index {name!r}", where="params.index", remedy=f"Known: {', '.join(INDEXES)}.")
    module, kind = _HOMES[name]
    made: SpatialIndex = getattr(import_module(f"{__name__}.{module}"), kind)(radius_hint)
    return made


def check_radius(radius: float) -> float:
    """A radius is a number of 0 or more."""
    if not (np.isfinite(radius) and radius >= 0):
        raise SpecError(f"the radius is {radius}", where="params.radius", remedy="Give a number of 0 or more.")
    return float(radius)
