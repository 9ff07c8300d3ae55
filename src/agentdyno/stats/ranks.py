"""Ranks with ties, the common ground of the rank tests and effect sizes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .samples import Array


def rank_with_ties(values: Array) -> tuple[Array, npt.NDArray[np.int64]]:
    """Ranks from 1, tied values sharing their mean rank, and the size of every group of equal values."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    counts = counts.astype(np.int64)
    last = np.cumsum(counts)
    mean_rank = last - (counts - 1) / 2.0
    return mean_rank[inverse], counts


def tie_term(counts: npt.NDArray[np.int64]) -> float:
    """Sum of t^3 - t over the groups of tied values: the tie correction of the rank tests."""
    sizes = counts.astype(np.float64)
    return float((sizes**3 - sizes).sum())


def rank_sum_u(x: Array, y: Array) -> tuple[float, npt.NDArray[np.int64]]:
    """Mann-Whitney U of x (pairs with x > y, ties counting half) and the pooled tie group sizes."""
    ranks, counts = rank_with_ties(np.concatenate([x, y]))
    u = float(ranks[: x.size].sum()) - x.size * (x.size + 1) / 2.0
    return u, counts
