"""Where a series stops warming up."""

from __future__ import annotations

import numpy as np

from ..outliers import find_fences
from ..samples import Array, Values, require_inside_unit, to_array
from ..significance import mann_whitney

_WINDOW = 5
_FEWEST_TAIL = 5
_ALPHA = 0.01


def warmup_end(values: Values, max_fraction: float = 0.5) -> int:
    """Index of the first value of the steady state: 0 when there is no warm-up, at most max_fraction * n.

    What follows the first `max_fraction` of the series is taken as steady. From the start on, values count
    as warm-up while the next five differ from it (Mann-Whitney, p < 0.01), or the value alone lies beyond
    its severe outlier fence (its mild one, once warm-up has begun). At the maximum the series may not have
    settled at all. Too short a series to tell (under 5 steady values) has no warm-up.
    """
    array = to_array(values)
    limit = int(array.size * require_inside_unit(max_fraction, "max_fraction"))
    tail_size = array.size - limit
    if tail_size < _FEWEST_TAIL:
        return 0
    # Times and sizes are skewed to the right; on their logarithms the fences treat both sides alike.
    series = np.log(array) if (array > 0.0).all() else array
    tail = series[limit:]
    # Quartiles of a few values are uncertain, so a short tail gets wider fences.
    caution = 1.0 + 5.0 / tail_size
    severe, mild = _steady_band(tail, 3.0 * caution), _steady_band(tail, 1.5 * caution)
    for i in range(limit):
        low, high = severe if i == 0 else mild
        if low <= series[i] <= high and not _differs(series, i, limit):
            return i
    return limit


def _steady_band(tail: Array, reach: float) -> tuple[float, float]:
    """Fences of the steady values; their whole range when over half are equal, as fences then collapse."""
    low, high = find_fences(tail, reach)
    return (low, high) if low < high else (float(tail.min()), float(tail.max()))


def _differs(series: Array, start: int, limit: int) -> bool:
    """Whether the window from `start` differs from the steady values that it does not itself hold."""
    end = start + _WINDOW
    return mann_whitney(series[start:end], series[max(limit, end) :]).p_value < _ALPHA
