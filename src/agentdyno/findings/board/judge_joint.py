"""How far the scores of a board can be trusted, dimensions taken together: they come from the same cases.

Several runs of the same cases share the luck of these cases, whose part of the spread does not shrink with more runs;
what a run adds by itself does. Ends of intervals are combined as distances from the score: those of a mean of
independent parts are the root of the sum of their squares, each end by itself (Zou and Donner, 2008), so that an
interval that leans to one side goes on leaning there. Which way it leans is the mean over the runs of the same cases:
of few cases one run says little. Of one run alone, the interval is that of its report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agentdyno.findings.board.judge_ranks import Joint, Numbers, Owners, Z
from agentdyno.findings.figures.spread import SIZE, overall_variances, unpacked

_NOTHING = np.full(SIZE, np.nan, dtype="<f4").tobytes()


class SpreadPart(NamedTuple):
    """The last success of an agent in a benchmark: how its scores move together, unknown where that is ``None``.

    ``weight`` is that of the benchmark in the agent's mean, ``runs`` how many runs of it are in that mean.
    """

    spread: bytes | None
    weight: float
    runs: float


@dataclass(frozen=True, slots=True)
class _Weighed:
    """Rows of parts; ``shares`` are those of each part in each dimension of its owner, ``whole`` in the overall."""

    owners: Owners
    size: int
    shares: Numbers
    whole: Numbers

    def total(self, values: Numbers) -> Numbers:
        """Sums over the parts of each owner; ``values`` has a row per part and any shape behind it."""
        flat = values.reshape(len(values), -1)
        found = [np.bincount(self.owners, column, minlength=self.size) for column in flat.T]
        return np.stack(found, axis=1).astype(np.float64).reshape(self.size, *values.shape[1:])


def joint_of(parts: Sequence[Sequence[SpreadPart]], shares: Numbers) -> Joint:
    """For each agent, from its benchmarks; NaN where one of them does not say how its scores move together.

    ``shares`` are the weights of the dimensions in the overall score of each agent, agents × dimensions.
    """
    size, width = shares.shape
    flat = [part for own in parts for part in own]
    if not flat:
        return Joint(
            np.full((size, width + 1), np.nan),
            np.full((size, width + 1), np.nan),
            np.full((size, width, width), np.nan),
        )
    owners = np.repeat(np.arange(size), [len(own) for own in parts])
    found = unpacked([part.spread or _NOTHING for part in flat])
    runs = np.maximum(np.array([part.runs for part in flat]), 1.0)[:, None, None]
    alone = found.covariance
    each = np.where(np.isnan(found.pooled) | (runs < 2), alone, found.pooled)
    shared = np.where(np.isnan(found.shared), each, found.shared)
    together = _bounded(each / runs + (1.0 - 1.0 / runs) * shared, each, runs)
    known = ~np.isnan(np.diagonal(alone, axis1=1, axis2=2))
    weighed = _weigh(owners, size, np.array([part.weight for part in flat]), known)
    before, after = overall_variances(each), overall_variances(together)
    alone_scale = np.column_stack(
        [_ratio(_diagonal(each), _diagonal(alone)), _ratio(before[:, None], overall_variances(alone)[:, None])]
    )
    shrunk = np.column_stack([_ratio(_diagonal(together), _diagonal(each)), _ratio(after[:, None], before[:, None])])
    pooled = weighed.total(weighed.shares[:, :, None] * weighed.shares[:, None, :] * np.nan_to_num(together))
    spread = np.sqrt(np.maximum(np.einsum("ad,ade,ae->a", shares, pooled, shares), 0.0))
    usual = np.sqrt(weighed.total((weighed.whole**2 * after)[:, None])[:, 0])
    ends = []
    for last, mean in ((found.low, found.below), (found.high, found.above)):
        # The mean distances belong to the mean variances, those of the last run to its own.
        reach = np.where(np.isnan(mean) | (runs[:, :, 0] < 2), last * alone_scale, mean) * shrunk
        squares = (
            np.column_stack([weighed.shares, weighed.whole]) * np.nan_to_num(reach, nan=0.0, posinf=np.inf)
        ) ** 2
        own = np.sqrt(weighed.total(squares))
        leaning = np.where(usual > 0, own[:, -1] / np.where(usual > 0, usual, 1.0), Z)
        ends.append(np.column_stack([own[:, :-1], leaning * spread]))
    unknown = weighed.total(np.array([part.spread is None for part in flat], dtype=np.float64)[:, None])[:, 0] > 0
    silent = unknown | (np.bincount(owners, minlength=size) == 0)
    low, high = (np.where(np.isfinite(end) & ~silent[:, None], end, np.nan) for end in ends)
    return Joint(low, high, np.where(silent[:, None, None], np.nan, pooled))


def _weigh(owners: Owners, size: int, weights: Numbers, known: Numbers) -> _Weighed:
    def of_owner(part: Numbers) -> Numbers:
        totals = np.stack([np.bincount(owners, column, minlength=size) for column in part.T], axis=1)
        return part / np.where(totals > 0, totals, 1.0)[owners]

    return _Weighed(owners, size, of_owner(weights[:, None] * known), of_owner(weights[:, None])[:, 0])


def _bounded(pooled: Numbers, alone: Numbers, runs: Numbers) -> Numbers:
    """More runs never make a mean less certain, and never more so than independent ones would."""
    found = pooled.copy()
    places = np.arange(found.shape[1])
    most = alone[:, places, places]
    found[:, places, places] = np.clip(found[:, places, places], most / runs[:, :, 0], most)
    return found


def _diagonal(matrices: Numbers) -> Numbers:
    return np.diagonal(matrices, axis1=1, axis2=2)


def _ratio(part: Numbers, of: Numbers) -> Numbers:
    """By how much an error shrinks, from the variances; 1 where there is none."""
    usable = of > 0
    return np.where(usable, np.sqrt(np.maximum(part, 0.0) / np.where(usable, of, 1.0)), 1.0)
