"""A mean watched while values come in: a test and an interval that hold however often one looks.

Somebody who may bet on the values but starts from 1 and never borrows cannot expect to grow rich where the mean is
what is claimed of it. The capital of such a bettor is the evidence: by Ville's inequality it ever reaches 1 / alpha
with probability alpha at most, whatever the distribution of the values within their bounds.

A bet that the mean is above m with fraction f of what may be staked multiplies the capital by
1 + f (x - m) / (m - low). That is less the higher m is, so that the refuted means are all those up to a bound. The
best f depends on mean and spread; the capital is therefore divided over fractions sin(t) with t even in 0..pi/2 (one
half of the arcsine law). Half of the level is spent on either direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, TypeAlias

import numpy as np

from .describe import quantile
from .intervals import Interval, median_interval
from .samples import Array, Values, require_count, require_finite, require_inside_unit, to_array

_NODES = 32
_STEPS = 800
"""Candidate means between the bounds; an end of an interval is rounded outward to one of them."""
_CEILING = 1e200
_SAME_PLACE = 1e-9
"""Relative to the width of the bounds: decimal fractions that stand for one candidate mean."""

Decided: TypeAlias = Literal["better", "worse", "same"]


@cache
def _divide_capital() -> tuple[Array, Array]:
    """Fractions and the share of the capital on each: Gauss-Legendre nodes in t."""
    # Not when the module is loaded: importing numpy.polynomial takes milliseconds.
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return np.sin(math.pi / 4.0 * (nodes + 1.0)), weights / 2.0


class Capital:
    """What bets against each of several candidate means have made of 1.

    With ``above`` they are bets that the mean lies above the candidate, else below. ``now`` is the capital, ``most``
    the highest it has been; 1 / most is a one-sided p-value that holds at every look.
    """

    __slots__ = ("_fractions", "_means", "_parts", "_room", "_shares", "most", "now")

    def __init__(self, means: Values, low: float = -1.0, high: float = 1.0, *, above: bool) -> None:
        self._means = to_array(means, "means")
        if not (low < self._means.min() and self._means.max() < high):
            raise ValueError(f"means must lie strictly between the bounds {low:g} and {high:g}")
        self._room = self._means - low if above else self._means - high
        self._fractions, self._shares = _divide_capital()
        self._parts: Array = np.ones((self._means.size, _NODES))
        self.now: Array = np.ones(self._means.size)
        self.most: Array = np.ones(self._means.size)

    def add(self, value: float | Array) -> None:
        """One value for all candidates, or one value for each; within the bounds."""
        gains = (value - self._means) / self._room
        self._parts *= 1.0 + gains[:, None] * self._fractions
        np.minimum(self._parts, _CEILING, out=self._parts)
        self.now = self._parts @ self._shares
        np.maximum(self.most, self.now, out=self.most)

    def keep(self, part: slice) -> None:
        """Forgets the other candidates."""
        self._means, self._room, self._parts = self._means[part], self._room[part], self._parts[part]
        self.now, self.most = self.now[part], self.most[part]


class MeanSequence:
    """Interval of the mean of independent values within ``low``..``high``, right at every look at once.

    The chance that the true mean is ever outside is ``alpha`` at most. Intervals only shrink. ``null`` is the mean
    that ``p_value`` speaks of. The work per value does not grow with their number.
    """

    def __init__(self, alpha: float = 0.05, low: float = -1.0, high: float = 1.0, *, null: float = 0.0) -> None:
        require_inside_unit(alpha, "alpha")
        if not -math.inf < low < null < high < math.inf:
            raise ValueError(f"expected low < null < high, got {low}, {null} and {high}")
        self.alpha, self.null = alpha, null
        self.n = 0
        self._bounds = (low, high)
        self._refuted = (-math.inf, math.inf)
        self._sum = 0.0
        self._grid = np.union1d(low + (high - low) * np.arange(1, _STEPS) / _STEPS, [null])
        self._above = Capital(self._grid, low, high, above=True)
        self._below = Capital(self._grid, low, high, above=False)
        self._null_above = Capital([null], low, high, above=True)
        self._null_below = Capital([null], low, high, above=False)

    def add(self, value: float) -> None:
        low, high = self._bounds
        if not low <= require_finite(value, "value") <= high:
            raise ValueError(f"value must lie within {low:g}..{high:g}, got {value:g}")
        self.n += 1
        self._sum += value
        for capital in (self._null_above, self._null_below):
            capital.add(value)
        if self._grid.size:
            self._above.add(value)
            self._below.add(value)
            self._shrink()

    @property
    def mean(self) -> float | None:
        """Of the values so far."""
        return self._sum / self.n if self.n else None

    @property
    def interval(self) -> Interval:
        """Where the mean can be; the bounds themselves while nothing is refuted, never empty."""
        low, high = self._bounds
        return Interval(max(low, self._refuted[0]), min(high, self._refuted[1]), 1.0 - self.alpha)

    @property
    def p_value(self) -> float:
        """Two-sided, of the mean being ``null``; never rises, and is at most ``alpha`` once ``null`` is excluded."""
        return min(1.0, 2.0 / max(float(self._null_above.most[0]), float(self._null_below.most[0])))

    def excludes(self, mean: float) -> bool:
        """Whether that mean is refuted."""
        low, high = self._bounds
        slack = _SAME_PLACE * (high - low)
        if not low <= mean <= high:
            return True
        return mean <= self._refuted[0] + slack or mean >= self._refuted[1] - slack

    def _shrink(self) -> None:
        """Candidates that are refuted once stay so; what is left lies between the two runs of refuted ones."""
        limit = 2.0 / self.alpha
        first = _leading(self._above.most >= limit)
        last = self._grid.size - _leading(self._below.most[::-1] >= limit)
        if first == 0 and last == self._grid.size:
            return
        low, high = self._refuted
        if first:
            low = float(self._grid[first - 1])
        if last < self._grid.size and last >= first:
            high = float(self._grid[last])
        self._refuted = (low, high)
        left = slice(first, max(first, last))
        self._grid = self._grid[left]
        for capital in (self._above, self._below):
            capital.keep(left)


@dataclass(slots=True)
class Decision:
    """Ends a paired comparison as soon as it is answered; looking after every case does not raise the error rate.

    ``add`` differences of case scores, candidate minus baseline, each in -1..1. The verdict is ``better`` or
    ``worse`` once a mean difference of zero is refuted, ``same`` once every mean that is left lies within
    ``tolerance`` of zero, and stays. A verdict that is not true (``better`` or ``worse`` of equals, the wrong
    direction, ``same`` of a difference beyond the tolerance) comes with probability ``alpha`` at most.
    """

    tolerance: float = 0.03
    alpha: float = 0.05
    least: int = 8
    verdict: Decided | None = field(default=None, init=False)
    sequence: MeanSequence = field(init=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.tolerance < 1.0:
            raise ValueError(f"tolerance must lie in 0..1, got {self.tolerance}")
        require_count(self.least, "least", at_least=1)
        self.sequence = MeanSequence(self.alpha)

    def add(self, difference: float) -> Decided | None:
        """The verdict after one more difference; what comes after a verdict is not taken into account."""
        if self.verdict is None:
            self.sequence.add(difference)
            self.verdict = self._judge()
        return self.verdict

    def _judge(self) -> Decided | None:
        seen = self.sequence
        if seen.n < self.least:
            return None
        if seen.excludes(0.0):
            return "better" if seen.interval.low >= 0.0 else "worse"
        if seen.excludes(-self.tolerance) and seen.excludes(self.tolerance):
            return "same"
        return None


def _leading(flags: np.typing.NDArray[np.bool_]) -> int:
    """How many are true before the first that is not."""
    return int(flags.size if flags.all() else np.argmin(flags))


def precise_enough(values: Values, precision: float, confidence: float = 0.95) -> bool:
    """Whether the median is known to within +-`precision` of itself (0.01: 1 %).

    True when half the width of its interval is at most precision * |median|. Always false while there are
    too few values for an interval: under 6 at 95 %.
    """
    if not 0.0 <= precision < math.inf:
        raise ValueError(f"precision must be zero or more, got {precision}")
    interval = median_interval(values, confidence)
    if interval is None:
        return False
    return (interval.high - interval.low) / 2.0 <= precision * abs(quantile(values, 0.5))
