"""Ranks of agents by dimension, and how far scores and ranks can be trusted.

Arrays have one row per agent and one column per dimension, in the order of ``DIMENSIONS``. Scores and their standard
errors are in 0..1; NaN is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agentdyno.findings.board.model import RankedScore
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL

Numbers: TypeAlias = npt.NDArray[np.float64]
Owners: TypeAlias = npt.NDArray[np.int64]
Places: TypeAlias = npt.NDArray[np.int32]
Drawn: TypeAlias = npt.NDArray[np.float32]

DRAWS = 400
FEWEST_DRAWS = 120
"""Boards drawn; of more than 200 agents fewer, so that a large board takes no longer."""
_DIGITS = 12
"""Scores that agree in so many digits are equal: sums of the same numbers differ in the last ones."""
_AT_ONCE = 24_000
"""Scores drawn at a time: larger arrays cost more in fresh memory than fewer rounds save."""


def competition_ranks(scores: Numbers) -> Places:
    """Ranks of a list of scores, 1 for the highest; equals share one and the next is skipped. 0 where unknown."""
    known = ~np.isnan(scores)
    rounded = np.round(scores, _DIGITS)
    ordered = np.sort(rounded[known])
    ranks = ordered.size - np.searchsorted(ordered, rounded, side="right") + 1
    return np.where(known, ranks, 0).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Joint:
    """How scores move together, a row per agent; NaN where it is not known.

    ``low`` and ``high`` are the distances of the scores to the ends of their intervals, ``overall`` last;
    ``covariance`` is that of the five dimensions.
    """

    low: Numbers
    high: Numbers
    covariance: Numbers


def shares_of(scores: Numbers, weights: Mapping[str, float]) -> Numbers:
    """What each dimension counts in the overall score of each agent; NaN where an agent has no such score."""
    weighed = np.where(np.isnan(scores), 0.0, [weights.get(name, 0.0) for name in DIMENSIONS])
    totals = weighed.sum(axis=1, keepdims=True)
    return np.asarray(weighed / np.where(totals > 0, totals, np.nan), dtype=np.float64)


def ranked_scores(
    scores: Numbers, errors: Numbers, weights: Mapping[str, float], seed: int = 0, joint: Joint | None = None
) -> list[dict[str, RankedScore]]:
    """For each agent its five scores and ``overall``, with ranks and 95 % intervals.

    ``overall`` is the weighted mean of the dimensions that are known. ``joint`` gives the intervals. Where it does
    not know one, as for results of other tools, the interval follows from the standard errors, taken as independent,
    and is ``None`` where one of these is unknown. The interval of a rank is the middle 95 % of drawn boards, in
    each of which the scores of an agent are drawn together from the normal law of their covariance, kept within 0..1;
    a dimension of unknown error stays as it is. It holds the rank itself, and is ``None`` where no error of that
    score is known.
    """
    shares = shares_of(scores, weights)
    counts = shares > 0
    # A mean of scores in 0..1 lies there too; the rounding of its sum may put it outside by a last digit.
    whole = np.clip((shares * np.where(counts, scores, 0.0)).sum(axis=1), 0.0, 1.0)
    spread = np.sqrt(((shares * np.where(counts, errors, 0.0)) ** 2).sum(axis=1))
    trusted = ~np.isnan(errors) & ~np.isnan(scores)
    every = np.column_stack([scores, whole])
    lows, highs = _intervals(every, np.column_stack([errors, spread]), joint)
    ranks = np.column_stack([competition_ranks(column) for column in every.T])
    trust = np.column_stack([trusted, (trusted & counts).any(axis=1)]) & (ranks > 0)
    bests, worsts = ranks, ranks
    if trust.any():
        factors = _factors(np.where(trusted, errors, 0.0), joint)
        drawn = _drawn_ranks(every, factors, np.where(counts, shares, 0.0), seed)
        bests, worsts = (pick(ranks, end) for pick, end in zip((np.minimum, np.maximum), drawn, strict=True))
    table = (every, lows, highs, ranks, trust, bests, worsts)
    columns = []
    for place, name in enumerate((*DIMENSIONS, OVERALL)):
        cells = zip(*(part[:, place].tolist() for part in table), strict=True)
        columns.append((name, [_score(*cell) for cell in cells]))
    return [{name: column[row] for name, column in columns} for row in range(len(scores))]


def _intervals(scores: Numbers, errors: Numbers, joint: Joint | None) -> tuple[Numbers, Numbers]:
    """Both ends, within 0..1 and around the score."""
    below = above = Z * errors
    if joint is not None:
        below = np.where(np.isnan(joint.low), below, joint.low)
        above = np.where(np.isnan(joint.high), above, joint.high)
    return (
        np.minimum(np.maximum(scores - below, 0.0), scores),
        np.maximum(np.minimum(scores + above, 1.0), scores),
    )


def _factors(errors: Numbers, joint: Joint | None) -> Numbers:
    """Per agent the matrix that makes of independent normal numbers the deviations of its scores."""
    width = errors.shape[1]
    factors = np.zeros((len(errors), width, width))
    factors[:, range(width), range(width)] = errors
    if joint is None:
        return factors
    known = ~np.isnan(joint.covariance).all(axis=(1, 2))
    values, vectors = np.linalg.eigh(np.nan_to_num(joint.covariance[known]))
    factors[known] = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    return factors


def _drawn_ranks(scores: Numbers, factors: Numbers, shares: Numbers, seed: int) -> tuple[Places, Places]:
    """The best and the worst rank within the middle 95 % of draws, for all scores, the overall one last.

    Every deviation is drawn once in each direction, which halves the work and keeps the draws balanced. Single
    precision is enough to rank by. An agent without a score is drawn as 0, ahead of no one.
    """
    agents, width = shares.shape
    centre, share = (np.nan_to_num(part).T[:, None, :].astype(np.float32) for part in (scores[:, :width], shares))
    spread = np.ascontiguousarray(np.nan_to_num(factors).transpose(1, 2, 0), dtype=np.float32)
    alone = not np.any(factors * (1 - np.eye(width)))
    rng = np.random.default_rng(abs(seed))
    draws = draws_for(agents)
    tail = draws // 40
    found = np.empty((width + 1, agents, draws), dtype=np.int32)
    half = max(1, min(draws, _AT_ONCE // (agents * (width + 1))) // 2)
    for start in range(0, draws // 2, half):
        noise = rng.standard_normal((width, min(half, draws // 2 - start), agents), dtype=np.float32)
        noise = _together(noise, spread, alone)
        drawn = np.clip(np.concatenate([centre + noise, centre - noise], axis=1), np.float32(0), np.float32(1))
        drawn = np.concatenate([drawn, (drawn * share).sum(axis=0, keepdims=True)])
        ranks = rank_rows(drawn.reshape(-1, agents)).reshape(drawn.shape)
        found[:, :, 2 * start : 2 * start + drawn.shape[1]] = ranks.transpose(0, 2, 1)
    found.sort(axis=2)
    return found[:, :, tail].T, found[:, :, -1 - tail].T


def _together(noise: Drawn, factors: Drawn, alone: bool) -> Drawn:
    """Independent numbers (dimensions × draws × agents) as deviations that move together, by agent."""
    width = len(noise)
    if alone:
        scaled: Drawn = noise * np.stack([factors[place, place] for place in range(width)])[:, None, :]
        return scaled
    moved = np.zeros_like(noise)
    for place in range(width):
        for other in range(width):
            moved[place] += factors[place, other] * noise[other]
    return moved


def draws_for(agents: int) -> int:
    """An even number of boards to draw."""
    return max(FEWEST_DRAWS, min(DRAWS, 40 * (2_000 // max(1, agents))))


def rank_rows(draws: Drawn) -> Places:
    """``competition_ranks`` within every row of numbers in 0..1.

    Scores become whole numbers that carry their agent in the lowest bits: sorting those is much faster than sorting
    indices. Up to 1,024 agents, 21 bits are left for the score, about what single precision tells apart.
    """
    rows, agents = draws.shape
    bits = max(1, (agents - 1).bit_length())
    keys: npt.NDArray[np.signedinteger]
    if bits <= 10:
        keys = (draws * np.float32(-(1 << 21))).astype(np.int32)
    else:
        keys = (draws * np.float32(-(1 << 23))).astype(np.int64)
    keys = (keys << bits) | np.arange(agents, dtype=keys.dtype)
    keys.sort(axis=1)
    places = (keys & ((1 << bits) - 1)) + np.arange(0, rows * agents, agents)[:, None]
    keys >>= bits
    first = np.zeros((rows, agents), dtype=np.int32)
    np.multiply(keys[:, 1:] != keys[:, :-1], np.arange(1, agents, dtype=np.int32), out=first[:, 1:])
    np.maximum.accumulate(first, axis=1, out=first)
    ranks = np.empty(rows * agents, dtype=np.int32)
    ranks[places.ravel()] = first.ravel() + 1
    return ranks.reshape(rows, agents)


def _score(score: float, low: float, high: float, rank: int, trusted: bool, best: int, worst: int) -> RankedScore:
    if not rank:
        return RankedScore(None)
    known = low == low  # NaN, where the error is unknown
    return RankedScore(score, (low, high) if known else None, rank, (best, worst) if trusted else None)


Z = 1.959963984540054
"""Standard errors to either end of a 95 % interval."""
_ACCURACY, _RELIABILITY = DIMENSIONS.index("accuracy"), DIMENSIONS.index("reliability")


def floats(rows: Sequence[Sequence[float | None]], width: int) -> Numbers:
    """Rows of ``width`` numbers as an array; ``None`` and what is not finite is NaN."""
    array: Numbers = np.array(rows, dtype=np.float64).reshape(len(rows), width)
    array[~np.isfinite(array)] = np.nan
    return array


def owners_of(sizes: Sequence[int]) -> Owners:
    """The number of each row's owner, for owners that have so many rows one after the other."""
    return np.repeat(np.arange(len(sizes), dtype=np.int64), np.array(sizes, dtype=np.int64))


def sums(owners: Owners, size: int, columns: Numbers) -> Numbers:
    """The sum of every column over the rows of each of ``size`` owners."""
    found = [np.bincount(owners, column, minlength=size) for column in columns.T]
    return np.stack(found, axis=1).astype(np.float64)  # counts, where there is no row at all


def pooled(owners: Owners, size: int, values: Numbers, errors: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """For each of ``size`` owners the mean of its rows by column, each weighing its count, and the mean's error.

    What is unknown in a row is left out of the mean. The rows are taken as independent; one whose error is unknown
    makes that of the mean unknown.
    """
    used = ~np.isnan(values) & (counts > 0)
    weights = np.where(used, counts, 0.0)
    totals = sums(owners, size, weights)
    totals[totals <= 0] = np.nan
    means = sums(owners, size, weights * np.where(used, values, 0.0)) / totals
    squares = sums(owners, size, (weights * np.where(used, errors, 0.0)) ** 2)
    return means, np.sqrt(squares) / totals


def case_errors(scores: Numbers, errors: Numbers, variances: Numbers, cases: Numbers) -> Numbers:
    """The errors of rows of five scores, with what is known of the ``cases`` behind each row.

    Where accuracy has none it follows from the variance of the case scores. Accuracy and reliability are shares of
    cases, for which all or none is not certain.
    """
    filled = errors.copy()
    spread = np.sqrt(np.maximum(variances, 0.0) / np.where(cases > 1, cases, np.nan))
    own = np.where(np.isnan(errors[:, _ACCURACY]), spread, errors[:, _ACCURACY])
    filled[:, _ACCURACY] = share_errors(scores[:, _ACCURACY], own, cases)
    lasting = errors[:, _RELIABILITY]
    floored = share_errors(scores[:, _RELIABILITY], lasting, cases)
    filled[:, _RELIABILITY] = np.where(np.isnan(lasting), np.nan, floored)
    return filled


def share_errors(shares: Numbers, errors: Numbers, cases: Numbers) -> Numbers:
    """The standard errors of shares of ``cases``, where all or none is not taken as certain.

    A share of exactly 0 or 1 shows no spread however few cases it rests on. Its error is at least the one whose 95 %
    interval ends where Wilson's does; without a count of cases an error of 0 is unknown.
    """
    extreme = (shares == 0.0) | (shares == 1.0)
    counted = np.where(cases > 0, cases, np.nan)
    least = np.fmax(Z / (counted + Z * Z), np.where(errors > 0, errors, np.nan))
    return np.where(extreme, least, errors)
