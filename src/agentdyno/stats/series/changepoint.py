"""Where a series changed its level for good, in noise that is correlated, heavy-tailed and spiky.

From 30 points on: spikes are clipped against a running median; the clipped series is partitioned optimally, every
change at the price of 2 * long-run variance * ln(n / 0.005), as if about one series in two hundred might show one by
chance; among the partitions of falling price the one that describes the series in the least space is kept; then
changes go whose rank test, effect or gain over the noise beside them does not hold. `short` searches shorter ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from ..distributions import normal_quantile, two_sided_p
from ..samples import Array, Values, median_of
from ..significance import mann_whitney
from .long_run_variance import Noise, clip_spikes, description_cost, estimate_noise, starting_variance
from .partition import Indices, partition
from .short import FEWEST_POINTS, SHORT, find_cuts

MIN_SIZE = 4
"""Fewest points of a confirmed regime in a series of 30 points and more."""
_FALSE_ALARM = 0.005
_FALL = 4.0
_FALLS = 4
_PRIOR_POINTS = 10.0
"""Weight of the whole series' variance, in points, when that around one change is judged."""
_RANKED = 400
"""Most points a side in the rank test, the nearest: the exact law of few against very many takes seconds."""
_MOVE = 10
_MOVE_CORRELATION = 0.2
_TAIL = range(2 * MIN_SIZE - 1, 1, -1)
_TAIL_SIGMAS = 2.5
_RELATIVE_RESOLUTION = 1e-12
_LEAST_P = 1e-300
_LARGE = 2.0**1000
_SHRINK = 2.0**-40


@dataclass(frozen=True, slots=True)
class Change:
    """A new level from `index` on, the place of its first point in the values given.

    `before` and `after` are medians of the two regimes and `absolute` is after - before, in the unit of the values;
    `relative` is absolute / |before|, None when that is zero. `effect` is the size in sigmas of the noise around
    both levels (up to a billion without noise). `p_value` is that of the rank test between them, corrected for
    correlation; under 30 points that of the t test, times the places at which the series could have changed.
    Not `confirmed`: seen in the last few points only (2, or 3 of values that are all one of two; 2 to 7 where there
    are 30 points and more), and later ones will confirm or withdraw it.
    """

    index: int
    before: float
    after: float
    absolute: float
    relative: float | None
    effect: float
    p_value: float
    confirmed: bool

    @property
    def direction(self) -> Literal["up", "down"]:
        """Where the values went; whether that is good only the caller knows."""
        return "up" if self.absolute > 0.0 else "down"


def detect(values: Values, min_effect: float = 1.0, alpha: float = 0.05) -> list[int]:
    """Index of the first point of each new regime, ascending: the confirmed changes of `analyse`."""
    return [change.index for change in analyse(values, min_effect, alpha) if change.confirmed]


def analyse(values: Values, min_effect: float = 1.0, alpha: float = 0.05) -> tuple[Change, ...]:
    """Every change of level in the order of the values, at most the last one provisional.

    A change needs `min_effect` sigmas of the noise between the two medians, p at most `alpha`, and 4 points a side; 3
    in a series of under 30 points. NaN and infinite values are missing measurements: skipped, while indices keep
    counting them. Fewer than 6 finite values, or values that are all equal (but for spikes), have no change. Steps
    below 1e-12 of the typical size of the values are rounding, not change. Noise is taken as alike all along: a
    stretch over twice as noisy as the rest may seem to change its level (0.03 alarms in 1,000 points at 2x, 0.2 at
    3x, 0.9 at 5x).
    """
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1:
        raise ValueError(f"values must be one-dimensional, got {given.ndim} dimensions")
    if not min_effect >= 0.0:
        raise ValueError(f"min_effect must not be negative, got {min_effect}")
    if not 0.0 < alpha <= 1.0:
        raise ValueError(f"alpha must lie above 0 and at most at 1, got {alpha}")
    present = np.flatnonzero(np.isfinite(given))
    if present.size < FEWEST_POINTS:
        return ()
    finite = given[present]
    # Near the largest float, sums and distances of finite values would not be finite.
    shrink = _SHRINK if float(np.abs(finite).max()) > _LARGE else 1.0
    if present.size < SHORT:
        found = _report_short(finite * shrink, present, shrink)
        return tuple(change for change in found if change.effect >= min_effect and change.p_value <= alpha)
    return tuple(_report(_Series(finite * shrink, min_effect, alpha), present, shrink))


class _Series:
    """One series of finite values with its clipped and scaled form, and the noise found in it."""

    def __init__(self, values: Array, min_effect: float, alpha: float) -> None:
        self.values = values
        self.min_effect = min_effect
        self.alpha = alpha
        clipped = clip_spikes(values)
        self.unit = float(np.ptp(clipped)) or 1.0
        self.clipped = (clipped - median_of(clipped)) / self.unit
        self.price = 2.0 * math.log(values.size / _FALSE_ALARM)
        resolution = _RELATIVE_RESOLUTION * median_of(np.abs(values)) / self.unit
        # Noiseless series keep a sigma of a billionth of their range, to divide by.
        self.least_variance = max(resolution, 1e-9) ** 2
        self.noise = Noise(0.0, 0.0, 0.0)
        self._sums = np.concatenate([[0.0], np.cumsum(self.clipped)])
        self._squares = np.concatenate([[0.0], np.cumsum(np.square(self.clipped))])
        self._judged: dict[tuple[int, int, int], tuple[float, float]] = {}

    def find(self) -> list[int]:
        """Confirmed changes, as positions among the finite values."""
        changes = self._partition()
        self.noise = estimate_noise(self.clipped, changes)
        if self.noise.variance <= self.least_variance:
            self.noise = Noise(0.0, 0.0, 0.0)  # the rounding of levels looks correlated, and is no noise
        kept = self._prune(self._drop_forced(changes))
        return self._move(kept) if self.noise.correlation > _MOVE_CORRELATION else kept

    def level(self, start: int, stop: int) -> float:
        return median_of(self.values[start:stop])

    def judge(self, start: int, at: int, stop: int) -> tuple[float, float]:
        """Effect in sigmas and corrected p-value of a change between two stretches."""
        if (start, at, stop) not in self._judged:
            distance = abs(self.level(at, stop) - self.level(start, at)) / self.unit
            near = slice(max(start, at - _RANKED), at), slice(at, min(stop, at + _RANKED))
            p = mann_whitney(self.values[near[0]], self.values[near[1]]).p_value
            # Few points, however correlated, are not worth less than one.
            inflation = min(self.noise.inflation, float(min(at - start, stop - at)))
            effect = distance / math.sqrt(self._variance(start, at, stop))
            self._judged[start, at, stop] = effect, _correct(p, inflation)
        return self._judged[start, at, stop]

    def tail(self, start: int) -> int | None:
        """Start of a provisional new level at the end of the stretch from `start` on, None without one.

        All of the last 2 or 3 points, or all but one of the last 4 to 7, lie over 2.5 sigmas to one side.
        """
        n = self.values.size
        for size in _TAIL:
            at = n - size
            if at - start < 2 * MIN_SIZE:
                continue
            sigma = math.sqrt(self._variance(start, at, at)) * self.unit
            distances = self.values[at:] - self.level(start, at)
            needed = size if size < MIN_SIZE else size - 1
            side = math.copysign(1.0, float(distances[0]))
            far = side * distances > _TAIL_SIGMAS * sigma
            if not far[0] or int(far.sum()) < needed:
                continue
            if self.judge(start, at, n)[1] <= self.alpha:
                return at
        return None

    def _partition(self) -> list[int]:
        """The partition of least description cost, over penalties that fall to a quarter each until it rises.

        Changes not yet found inflate the variance that finding them is held against; falling from it leads past.
        """
        long_run = max(starting_variance(self.clipped), self.least_variance)
        best: list[int] = []
        least, widest, tightest = math.inf, 0.0, 0.0
        for step in range(_FALLS):
            found = partition(self.clipped, self.price * long_run, MIN_SIZE)
            if step == 0 or found != best:
                cost = description_cost(self.clipped, found, self.price)
                if step > 0 and cost >= least:
                    break
                best, least, widest = found, cost, long_run if found else math.inf
            tightest = long_run
            long_run /= _FALL
        long_run = max(estimate_noise(self.clipped, best).long_run_variance, self.least_variance)
        if tightest <= long_run <= widest:
            # What is optimal at two penalties is so at every one between.
            return best
        found = partition(self.clipped, self.price * long_run, MIN_SIZE)
        return found if description_cost(self.clipped, found, self.price) <= least else best

    def _drop_forced(self, changes: list[int]) -> list[int]:
        """Without a first or last change that would rather leave fewer than 4 points at its end of the series.

        The partition puts it four points from the end, for want of a nearer place; at the end of the series such
        points may be a provisional change.
        """
        kept = list(changes)
        if kept and kept[-1] > self.values.size - 2 * MIN_SIZE:
            start = kept[-2] if len(kept) > 1 else 0
            if self.values.size - _best_end(self.clipped[start:]) - start < MIN_SIZE:
                kept.pop()
        if kept and kept[0] < 2 * MIN_SIZE:
            stop = kept[1] if len(kept) > 1 else self.values.size
            if stop - _best_end(self.clipped[:stop][::-1]) < MIN_SIZE:
                kept.pop(0)
        return kept

    def _prune(self, changes: Sequence[int]) -> list[int]:
        """The changes that hold against their neighbours, after taking away the weakest one at a time."""
        kept = list(changes)
        known: dict[tuple[int, int, int], float] = {}
        while kept:
            bounds = [0, *kept, self.values.size]
            places = list(zip(bounds, kept, bounds[2:], strict=False))
            for place in places:
                if place not in known:
                    known[place] = self._strength(*place)
            weakest = min(range(len(kept)), key=lambda i: known[places[i]])
            if known[places[weakest]] >= 1.0:
                break
            del kept[weakest]
        return kept

    def _strength(self, start: int, at: int, stop: int) -> float:
        """How well a change holds: the least of gain, effect and evidence, each as a multiple of what it needs."""
        left, right = at - start, stop - at
        shift = self._mean(at, stop) - self._mean(start, at)
        variance = self._variance(start, at, stop)
        gain = left * right / (left + right) * shift * shift / (self.price * variance * self.noise.inflation)
        effect, p = self.judge(start, at, stop)
        evidence = math.log(max(p, _LEAST_P)) / math.log(self.alpha) if self.alpha < 1.0 else 1.0
        return min(gain, effect / self.min_effect if self.min_effect > 0.0 else math.inf, evidence)

    def _variance(self, start: int, at: int, stop: int) -> float:
        """Variance of the clipped values around the means of one or two stretches, leaning on the whole series'."""
        squares = float(self._squares[stop] - self._squares[start])
        points = stop - start
        for first, last in ((start, at), (at, stop)):
            if last > first:
                squares -= self._mean(first, last) ** 2 * (last - first)
                points -= 1
        pooled = (max(squares, 0.0) + _PRIOR_POINTS * self.noise.variance) / (points + _PRIOR_POINTS)
        return max(pooled, self.least_variance)

    def _mean(self, start: int, stop: int) -> float:
        return float(self._sums[stop] - self._sums[start]) / (stop - start)

    def _move(self, changes: list[int]) -> list[int]:
        """The changes, each moved by up to 10 points to where the correlated noise around it is least surprising."""
        bounds = [0, *changes, self.values.size]
        moved = []
        for start, at, stop in zip(bounds, changes, bounds[2:], strict=False):
            before, after = self._mean(start, at), self._mean(at, stop)
            first, last = max(start + MIN_SIZE, at - _MOVE), min(stop - MIN_SIZE, at + _MOVE)
            places = np.arange(first, last + 1)
            points = np.arange(first - 1, min(last + 2, stop))
            levels = np.where(points < places[:, None], before, after)
            left = self.clipped[points] - levels
            surprises = left[:, 1:] - self.noise.correlation * left[:, :-1]
            moved.append(int(places[np.square(surprises).sum(axis=1).argmin()]))
        # Neighbours that moved towards each other must still leave a regime between them.
        ends = [0, *moved, self.values.size]
        apart = all(b - a >= MIN_SIZE for a, b in pairwise(ends))
        return moved if apart else changes


def _best_end(values: Array) -> int:
    """Where to split the values in two, at least four before it, for the least squared distances from two means."""
    sizes = np.arange(1, values.size, dtype=np.float64)
    sums = np.cumsum(values - values.mean())[:-1]
    saved = sums * sums / (sizes * (values.size - sizes))
    return int(saved[MIN_SIZE - 1 :].argmax()) + MIN_SIZE


def _correct(p: float, inflation: float) -> float:
    """The p-value had the same evidence come from 1 / inflation as many points."""
    return p if inflation <= 1.0 else two_sided_p(normal_quantile(max(p, _LEAST_P) / 2.0) / math.sqrt(inflation))


def _report_short(values: Array, present: Indices, shrink: float) -> list[Change]:
    """The changes of a short series with their sizes, placed among all the values given."""
    cuts = find_cuts(values)
    bounds = [0, *(cut.at for cut in cuts), values.size]
    report = []
    for cut, start, stop in zip(cuts, bounds, bounds[2:], strict=False):
        before, after = (median_of(values[a:b]) for a, b in ((start, cut.at), (cut.at, stop)))
        effect = abs(after - before) / cut.sigma
        report.append(
            _sized(int(present[cut.at]), before / shrink, after / shrink, (effect, cut.p_value, cut.confirmed))
        )
    return report


def _report(series: _Series, present: Indices, shrink: float) -> list[Change]:
    """The changes with their sizes, placed among all the values given."""
    changes = series.find()
    tail = series.tail(changes[-1] if changes else 0)
    places = changes if tail is None else [*changes, tail]
    bounds = [0, *places, series.values.size]
    report = []
    for start, at, stop in zip(bounds, places, bounds[2:], strict=False):
        before, after = series.level(start, at) / shrink, series.level(at, stop) / shrink
        effect, p = series.judge(start, at, stop)
        report.append(_sized(int(present[at]), before, after, (effect, p, at != tail)))
    return report


def _sized(index: int, before: float, after: float, judged: tuple[float, float, bool]) -> Change:
    absolute = after - before
    relative = absolute / abs(before) if before != 0.0 else None
    return Change(index, before, after, absolute, relative, *judged)
