"""How the scores of an arm move together, small enough to be kept with every execution.

A board shows the overall score of an agent with an interval. Its five parts come from the same cases, so they are not
independent: whoever adds up their errors as if they were gets an interval that is too narrow. What is kept is the
covariance of the dimensions over resampled cases, and the ends of the intervals that the run's report shows. Where
the same cases were run before, which way an interval leans is told by all these runs: of few cases one says little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL, WEIGHTS

if TYPE_CHECKING:
    from agentdyno.findings.figures.resampling import Draws
    from agentdyno.model.result import ScoreSpread

Packed: TypeAlias = npt.NDArray[np.float64]

NAMES = (*DIMENSIONS, OVERALL)
WIDTH = len(DIMENSIONS)
PAIRS = tuple((one, other) for one in range(WIDTH) for other in range(one, WIDTH))
"""The places of ``ScoreSpread.covariance``: the upper half of the matrix, row by row."""
_ENDS = len(NAMES)
_FIRST_SIZE = 2 * _ENDS + 3 * len(PAIRS)
"""What was packed before the ends over several runs were kept."""
SIZE = _FIRST_SIZE + 2 * _ENDS
MOST_RUNS = 20
"""Runs over which a spread is averaged; older ones fade."""
_UNKNOWN = math.inf
"""Kept for a score that has no interval; NaN is kept where there is no score."""


class RunBefore(NamedTuple):
    """An earlier run of the same cases: draws of its scores, its spread where that is known, and its scores."""

    draws: Mapping[str, Draws]
    spread: ScoreSpread | None = None
    scores: Mapping[str, float | None] = {}


def spread_of(
    draws: Mapping[str, Draws],
    scores: Mapping[str, float | None],
    accuracy: tuple[float, float] | None,
    *,
    share: float = 1.0,
    before: Sequence[RunBefore] = (),
) -> ScoreSpread | None:
    """From draws of the cases; ``None`` where there are none. ``accuracy`` is the interval of that score.

    ``share`` is the part of the cases that was drawn from. ``before`` are earlier runs of the same cases, the last
    first, with the same cases in each draw: what runs have in common is the luck of the cases. Their draws tell it;
    where one alone is given that was not the first, its stored spread tells it of those before.
    """
    from agentdyno.findings.figures.resampling import interval_of, overall_draws  # a board only unpacks
    from agentdyno.model.result import ScoreSpread

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
    alone = _upper(matrix)
    comparable = [run for run in before if all(name in run.draws for name in known)]
    if not comparable:
        return ScoreSpread(low, high, alone)
    chained = _chained(
        ScoreSpread(low, high, alone), scores, comparable[0], _between(draws, comparable[0].draws, known) * share
    )
    earlier = comparable[0].spread
    if len(comparable) < 2 and earlier is not None and earlier.runs > 1:
        return chained  # of those before it only what they had in common is known
    return _together(chained, [RunBefore(draws, None, scores), *comparable], known, share)


def _chained(alone: ScoreSpread, scores: Mapping[str, float | None], before: RunBefore, both: Packed) -> ScoreSpread:
    """With what the run before had stored of those before it; ``both`` is what the last two have in common."""
    below, above = _distances(alone.low, scores, -1.0), _distances(alone.high, scores, 1.0)
    common, earlier, own = _upper(0.5 * (both + both.T)), before.spread, alone.covariance
    if earlier is None:
        return replace(alone, pooled=own, shared=common, runs=2, below=below, above=above)
    runs = min(earlier.runs + 1, MOST_RUNS)
    past = (
        earlier.below or _distances(earlier.low, before.scores, -1.0),
        earlier.above or _distances(earlier.high, before.scores, 1.0),
    )
    return replace(
        alone,
        pooled=_averaged(earlier.pooled or earlier.covariance, own, runs),
        shared=_averaged(earlier.shared or common, common, runs - 1),
        runs=runs,
        below=_averaged(past[0], below, runs),
        above=_averaged(past[1], above, runs),
    )


def _together(chained: ScoreSpread, runs: Sequence[RunBefore], known: Sequence[str], share: float) -> ScoreSpread:
    """What these runs have in common, and where the interval of their mean ends, from their draws themselves.

    The ends are kept as those of one run would be: a board makes them smaller by as much as a mean over several runs
    is more certain than one. Those of accuracy, which are no draws', stay as they are.
    """
    from agentdyno.findings.figures.resampling import overall_draws

    count = len(runs)
    mean = {name: np.mean([run.draws[name] for run in runs], axis=0) for name in known}
    each = np.mean([_between(run.draws, run.draws, known) for run in runs], axis=0) * share
    whole = _between(mean, mean, known) * share
    of_mean, of_each = (np.append(np.diagonal(part), overall_variances(part[None])) for part in (whole, each))
    ends = {"below": list(chained.below), "above": list(chained.above)}
    for place, name in enumerate(NAMES):
        drawn = overall_draws(mean) if name == OVERALL else mean.get(name)
        values = [value for run in runs if (value := run.scores.get(name)) is not None]
        if name == "accuracy" or drawn is None or len(values) < count or not of_mean[place] > 0:
            continue
        value, longer = math.fsum(values) / count, math.sqrt(share * of_each[place] / of_mean[place])
        low, high = (float(end) for end in np.quantile(drawn, [0.025, 0.975]))
        ends["below"][place] = max(0.0, value - low) * longer
        ends["above"][place] = max(0.0, high - value) * longer
    shared = _upper((count * whole - each) / (count - 1))
    return replace(
        chained, pooled=_upper(each), shared=shared, below=tuple(ends["below"]), above=tuple(ends["above"])
    )


def _distances(
    ends: Mapping[str, float], scores: Mapping[str, float | None], sign: float
) -> tuple[float | None, ...]:
    """How far the ends of the intervals are from the scores, ``overall`` last; ``None`` where one is not known."""
    found = []
    for name in NAMES:
        end, score = ends.get(name), scores.get(name)
        found.append(None if end is None or score is None else max(0.0, sign * (end - score)))
    return tuple(found)


def _averaged(before: Sequence[float | None], own: Sequence[float | None], runs: int) -> tuple[float | None, ...]:
    """A mean over ``runs`` runs, from that over all but the last; what was not known before is as the last has it."""
    pairs = zip(before, own, strict=True)
    return tuple(new if old is None or new is None else old + (new - old) / runs for old, new in pairs)


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
    """276 bytes: the distance of each score to both ends of its interval, the three covariances, and the mean
    distances over several runs."""
    if spread is None:
        return None
    values = []
    for ends, sign in ((spread.low, -1.0), (spread.high, 1.0)):
        for name, distance in zip(NAMES, _distances(ends, scores, sign), strict=True):
            missing = math.nan if scores.get(name) is None else _UNKNOWN
            values.append(missing if distance is None else distance)
    for part in (spread.covariance, *(each or (None,) * len(PAIRS) for each in (spread.pooled, spread.shared))):
        values += [math.nan if value is None else value for value in part]
    for mean in (spread.below, spread.above):
        values += [math.nan if value is None else value for value in mean or (None,) * _ENDS]
    return np.array(values, dtype="<f4").tobytes()


def rescaled(blob: bytes | None, factors: Mapping[str, float]) -> bytes | None:
    """What was packed, for scores that have other targets: the spread of a dimension grows by its factor.

    The spread of the overall score grows as its variance does.
    """
    if blob is None:
        return None
    values = np.frombuffer(_of_full_size(blob), dtype="<f4").astype(np.float64)
    scale = np.array([factors.get(name, 1.0) for name in DIMENSIONS])
    before = _overall_variance(values)
    pairs = np.array([scale[one] * scale[other] for one, other in PAIRS])
    for start in range(2 * _ENDS, _FIRST_SIZE, len(PAIRS)):
        values[start : start + len(PAIRS)] *= pairs
    for start in (0, _ENDS, _FIRST_SIZE, _FIRST_SIZE + _ENDS):
        values[start : start + WIDTH] *= scale
        values[start + WIDTH] *= math.sqrt(_overall_variance(values) / before) if before > 0 else 1.0
    return values.astype("<f4").tobytes()


def _overall_variance(values: Packed) -> float:
    found = unpacked([values.astype("<f4").tobytes()])
    return float(overall_variances(found.covariance)[0])


class Unpacked:
    """Spreads of several executions; ``low`` and ``high`` are distances to the ends, by dimension, overall last.

    ``below`` and ``above`` are their means over several runs, NaN where there were none before.
    """

    def __init__(self, values: Packed) -> None:
        self.low, self.high = values[:, :_ENDS], values[:, _ENDS : 2 * _ENDS]
        self.below, self.above = values[:, _FIRST_SIZE : _FIRST_SIZE + _ENDS], values[:, _FIRST_SIZE + _ENDS :]
        starts = range(2 * _ENDS, _FIRST_SIZE, len(PAIRS))
        self.covariance, self.pooled, self.shared = (
            _matrices(values[:, start : start + len(PAIRS)]) for start in starts
        )


def unpacked(blobs: Sequence[bytes]) -> Unpacked:
    """The spreads that ``packed`` wrote."""
    whole = b"".join([_of_full_size(blob) for blob in blobs])
    return Unpacked(np.frombuffer(whole, dtype="<f4").astype(np.float64).reshape(len(blobs), SIZE))


_NO_MEANS = np.full(2 * _ENDS, np.nan, dtype="<f4").tobytes()


def _of_full_size(blob: bytes) -> bytes:
    return blob if len(blob) == 4 * SIZE else blob + _NO_MEANS


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
