"""Who is beaten by nobody: the Pareto frontier of cost against something that more is better of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Grid: TypeAlias = npt.NDArray[np.float64]


def frontier(costs: Sequence[float], values: Sequence[float]) -> list[bool]:
    """Of each point whether it lies on the frontier: no other is at least as cheap and as good, and better in one.

    Points that are equal in both lie on it together, or not at all.
    """
    if not len(costs):
        return []
    found = on_frontier(np.asarray(costs, dtype=np.float64), np.asarray(values, dtype=np.float64))
    return [bool(item) for item in found]


def on_frontier(costs: Grid, values: Grid) -> npt.NDArray[np.bool_]:
    """``frontier`` along the last axis, for many sets of points at once. Numbers must be finite."""
    order = np.lexsort((-values, costs), axis=-1)
    cheapest_first = np.take_along_axis(costs, order, axis=-1)
    theirs = np.take_along_axis(values, order, axis=-1)
    best = np.maximum.accumulate(theirs, axis=-1)
    rises = np.ones_like(best, dtype=bool)
    rises[..., 1:] = best[..., 1:] > best[..., :-1]
    # What reaches the best value so far is on the frontier where it costs what the first to reach it costs.
    first = np.maximum.accumulate(np.where(rises, np.arange(best.shape[-1]), 0), axis=-1)
    on = (theirs == best) & (cheapest_first == np.take_along_axis(cheapest_first, first, axis=-1))
    found: npt.NDArray[np.bool_] = np.empty_like(on)
    np.put_along_axis(found, order, on, axis=-1)
    return found


def frontier_shares(costs: Grid, values: Grid) -> list[float]:
    """Per point (last axis) the share of the sets (first axis) in which it lies on the frontier."""
    return [float(share) for share in on_frontier(costs, values).mean(axis=0)]
