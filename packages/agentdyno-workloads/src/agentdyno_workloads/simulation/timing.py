"""Times of many short things: mean, the 95th of a hundred, and how they grow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Growth:
    """time = factor · size ** exponent, by least squares of the logarithms; the 95 % interval is Student's, ``None``
    under three sizes."""

    exponent: float
    factor: float
    interval: tuple[float, float] | None


def growth(sizes: Sequence[float], times: Sequence[float]) -> Growth:
    """How a time grows with a size; at least two different sizes, all numbers above 0."""
    x, y = np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(times, dtype=float))
    spread = float(np.sum((x - x.mean()) ** 2))
    exponent = float(np.sum((x - x.mean()) * (y - y.mean()))) / spread
    level = float(y.mean() - exponent * x.mean())
    interval = None
    if x.size > 2:
        from scipy import stats

        left = y - level - exponent * x
        error = math.sqrt(float(np.sum(left**2)) / (x.size - 2) / spread)
        half = float(stats.t.ppf(0.975, x.size - 2)) * error
        interval = (exponent - half, exponent + half)
    return Growth(exponent, math.exp(level), interval)


def mean_and_p95(times: Sequence[float]) -> tuple[float, float]:
    values = np.asarray(times, dtype=float)
    return float(values.mean()), float(np.percentile(values, 95))
