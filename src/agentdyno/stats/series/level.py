"""Where a series stands now: the level of its last regime, or the end of its slope, with an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..distributions import t_quantile
from ..intervals import Interval, median_interval
from ..samples import Array, Values, median_of, require_inside_unit, to_array
from .long_run_variance import residuals

_MEDIAN_VARIANCE = math.pi / 2.0
"""Of the median of many normal values, in parts of that of their mean; that of a few is smaller."""


def last_level(
    values: Values, changes: Sequence[int] = (), confidence: float = 0.95
) -> tuple[float, Interval | None]:
    """The median since the last of the changes (first places of new levels), and its interval.

    From 6 points on it is that between two of these values (exact for independent ones); fewer borrow the scatter
    around all levels of the series and get Student's t. ``None`` where nothing shows that scatter: fewer than two
    points more than levels, or values that are all equal, for a few equal values are no certainty.
    """
    array = to_array(values)
    require_inside_unit(confidence, "confidence")
    last = array[changes[-1] if changes else 0 :]
    middle = median_of(last)
    exact = median_interval(last, confidence)
    if exact is not None:
        return middle, exact
    freedom = array.size - len(changes) - 1
    squares = float(np.square(residuals(array, changes)).sum())
    if freedom < 2 or squares == 0.0:
        return middle, None
    variance = squares / freedom
    error = math.sqrt(variance / last.size * (_MEDIAN_VARIANCE if last.size > 2 else 1.0))
    reach = t_quantile(0.5 + confidence / 2.0, freedom) * error
    return middle, Interval(middle - reach, middle + reach, confidence)


def slope_end(values: Values, confidence: float = 0.95) -> tuple[float, Interval]:
    """The last value of a bent line (a parabola) through at least 6 evenly spaced values, and its t interval.

    Bent, because what grows by a share of itself leaves a straight line behind at its end.
    """
    array = to_array(values, at_least=6)
    require_inside_unit(confidence, "confidence")
    design = _polynomials(array.size)
    left = array - design @ (design.T @ array)
    end = design[-1]
    freedom = array.size - end.size
    value = float(end @ (design.T @ array))
    error = math.sqrt(float(np.square(left).sum()) / freedom * float(np.square(end).sum()))
    reach = t_quantile(0.5 + confidence / 2.0, freedom) * error
    return value, Interval(value - reach, value + reach, confidence)


def _polynomials(n: int) -> Array:
    """Level, slope and bend over n places, as columns at right angles and of length one."""
    times = np.linspace(-1.0, 1.0, n)
    return np.asarray(np.linalg.qr(np.column_stack([np.ones(n), times, np.square(times)]))[0])
