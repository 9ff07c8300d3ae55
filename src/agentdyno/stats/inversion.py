"""A test and the interval that inverts it, from one computation: p < alpha exactly when the interval leaves zero.

**Exchanges.** Two treatments of the same units, as in ``swap``. Whether the true difference is ``theta`` is tested by
taking ``theta`` from the second treatment and exchanging labels within units. With A the difference under a pattern
of exchanges and B the share of units that stays less the share that is exchanged, the pattern gives A - theta * B; it
is as far from zero as what was seen, T - theta, exactly between the values (T - A) / (1 - B) and (T + A) / (1 + B).
Both lie around T, so that every pattern has a range of thetas that it speaks for. p of any theta is the share of
patterns whose range holds it; p of zero is the swap test, and the thetas with p >= alpha are an interval, whose ends
are quantiles of the ends of the ranges.

**A known law.** A difference and its standard error, by the normal law or Student's.

Tests by ranks are in ``inversion_ranks``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .distributions import normal_quantile, t_cdf, t_quantile, two_sided_p
from .samples import Array
from .swap import FIRST_DRAWS, MOST_DRAWS, MOST_EXACT, Level, Patterns, every_pattern, exchanged, random_patterns

_WORTH_MORE = 0.1
_TIE = 1e-9
_CELLS_AT_ONCE = 2_000_000
_MOST_KINDS = 16
_MOST_OUTCOMES = 2**16


@dataclass(frozen=True, slots=True)
class Inversion:
    """The two-sided p-value of zero and the interval at 1 - alpha; an end is infinite where nothing bounds it."""

    p_value: float
    low: float
    high: float
    method: str


@dataclass(frozen=True, slots=True)
class _Exchanges:
    """Differences under patterns (``moved``), shares that stay less those exchanged, and the chance of each pattern.

    All patterns are as probable where no chances are given.
    """

    moved: Array
    staying: Array
    chances: Array | None = None


def invert_swap(
    observed: float,
    drawn: Callable[[Patterns], Array],
    shares: Array,
    *,
    alpha: float,
    seed: int = 0,
    draws: int = MOST_DRAWS,
) -> Inversion:
    """``drawn`` gives the difference under patterns of exchanges, one a row; ``shares`` of the units add up to 1.

    Exact up to 12 units. Above, by random exchanges, what was seen counted among them: 1,999 and, where p comes out
    at 0.1 or less, ``draws``. An exchange that gives no difference speaks for every theta.
    """
    if not math.isfinite(observed):
        raise ValueError(f"the difference is {observed}: there is nothing to test")
    units = shares.size
    if units <= MOST_EXACT:
        patterns = every_pattern(units)
        found = _Exchanges(drawn(patterns), _staying(patterns, shares))
        return _from_exchanges(observed, found, alpha, "swap test exact")
    moved, staying, made = [np.array([observed])], [np.ones(1)], 0
    outcome: Inversion | None = None
    for end in (min(FIRST_DRAWS, draws), draws):
        if outcome is not None and (outcome.p_value > _WORTH_MORE or made >= end):
            break
        while made < end:
            size = min(end - made, max(1, _CELLS_AT_ONCE // units))
            patterns = random_patterns(units, size, seed + made)
            moved.append(drawn(patterns))
            staying.append(_randomly_staying(units, size, seed + made, shares.tobytes()))
            made += size
        together = _Exchanges(np.concatenate(moved), np.concatenate(staying))
        outcome = _from_exchanges(observed, together, alpha, "swap test")
    assert outcome is not None
    return outcome


def invert_totals(
    first: Array, second: Array, level: Level, shares: Array, *, alpha: float, seed: int = 0
) -> Inversion:
    """``invert_swap`` of ``level(second) - level(first)``, levels of column sums; a unit is a row of either side."""
    difference, sums = second - first, (first.sum(axis=0), second.sum(axis=0))

    def drawn(patterns: Patterns) -> Array:
        moved = exchanged(patterns, difference)
        with np.errstate(invalid="ignore"):  # infinite less infinite is no difference
            return np.asarray(level(sums[1] - moved) - level(sums[0] + moved))

    observed = float((level(sums[1][None, :]) - level(sums[0][None, :]))[0])
    return invert_swap(observed, drawn, shares, alpha=alpha, seed=seed)


def invert_linear_swap(differences: Array, shares: Array, *, alpha: float, seed: int = 0) -> Inversion:
    """``invert_swap`` of a sum: ``differences`` of the units add up to what was seen.

    Exact wherever few kinds of units make few outcomes, as with cases that are right or wrong: then p is that of
    McNemar's exact test.
    """
    found = _every_outcome(differences, shares)
    observed = math.fsum(differences.tolist())
    if found is not None:
        return _from_exchanges(observed, found, alpha, "swap test exact")

    def drawn(patterns: Patterns) -> Array:
        return observed - 2.0 * exchanged(patterns, differences[:, None])[:, 0]

    return invert_swap(observed, drawn, shares, alpha=alpha, seed=seed)


def invert_law(shift: float, error: float, *, alpha: float, degrees: float | None = None) -> Inversion:
    """By the normal law, or by Student's with ``degrees`` of freedom; an ``error`` of zero leaves the shift alone."""
    if error <= 0.0:
        return Inversion(1.0 if shift == 0.0 else 0.0, shift, shift, "no spread")
    if degrees is None:
        p_value, reach = two_sided_p(shift / error), normal_quantile(1.0 - alpha / 2.0) * error
        method = "large-sample normal"
    else:
        p_value = 2.0 * t_cdf(-abs(shift / error), degrees)
        reach, method = t_quantile(1.0 - alpha / 2.0, degrees) * error, "student t"
    low, high = shift - reach, shift + reach
    # The quantile and the tail are computed apart: rounding must not let them disagree about the last digit.
    if p_value < alpha and low <= 0.0 <= high:
        nearest = math.nextafter(0.0, shift)
        low, high = (nearest, high) if shift > 0.0 else (low, nearest)
    elif p_value >= alpha:
        low, high = min(low, 0.0), max(high, 0.0)
    return Inversion(p_value, low, high, method)


def _staying(patterns: Patterns, shares: Array) -> Array:
    return np.asarray(1.0 - 2.0 * exchanged(patterns, shares[:, None])[:, 0])


@lru_cache(maxsize=8)  # several rows of a pair, and all pairs of a suite, weigh their units alike
def _randomly_staying(units: int, draws: int, seed: int, shares: bytes) -> Array:
    return _staying(random_patterns(units, draws, seed), np.frombuffer(shares, dtype=np.float64))


def _from_exchanges(observed: float, found: _Exchanges, alpha: float, method: str) -> Inversion:
    lows, highs = _ranges(observed, found)
    low, p_low = end_of_ranges(lows, found.chances, alpha)
    high, p_high = end_of_ranges(-highs, found.chances, alpha)
    p_value = p_low if observed > 0.0 else p_high if observed < 0.0 else 1.0
    return Inversion(min(1.0, p_value), low, -high, method)


def _ranges(observed: float, found: _Exchanges) -> tuple[Array, Array]:
    """Of every pattern the lowest and the highest theta that it speaks for."""
    # Rounding must not tell a pattern from its equals: sums of the same numbers in another order differ by an ulp.
    tie = _TIE * max(1.0, abs(observed))
    ends = []
    for sign in (-1.0, 1.0):
        over, under = observed + sign * found.moved, 1.0 + sign * found.staying
        over = np.where(np.abs(over) <= tie, 0.0, over)
        under = np.where(under <= _TIE, 0.0, under)
        with np.errstate(divide="ignore", invalid="ignore"):
            ends.append(over / under)
    everything = np.isnan(ends[0]) | np.isnan(ends[1])
    lows = np.where(everything, -np.inf, np.minimum(*ends))
    highs = np.where(everything, np.inf, np.maximum(*ends))
    # What was seen lies in every range; rounding must not push it out.
    return np.minimum(lows, observed), np.maximum(highs, observed)


def end_of_ranges(lows: Array, chances: Array | None, alpha: float) -> tuple[float, float]:
    """The lowest theta that patterns with chances of alpha or more speak for, and how much they speak for zero."""
    if chances is None:
        running = _even_chances(lows.size)
        place = min(int(np.searchsorted(running, alpha, side="left")), lows.size - 1)
        end = float(np.partition(lows, place)[place])
        count = int(np.count_nonzero(lows <= 0.0))
        return end, float(running[count - 1]) if count else 0.0
    order = np.argsort(lows, kind="stable")
    running = np.cumsum(chances[order])
    place = int(np.searchsorted(running, alpha, side="left"))
    count = int(np.searchsorted(lows[order], 0.0, side="right"))
    return float(lows[order[min(place, lows.size - 1)]]), float(running[count - 1]) if count else 0.0


@lru_cache(maxsize=16)
def _even_chances(size: int) -> Array:
    return np.asarray(np.arange(1, size + 1) / size)


def _every_outcome(differences: Array, shares: Array) -> _Exchanges | None:
    """Of units that are alike only how many are exchanged matters; ``None`` where that still makes too many."""
    held = np.stack([differences, shares], axis=1)
    first: dict[tuple[float, ...], int] = {}
    counts: Counter[tuple[float, ...]] = Counter()
    for place, kind in enumerate(map(tuple, np.round(held, 12).tolist())):
        first.setdefault(kind, place)
        counts[kind] += 1
        if len(first) > _MOST_KINDS:
            return None
    if math.prod(count + 1 for count in counts.values()) > _MOST_OUTCOMES:
        return None
    moved, staying, chances = np.zeros(1), np.zeros(1), np.ones(1)
    for kind in sorted(first):
        (difference, share), count = held[first[kind]], counts[kind]
        sign = 2.0 * np.arange(count + 1) - count
        moved = np.add.outer(moved, sign * difference).ravel()
        staying = np.add.outer(staying, sign * share).ravel()
        chances = np.multiply.outer(chances, _chances_of(count)).ravel()
    return _Exchanges(moved, staying, chances)


@lru_cache(maxsize=256)
def _chances_of(count: int) -> Array:
    """How probable it is that 0, 1, … of so many are exchanged."""
    kept = range(count + 1)
    if count < 50:
        return np.asarray(np.array([math.comb(count, k) for k in kept]) / 2.0**count)
    logs = np.array([math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) for k in kept])
    return np.asarray(np.exp(logs - count * math.log(2.0)))
