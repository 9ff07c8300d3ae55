"""How throughput grows with concurrency: Amdahl's law and the universal scalability law, fitted by least squares.

X(N) = single * N / (1 + contention * (N - 1) + coherency * N * (N - 1)); Amdahl's law has no coherency. The squared
logarithms of measured over fitted throughput are made least, so that every level counts by its relative error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .distributions import t_quantile
from .intervals import Interval
from .samples import Array, Values, require_inside_unit, to_array

_ROUNDS = 100
_CLOSE = 1e-12
_LEAST_STEP = 2.0**-20


@dataclass(frozen=True, slots=True)
class ScalingFit:
    """`single` is the throughput at one, in the unit of the values; `contention` (the serial share) and `coherency`
    are 0 or above. Intervals are from the delta method with Student's t, None where no point is left over to tell the
    noise; their low end is cut at 0. `peak` is the concurrency of most throughput, None where it never falls.
    `r_squared` is of the throughput itself, None where all values are equal.
    """

    single: float
    contention: float
    contention_interval: Interval | None
    coherency: float
    coherency_interval: Interval | None
    peak: float | None
    r_squared: float | None

    def throughput(self, concurrency: float) -> float:
        """What the law gives at a concurrency of 1 or more."""
        rise = concurrency - 1.0
        return self.single * concurrency / (1.0 + self.contention * rise + self.coherency * concurrency * rise)


def fit_amdahl(concurrency: Values, throughput: Values, confidence: float = 0.95) -> ScalingFit | None:
    """Amdahl's law through the points; None under 2 different levels of concurrency."""
    return _fit(concurrency, throughput, confidence, laws=1)


def fit_usl(concurrency: Values, throughput: Values, confidence: float = 0.95) -> ScalingFit | None:
    """The universal scalability law through the points; None under 3 different levels of concurrency."""
    return _fit(concurrency, throughput, confidence, laws=2)


def _fit(concurrency: Values, throughput: Values, confidence: float, laws: int) -> ScalingFit | None:
    """`laws` counts the terms that slow the growth: 1 is contention, 2 is coherency too."""
    n, x = to_array(concurrency, "concurrency"), to_array(throughput, "throughput")
    require_inside_unit(confidence, "confidence")
    if n.size != x.size:
        raise ValueError(f"concurrency and throughput must pair up, got {n.size} and {x.size}")
    if n.min() < 1.0 or x.min() <= 0.0:
        raise ValueError("concurrency must be 1 or more and throughput above zero")
    if np.unique(n).size < laws + 1:
        return None
    slowing = np.stack([n - 1.0, n * (n - 1.0)][:laws], axis=1)
    target = np.log(x / n)
    best = min((_solve(slowing, target, free) for free in _choices(laws)), key=lambda found: found[1])
    level, terms = float(best[0][0]), best[0][1:]
    intervals = _intervals(slowing, target, best[0], confidence)
    contention, coherency = float(terms[0]), float(terms[1]) if laws == 2 else 0.0
    spread = float(((x - x.mean()) ** 2).sum())
    fitted = np.exp(level) * n / (1.0 + slowing @ terms)
    return ScalingFit(
        math.exp(level),
        contention,
        intervals[0],
        coherency,
        intervals[1] if laws == 2 else None,
        _peak(contention, coherency),
        1.0 - float(((x - fitted) ** 2).sum()) / spread if spread > 0.0 else None,
    )


def _choices(laws: int) -> list[list[int]]:
    """Which terms are free; the others are held at zero, the least that they can be."""
    return [[], [0]] if laws == 1 else [[], [0], [1], [0, 1]]


def _solve(slowing: Array, target: Array, free: list[int]) -> tuple[Array, float]:
    """Level and terms with the least sum of squares (infinite where a free term comes out below zero)."""
    point = _start(slowing, target, free)
    cost = _cost(slowing, target, point)
    for _ in range(_ROUNDS):
        jacobian, left = _derivatives(slowing, target, point)
        columns = [0, *(term + 1 for term in free)]
        step = np.zeros_like(point)
        step[columns] = np.linalg.lstsq(jacobian[:, columns], left, rcond=None)[0]
        share = 1.0
        while share > _LEAST_STEP and not (trial := _cost(slowing, target, point + share * step)) < cost:
            share /= 2.0
        if share <= _LEAST_STEP:
            break
        point, saved, cost = point + share * step, cost - trial, trial
        if saved <= _CLOSE * cost:
            break
    return (point, cost) if not free or point[1:].min() >= 0.0 else (point, math.inf)


def _start(slowing: Array, target: Array, free: list[int]) -> Array:
    """The law is linear in N / X: 1 / single, contention / single, coherency / single."""
    inverse = np.exp(-target)
    features = np.column_stack([np.ones(target.size), slowing[:, free]])
    found = np.linalg.lstsq(features / inverse[:, None], np.ones(target.size), rcond=None)[0]
    point = np.zeros(slowing.shape[1] + 1)
    base = float(found[0]) if found[0] > 0.0 else float(inverse.min())
    point[0] = -math.log(base)
    for place, term in enumerate(free):
        point[term + 1] = max(float(found[place + 1]) / base, 0.0)
    return point


def _cost(slowing: Array, target: Array, point: Array) -> float:
    bottom = 1.0 + slowing @ point[1:]
    if bottom.min() <= 0.0:
        return math.inf
    return float(((target - point[0] + np.log(bottom)) ** 2).sum())


def _derivatives(slowing: Array, target: Array, point: Array) -> tuple[Array, Array]:
    """The slopes of the logarithm of X / N in level and terms, and what is left of the target."""
    bottom = 1.0 + slowing @ point[1:]
    jacobian: npt.NDArray[np.float64] = np.column_stack([np.ones(target.size), -slowing / bottom[:, None]])
    return jacobian, target - point[0] + np.log(bottom)


def _intervals(slowing: Array, target: Array, point: Array, confidence: float) -> list[Interval | None]:
    jacobian, left = _derivatives(slowing, target, point)
    spare = target.size - point.size
    if spare < 1:
        return [None] * (point.size - 1)
    # The pseudo-inverse leaves a direction that the points cannot tell apart out of the variance.
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * float((left**2).sum()) / spare
    reach = t_quantile(0.5 + confidence / 2.0, spare)
    intervals: list[Interval | None] = []
    for term in range(1, point.size):
        half = reach * math.sqrt(max(float(covariance[term, term]), 0.0))
        value = float(point[term])
        intervals.append(Interval(max(value - half, 0.0), value + half, confidence))
    return intervals


def _peak(contention: float, coherency: float) -> float | None:
    if coherency <= 0.0:
        return None
    return max(1.0, math.sqrt(max(1.0 - contention, 0.0) / coherency))
