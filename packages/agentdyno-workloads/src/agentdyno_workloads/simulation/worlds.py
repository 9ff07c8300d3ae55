"""Points spread over the plane in ways that indexes like and dislike."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from agentdyno import SpecError
from agentdyno_workloads.simulation.config import DENSITY
from agentdyno_workloads.simulation.spatial import Floats

World = Literal["uniform", "clustered", "linear", "sparse"]
CLUSTERS = 12
THINNER = 50.0
"""By how much less dense a sparse world is."""


def make_points(world: World, count: int, seed: int) -> tuple[Floats, Floats]:
    """``uniform`` at the density of the simulation; ``clustered`` in twelve dense heaps of the same world; ``linear``
    along a line; ``sparse`` in a world fifty times as large."""
    if count < 1:
        raise SpecError(f"{count} points make no world", where="params.points", remedy="Give 1 or more.")
    rng = np.random.default_rng([seed, count])
    side = math.sqrt(count / DENSITY)
    if world == "clustered":
        centres = rng.uniform(0.1 * side, 0.9 * side, (CLUSTERS, 2))
        at = centres[rng.integers(0, CLUSTERS, count)] + rng.normal(0.0, side / 60.0, (count, 2))
        return at[:, 0].copy(), at[:, 1].copy()
    if world == "linear":
        along = rng.uniform(0.0, count / 2.0, count)
        return along, rng.normal(0.0, 0.1, count)
    if world == "sparse":
        side *= math.sqrt(THINNER)
    return rng.uniform(0.0, side, count), rng.uniform(0.0, side, count)
