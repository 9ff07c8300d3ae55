"""How the scores of an arm move together, small enough to be kept with every execution.

A board shows the overall score of an agent with an interval. Its five parts come from the same cases, so they are not
independent: whoever adds up their errors as if they were gets an interval that is too narrow. What is kept is the
covariance of the dimensions over resampled cases, and the ends of the intervals that the run's report shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL, WEIGHTS
from agentdyno.findings.figures.resampling import Draws, interval_of, overall_draws
from agentdyno.model.result import ScoreSpread

Packed: TypeAlias = npt.NDArray[np.float64]

NAMES = (*DIMENSIONS, OVERALL)
WIDTH = len(DIMENSIONS)
PAIRS = tuple((one, other) for one in range(WIDTH) for other in range(one, WIDTH))
"""The places of ``ScoreSpread.covariance``: the upper half of the matrix, row by row."""
_ENDS = len(NAMES)
SIZE = 2 * _ENDS + 2 * len(PAIRS)
_UNKNOWN = math.inf
"""Kept for a score that has no interval; NaN is kept where there is no score."""


def spread_of(
    draws: Mapping[str, Draws],
    scores: Mapping[str, float | None],
    accuracy: tuple[float, float] | None,
    *,
    share: float = 1.0,
    before: Mapping[str, Draws] | None = None,
) -> ScoreSpread | None:
    """From draws of the cases; ``None`` where there are none. ``accuracy`` is the interval of that score.

    ``share`` is the part of the cases that was drawn from. ``before`` are draws of an earlier run of the same cases,
    with the same cases in each draw: what both runs have in common is the luck of the cases.
    """
    known = [name for name in DIMENSIONS if scores.get(name) is not None and name in draws]
    if not known:
        return None
    ends = {name: interval_of(draws[name], scores[name]) for name in known}
    ends["accuracy"] = accuracy if "accuracy" in ends else None
    if all(name in known for name in DIMENSIONS if scores.get(name) is not None):
        ends[OVERALL] = interval_of(overall_draws({name: draws[name] for name in known}), scores.get(OVERALL))
    low, high = {}, {}
    for name, end in ends.items():
        value = scores.get(name)
        if end is not None and value is not None:
            scale = 1.0 if name == "accuracy" else math.sqrt(share)  # the interval of accuracy is over all cases
            low[name], high[name] = value - (value - end[0]) * scale, value + (end[1] - value) * scale
    matrix = _between(draws, draws, known) * share
    shared: tuple[float | None, ...] = ()
    if before is not None and all(name in before for name in known):
        both = _between(draws, before, known) * share
        shared = _upper(0.5 * (both + both.T))
    return ScoreSpread(low, high, _upper(matrix), shared)


def _between(one: Mapping[str, Draws], other: Mapping[str, Draws], known: Sequence[str]) -> Packed:
    """Covariances of every dimension of the one with every dimension of the other; NaN where one is not known."""
    matrix = np.full((WIDTH, WIDTH), np.nan)
    places = [DIMENSIONS.index(name) for name in known]
    parts = [np.stack([draws[name] for name in known]) for draws in (one, other)]
    left, right = (part - part.mean(axis=1, keepdims=True) for part in parts)
    matrix[np.ix_(places, places)] = left @ right.T / (left.shape[1] - 1)
    return matrix


def _upper(matrix: Packed) -> tuple[float | None, ...]:
    found = (float(matrix[one, other]) for one, other in PAIRS)
    return tuple(value if math.isfinite(value) else None for value in found)


def packed(spread: ScoreSpread | None, scores: Mapping[str, float | None]) -> bytes | None:
    """168 bytes: the distance of each score to both ends of its interval, the covariance, and its shared part."""
    if spread is None:
        return None
    values = []
    for ends, sign in ((spread.low, -1.0), (spread.high, 1.0)):
        for name in NAMES:
            score = scores.get(name)
            end = ends.get(name)
            missing = math.nan if score is None else _UNKNOWN
            values.append(missing if score is None or end is None else max(0.0, sign * (end - score)))
    for part in (spread.covariance, spread.shared or (None,) * len(PAIRS)):
        values += [math.nan if value is None else value for value in part]
    return np.array(values, dtype="<f4").tobytes()


def rescaled(blob: bytes | None, factors: Mapping[str, float]) -> bytes | None:
    """What was packed, for scores that have other targets: the spread of a dimension grows by its factor.

    The spread of the overall score grows as its variance does.
    """
    if blob is None:
        return None
    values = np.frombuffer(blob, dtype="<f4").astype(np.float64)
    scale = np.array([factors.get(name, 1.0) for name in DIMENSIONS])
    before = _overall_variance(values)
    pairs = np.array([scale[one] * scale[other] for one, other in PAIRS])
    for start in (2 * _ENDS, 2 * _ENDS + len(PAIRS)):
        values[start : start + len(PAIRS)] *= pairs
    for start in (0, _ENDS):
        values[start : start + WIDTH] *= scale
        values[start + WIDTH] *= math.sqrt(_overall_variance(values) / before) if before > 0 else 1.0
    return values.astype("<f4").tobytes()


def _overall_variance(values: Packed) -> float:
    found = unpacked([values.astype("<f4").tobytes()])
    return float(overall_variances(found.covariance)[0])


class Unpacked:
    """Spreads of several executions; ``low`` and ``high`` are distances to the ends, by dimension, overall last."""

    def __init__(self, values: Packed) -> None:
        self.low, self.high = values[:, :_ENDS], values[:, _ENDS : 2 * _ENDS]
        self.covariance = _matrices(values[:, 2 * _ENDS : 2 * _ENDS + len(PAIRS)])
        self.shared = _matrices(values[:, 2 * _ENDS + len(PAIRS) :])


def unpacked(blobs: Sequence[bytes]) -> Unpacked:
    """The spreads that ``packed`` wrote."""
    return Unpacked(np.frombuffer(b"".join(blobs), dtype="<f4").astype(np.float64).reshape(len(blobs), SIZE))


def _matrices(halves: Packed) -> Packed:
    matrices = np.empty((len(halves), WIDTH, WIDTH))
    for place, (one, other) in enumerate(PAIRS):
        matrices[:, one, other] = matrices[:, other, one] = halves[:, place]
    return matrices


def overall_variances(covariances: Packed) -> Packed:
    """Of the overall scores with the usual weights, over the dimensions that are known."""
    known = ~np.isnan(np.diagonal(covariances, axis1=1, axis2=2))
    weights = np.where(known, [WEIGHTS[name] for name in DIMENSIONS], 0.0)
    totals = weights.sum(axis=1, keepdims=True)
    shares = weights / np.where(totals > 0, totals, 1.0)
    found: Packed = np.einsum("nd,nde,ne->n", shares, np.nan_to_num(covariances), shares)
    return np.maximum(found, 0.0)
