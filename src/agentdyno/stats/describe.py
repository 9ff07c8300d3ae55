"""What a sample looks like: its centre, spread and quantiles, in the unit of its values."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from .samples import Values, median_of, require_count, to_array


@dataclass(frozen=True, slots=True)
class Description:
    """Summary of one sample. Everything but `n` and `cv` is in the unit of the values.

    `std` is the sample standard deviation (ddof=1; 0.0 for one value), `mad` the unscaled median absolute
    deviation, `cv` is std / mean (None when the mean is zero).
    """

    n: int
    mean: float
    median: float
    std: float
    mad: float
    cv: float | None
    minimum: float
    maximum: float
    p5: float
    p25: float
    p75: float
    p95: float
    p99: float


def describe(values: Values) -> Description:
    """Summarise at least one finite value."""
    array = to_array(values)
    p5, p25, median, p75, p95, p99 = (float(q) for q in np.quantile(array, [0.05, 0.25, 0.5, 0.75, 0.95, 0.99]))
    minimum, maximum = float(array.min()), float(array.max())
    # Rounding can put the mean of equal values outside them, and so invent a spread.
    mean = min(max(float(array.mean()), minimum), maximum)
    std = float(array.std(ddof=1)) if minimum < maximum else 0.0
    return Description(
        n=int(array.size),
        mean=mean,
        median=median,
        std=std,
        mad=median_absolute_deviation(array),
        cv=std / mean if mean != 0.0 else None,
        minimum=minimum,
        maximum=maximum,
        p5=p5,
        p25=p25,
        p75=p75,
        p95=p95,
        p99=p99,
    )


def quantile(values: Values, q: float) -> float:
    """The q-quantile (0 <= q <= 1), interpolated linearly between the two nearest values."""
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"q must lie between 0 and 1, got {q}")
    return float(np.quantile(to_array(values), q))


def median_absolute_deviation(values: Values) -> float:
    """Median distance from the median, unscaled, in the unit of the values."""
    array = to_array(values)
    return median_of(np.abs(array - median_of(array)))


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Chance that at least one of k tries succeeds, given c successes in n tries; None when n < k."""
    n, c, k = _check(n, c, k)
    return None if n < k else (comb(n, k) - comb(n - c, k)) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Chance that all of k tries succeed, given c successes in n tries; None when n < k."""
    n, c, k = _check(n, c, k)
    return None if n < k else comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> tuple[int, int, int]:
    n, c, k = require_count(n, "n"), require_count(c, "c"), require_count(k, "k", at_least=1)
    if c > n:
        raise ValueError(f"c must not exceed n, got {c} successes in {n} tries")
    return n, c, k
