"""Two treatments of the same units: exchanges of their labels within units, which ``inversion`` makes tests of.

A unit is a row of sums on either side, and what is compared is any function of the column sums: a quotient of totals,
the logarithm of one, a product of shares. Functions take many rows at once and return one level for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .samples import Array, Values
from .significance import rank_with_ties

Level: TypeAlias = Callable[[Array], Array]
"""From column sums, one row each, to the level that is compared."""
Patterns: TypeAlias = npt.NDArray[np.uint8]

MOST_EXACT = 12
"""Units up to which every pattern of exchanges is tried."""
MOST_SWAPPED = 2_000
"""Units up to which exchanges are worth their time; above, the normal law says the same."""
FIRST_DRAWS = 1_999
MOST_DRAWS = 19_999
_ONE_THREAD = 200_000


def exchanged(patterns: Patterns | Array, difference: Array) -> Array:
    """What each pattern moves from one side to the other: the sums of the rows that it exchanges, or weighs."""
    # In pieces so small that linear algebra does not share them out: threads cost more than they save here. All
    # pieces go through one block of memory: to touch new memory takes longer than the sums.
    count, units = patterns.shape
    rows = min(count, max(1, _ONE_THREAD // max(1, difference.size)))
    made = np.empty((count, difference.shape[1]))
    held = np.empty((rows, units))
    for start in range(0, count, rows):
        piece = held[: min(rows, count - start)]
        piece[:] = patterns[start : start + rows]
        np.matmul(piece, difference, out=made[start : start + rows])
    return made


def jackknife_error(first: Array, second: Array, level: Level) -> float | None:
    """Standard error of ``level(second) - level(first)`` from leaving out each unit in turn.

    ``None`` for fewer than two units, and where what is left has no level.
    """
    units = len(first)
    if units < 2:
        return None
    with np.errstate(invalid="ignore"):  # infinite less infinite: told below
        without = level(second.sum(axis=0) - second) - level(first.sum(axis=0) - first)
    if not np.isfinite(without).all():
        return None
    if np.ptp(without) == 0.0:
        return 0.0
    return math.sqrt((units - 1) / units * float(((without - without.mean()) ** 2).sum()))


@lru_cache(maxsize=16)
def every_pattern(units: int) -> Patterns:
    """Every pattern of exchanges, one a row; the first unit stays, as a pattern and its mirror image are as far."""
    count = 2 ** max(0, units - 1)
    bits = (np.arange(count)[:, None] >> np.arange(units)[None, :]) & 1
    made = np.roll(bits, 1, axis=1).astype(np.uint8)
    made.flags.writeable = False
    return made


@lru_cache(maxsize=12)
def random_patterns(units: int, draws: int, seed: int) -> Patterns:
    """Random exchanges, one pattern a row; the same for the same numbers."""
    generator = np.random.default_rng([seed % 2**63, units])
    packed = np.frombuffer(generator.bytes(-(-units * draws // 8)), dtype=np.uint8)
    made = np.unpackbits(packed)[: units * draws].reshape(draws, units)
    made.flags.writeable = False
    return made


def rank_biserial(differences: Values) -> float | None:
    """Matched-pairs rank-biserial correlation, -1 to 1: the rank sum of rises less that of falls, over all ranks.

    Zeros and what is not a number are left out, infinite differences share the highest ranks. ``None`` where nothing
    differs.
    """
    array = np.asarray(differences, dtype=np.float64)
    array = array[~np.isnan(array)]
    array = array[array != 0.0]
    if array.size == 0:
        return None
    ranks, _ = rank_with_ties(np.abs(array))
    return float((np.sign(array) * ranks).sum() / ranks.sum())
