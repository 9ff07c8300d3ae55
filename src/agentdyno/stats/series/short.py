"""Changes of level in a series of 6 to 29 points: too short to learn from it how its noise is correlated.

The series is cut optimally into stretches of at least three points (two at its end), and every cut must show in a
two-sample t test against the scatter within all stretches. What t has to reach was set by simulation: where nothing
changes, fewer than one series in a hundred of independent noise shows a cut, and fewer than one in twenty where
neighbours correlate by 0.6. So it is far above what one test of independent values would ask for.

A single run that went wrong hides a change, because it makes the scatter large. So points that clearly belong to no
level are left out, and the rest is looked at again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..distributions import t_cdf
from ..samples import Array, median_of
from .partition import Indices

FEWEST_POINTS = 6
"""Three a side."""
SHORT = 30
"""From so many points on the noise can be estimated, and the long-run variance takes over."""
MIN_SIZE = 3
_TAIL_SIZE = 2
_MOST_CUTS = 4
_LEAST_T = 5.75
_T_PER_POINT = 0.05
"""More points are more places to look at, and correlated ones wander further."""
_FROM_POINTS = 8
_T_PER_CUT = 1.5
_TAIL_T = 10.0
_T_LEFT_OUT = 6.0
"""What t has to reach more where a point was left out to reach it."""
_CLEAR_P = 1e-4
"""A point is clearly apart where its own t against the level around it has a p below this."""
_CLEAR_FROM = 12
"""Of fewer points correlated noise has too many that look so."""
_T_PER_CLEAR = 0.25
"""What t has to reach more for each point that is clearly apart and was left out."""
_MOST_CLEAR = 4
_TWO_VALUED_SIZE = 4
"""Of values that are all one of two, three in a row are seen by chance too often."""
_RELATIVE_RESOLUTION = 1e-12
_RELATIVE_SCATTER = 1e-9


@dataclass(frozen=True, slots=True)
class Cut:
    """A new level from ``at`` on.

    ``sigma`` is the scatter within the stretches in units of the values, above zero even without noise; ``p_value``
    is that of the t test times the number of places at which the series could have been cut.
    """

    at: int
    sigma: float
    p_value: float
    confirmed: bool


@dataclass(frozen=True, slots=True)
class _Partition:
    places: tuple[int, ...]
    squares: float
    """Summed squared distances from the means of the stretches."""


def find_cuts(values: Array) -> tuple[Cut, ...]:
    """The changes of level in the order of the values; one that rests on the last two points is not confirmed.

    Up to four points that are clearly apart from every level (a cold first run, a bad night) are left out; one that
    is less so only where the rest then shows a change that is clearer still. A series that a straight line describes
    better than levels has none.
    """
    spread = float(np.ptp(values))
    resolution = _RELATIVE_RESOLUTION * median_of(np.abs(values))
    if values.size < FEWEST_POINTS or spread <= resolution:
        return ()
    scaled = (values - median_of(values)) / spread
    least_variance = max(resolution / spread, _RELATIVE_SCATTER) ** 2
    search, places = _Search(scaled, least_variance), np.arange(values.size)
    found = search.find()
    for left_out in range(1, (_MOST_CLEAR if values.size >= _CLEAR_FROM else 1) + 1):
        if found:
            break
        places = np.delete(places, search.furthest())
        rest = scaled[places]
        if rest.size < FEWEST_POINTS or float(np.ptp(rest)) <= resolution / spread:
            break
        search = _Search(rest, least_variance)
        # Judged by what is left: two bad nights hide each other as they hide a change.
        if values.size >= _CLEAR_FROM and all(search.is_apart(*point) for point in _others(scaled, places)):
            found = search.find(_T_PER_CLEAR * left_out)
        elif left_out == 1:
            found = search.find(_T_LEFT_OUT)
    return tuple(Cut(int(places[cut.at]), cut.sigma * spread, cut.p_value, cut.confirmed) for cut in found)


def _others(values: Array, places: Indices) -> list[tuple[float, int]]:
    """The values at all other places, and where among these places each would stand."""
    left = np.setdiff1d(np.arange(values.size), places)
    return [(float(values[place]), int(np.searchsorted(places, place))) for place in left]


class _Search:
    """The best partitions of one series for every number of cuts, and which of them holds."""

    def __init__(self, values: Array, least_variance: float) -> None:
        self.values = values
        self.size = values.size
        self.least_variance = least_variance
        self.least_t = _LEAST_T + _T_PER_POINT * max(0, self.size - _FROM_POINTS)
        self.two_valued = bool(np.isin(values, (values.min(), values.max())).all())
        self._sums = np.concatenate([[0.0], np.cumsum(values)])
        self._costs = self._stretch_costs()
        self.partitions = self._partition()

    def find(self, surcharge: float = 0.0) -> tuple[Cut, ...]:
        """The partition of most cuts in which every cut holds; nothing where a line describes the values better.

        ``surcharge`` is what t has to reach beyond the usual.
        """
        line = self._squares_around_line()
        for partition in reversed(self.partitions):
            if partition.squares < line and not self._starts_cold(partition):
                cuts = self._judge(partition, surcharge)
                if cuts:
                    return cuts
        return ()

    def furthest(self) -> int:
        """The point furthest from its level in the best partition with one cut."""
        bounds = [0, *self.partitions[0].places, self.size]
        left = np.concatenate([self.values[a:b] - self.values[a:b].mean() for a, b in pairwise(bounds)])
        return int(np.abs(left).argmax())

    def is_apart(self, value: float, place: int) -> bool:
        """Whether one more value at that place would belong to none of the levels around it, one cut being made."""
        partition = self.partitions[0]
        freedom = self.size - 2
        variance = max(partition.squares / freedom, self.least_variance)
        bounds = [0, *partition.places, self.size]
        t = min(
            abs(value - self._mean(start, stop)) / math.sqrt(variance * (1.0 + 1.0 / (stop - start)))
            for start, stop in pairwise(bounds)
            if start <= place <= stop
        )
        return 2.0 * t_cdf(-t, freedom) < _CLEAR_P

    def _stretch_costs(self) -> Array:
        """Summed squares around the mean of values[start:stop], by start and stop; infinite where it is too short."""
        squares = np.concatenate([[0.0], np.cumsum(np.square(self.values))])
        places = np.arange(self.size + 1)
        lengths = places - places[:, None]
        sums = self._sums - self._sums[:, None]
        costs: Array = np.maximum(squares - squares[:, None] - sums * sums / np.maximum(lengths, 1), 0.0)
        costs[lengths < MIN_SIZE] = math.inf
        end = self.size - _TAIL_SIZE
        costs[end, self.size] = float(np.square(self.values[end:] - self.values[end:].mean()).sum())
        return costs

    def _partition(self) -> list[_Partition]:
        best = self._costs[0]
        chosen: list[Indices] = []
        found = []
        for cuts in range(1, min(_MOST_CUTS, self.size // MIN_SIZE - 1) + 1):
            totals = best[:, None] + self._costs
            chosen.append(totals.argmin(axis=0))
            best = totals.min(axis=0)
            places, stop = [], self.size
            for earlier in reversed(chosen[:cuts]):
                stop = int(earlier[stop])
                places.append(stop)
            found.append(_Partition(tuple(places[::-1]), float(best[self.size])))
        return found

    def _judge(self, partition: _Partition, surcharge: float) -> tuple[Cut, ...]:
        """The cuts of a partition where all of them hold, else none."""
        places = partition.places
        freedom = self.size - len(places) - 1
        variance = max(partition.squares / freedom, self.least_variance)
        tried = self.size - MIN_SIZE - _TAIL_SIZE + 1
        bounds = [0, *places, self.size]
        cuts = []
        for start, at, stop in zip(bounds, places, bounds[2:], strict=False):
            before, after = at - start, stop - at
            shift = self._mean(at, stop) - self._mean(start, at)
            t = abs(shift) / math.sqrt(variance * (1.0 / before + 1.0 / after))
            needed = self.least_t + surcharge + _T_PER_CUT * (len(places) - 1)
            if t < max(needed, _TAIL_T if after < MIN_SIZE else 0.0):
                return ()
            if self.two_valued and before < _TWO_VALUED_SIZE:
                return ()
            confirmed = after >= (_TWO_VALUED_SIZE if self.two_valued else MIN_SIZE)
            if not confirmed and stop < self.size:
                return ()
            p_value = min(1.0, 2.0 * tried * t_cdf(-t, freedom))
            cuts.append(Cut(at, math.sqrt(variance), p_value, confirmed))
        return tuple(cuts)

    def _starts_cold(self, partition: _Partition) -> bool:
        """Whether the first stretch would rather be one or two points: runs with cold caches are no regime."""
        bounds = [0, *partition.places, self.size]
        if bounds[1] > MIN_SIZE:
            return False
        values = self.values[: bounds[2]]
        sizes = np.arange(1, values.size, dtype=np.float64)
        sums = np.cumsum(values - values.mean())[:-1]
        saved = sums * sums / (sizes * (values.size - sizes))
        return int(saved.argmax()) + 1 < MIN_SIZE

    def _squares_around_line(self) -> float:
        times = np.arange(self.size) - (self.size - 1) / 2.0
        centred = self.values - self.values.mean()
        explained = float((times * centred).sum()) ** 2 / float((times * times).sum())
        return max(0.0, float(np.square(centred).sum()) - explained)

    def _mean(self, start: int, stop: int) -> float:
        return float(self._sums[stop] - self._sums[start]) / (stop - start)
