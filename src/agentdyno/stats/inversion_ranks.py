"""Tests by ranks and the intervals that invert them: p < alpha exactly when the interval leaves zero.

Both tests count numbers on either side of ``theta``: Wilcoxon's the Walsh averages of paired differences, that of
Mann and Whitney the differences between all values of one sample and all of the other. The interval ends at those
that the same law of the count allows, and a number that is exactly ``theta`` speaks for it. Only where values are so
coarse that an end of the interval is zero itself is that too cautious: there the test with ties decides, and zero is
left out of the interval where it is refuted.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .distributions import normal_cdf, rank_sum_cdf, signed_rank_cdf, use_exact_rank_sum
from .inversion import Inversion
from .samples import Array
from .significance import mann_whitney, wilcoxon_signed_rank

_EXACT_SIGNED_RANK = 50
_MOST_WALSH = 1_500
_MOST_DIFFERENCES = 40_000
_FINE = 1e-13
"""How near to a number that is only counted its place is told, as a part of the largest."""


def invert_signed_rank(values: Array, *, alpha: float) -> tuple[float, Inversion]:
    """The Hodges-Lehmann centre of paired differences, and Wilcoxon's test of it.

    By the exact law up to 50 values, above by the normal law with continuity correction.
    """
    size = values.size
    exact = size <= _EXACT_SIGNED_RANK

    def tail(count: int) -> float:
        if exact:
            return float(signed_rank_cdf(size)[count])
        return _normal_tail(count, size * (size + 1) / 4.0, size * (size + 1) * (2 * size + 1) / 24.0)

    def with_ties() -> float:
        return wilcoxon_signed_rank(values).p_value

    laws = _Laws(f"wilcoxon {'exact' if exact else 'normal'}", tail, with_ties)
    return _inverted(_WalshAverages(values), laws, alpha)


def invert_rank_sum(first: Array, second: Array, *, alpha: float) -> tuple[float, Inversion]:
    """The Hodges-Lehmann shift of ``second`` from ``first``, and the test of Mann and Whitney of it.

    By the exact law where one side is small, else by the normal law with continuity correction.
    """
    n, m = first.size, second.size
    exact = use_exact_rank_sum(n, m)

    def tail(count: int) -> float:
        if not exact:
            return _normal_tail(count, n * m / 2.0, n * m * (n + m + 1) / 12.0)
        law = rank_sum_cdf(n, m)
        return float(law[count]) if count < law.size else 1.0

    def with_ties() -> float:
        return mann_whitney(first, second).p_value

    laws = _Laws(f"mann-whitney {'exact' if exact else 'normal'}", tail, with_ties)
    return _inverted(_Differences(first, second), laws, alpha)


@dataclass(frozen=True, slots=True)
class _Laws:
    """``tail`` is the chance of at most so many numbers on one side of the centre, where no two are equal;
    ``with_ties`` the p-value of zero where some are."""

    method: str
    tail: Callable[[int], float]
    with_ties: Callable[[], float]


def _normal_tail(count: int, mean: float, variance: float) -> float:
    return normal_cdf((count + 0.5 - mean) / math.sqrt(variance))


class _Numbers(ABC):
    """So many numbers that they may be counted and not kept; ``low`` and ``high`` are the ends of them."""

    def __init__(self, total: int, kept: Array | None, ends: tuple[float, float]) -> None:
        self.total = total
        self._all = kept
        self._ends = ends

    def at_most(self, value: float) -> int:
        return self._below(value, inclusive=True)

    def below(self, value: float) -> int:
        return self._below(value, inclusive=False)

    def smallest(self, place: int) -> float:
        """The one in this place, the smallest being in the first."""
        if self._all is not None:
            return float(self._all[place - 1])
        low, high = self._ends
        near = _FINE * max(abs(low), abs(high))
        # Zero is one of the first ends that are tried, so that both sides of it are told apart exactly.
        middle = 0.0 if low < 0.0 < high else (low + high) / 2.0
        while low < middle < high and high - low > near:
            low, high = (low, middle) if self.at_most(middle) >= place else (middle, high)
            middle = (low + high) / 2.0
        return high if self.at_most(low) < place else low

    def _below(self, value: float, *, inclusive: bool) -> int:
        if self._all is not None:
            return int(np.searchsorted(self._all, value, side="right" if inclusive else "left"))
        return self._counted(value, inclusive=inclusive)

    @abstractmethod
    def _counted(self, value: float, *, inclusive: bool) -> int:
        """How many are below ``value``, or exactly that too."""


class _WalshAverages(_Numbers):
    """The means of every two of some values, each with itself too."""

    def __init__(self, values: Array) -> None:
        self._ordered = ordered = np.sort(values)
        kept = None
        if ordered.size <= _MOST_WALSH:
            made = [(ordered[place:] + ordered[place]) / 2.0 for place in range(ordered.size)]
            kept = np.sort(np.concatenate(made))
        super().__init__(ordered.size * (ordered.size + 1) // 2, kept, (float(ordered[0]), float(ordered[-1])))

    def _counted(self, value: float, *, inclusive: bool) -> int:
        ordered = self._ordered
        found = np.searchsorted(ordered, 2.0 * value - ordered, side="right" if inclusive else "left")
        # Every pair was counted twice, each value with itself once.
        alone = int(np.searchsorted(ordered, value, side="right" if inclusive else "left"))
        return (int(found.sum()) + alone) // 2


class _Differences(_Numbers):
    """Every value of the second sample less every one of the first."""

    def __init__(self, first: Array, second: Array) -> None:
        self._first, self._second = first, np.sort(second)
        total = first.size * second.size
        kept = np.sort(np.subtract.outer(second, first).ravel()) if total <= _MOST_DIFFERENCES else None
        ends = float(self._second[0] - first.max()), float(self._second[-1] - first.min())
        super().__init__(total, kept, ends)

    def _counted(self, value: float, *, inclusive: bool) -> int:
        found = np.searchsorted(self._second, self._first + value, side="right" if inclusive else "left")
        return int(found.sum())


def _inverted(numbers: _Numbers, laws: _Laws, alpha: float) -> tuple[float, Inversion]:
    total = numbers.total
    below, above = numbers.at_most(0.0), total - numbers.below(0.0)

    def p_of(count: int) -> float:
        return min(1.0, 2.0 * laws.tail(count))

    # How many numbers an end may leave outside: as many as would be significant at zero.
    outside, beyond = 0, total // 2 + 1
    while outside < beyond:
        middle = (outside + beyond) // 2
        outside, beyond = (middle + 1, beyond) if p_of(middle) < alpha else (outside, middle)
    low, high, p_value = -math.inf, math.inf, p_of(min(below, above))
    if outside:
        low, high = numbers.smallest(outside), numbers.smallest(total + 1 - outside)
    if (low == 0.0) != (high == 0.0):
        p_value = laws.with_ties()
        if p_value < alpha:
            nearest = math.nextafter(0.0, low + high)
            low, high = (nearest, high) if low == 0.0 else (low, nearest)
    centre = (numbers.smallest((total + 1) // 2) + numbers.smallest(total // 2 + 1)) / 2.0
    return min(max(centre, low), high), Inversion(p_value, low, high, laws.method)
