"""Single points far from their surroundings, brought back: what a level shift is sought in."""

from __future__ import annotations

import numpy as np

from ..samples import Array

_HALF_WINDOW = 8
"""A window of 17 follows a new level after 9 points and is not carried away by 8 spikes in a row."""
_REACH = 3.0
"""How many robust sigmas a point may lie from the running median."""
_NORMAL_QUANTILES = ((0.5, 0.67449), (0.75, 1.15035), (0.9, 1.64485), (0.95, 1.95996))


def running_median(values: Array) -> Array:
    """Median of the 17 points around each one; the first and last windows serve the ends.

    A series shorter than that gets the widest odd window that fits.
    """
    half = min(_HALF_WINDOW, (values.size - 1) // 2)
    windows = np.lib.stride_tricks.sliding_window_view(values, 2 * half + 1)
    medians = np.median(windows, axis=1)
    missing = values.size - medians.size - half
    return np.concatenate([np.full(half, medians[0]), medians, np.full(missing, medians[-1])])


def robust_sigma(deviations: Array) -> float:
    """Sigma of deviations from zero: the scaled median of their sizes, in their unit.

    When over half are zero (rounded values) the next quantiles up to the 95 % one serve; 0.0 when all those are.
    """
    sizes = np.abs(deviations)
    quantiles = np.quantile(sizes, [q for q, _ in _NORMAL_QUANTILES])
    for found, (_, normal) in zip(quantiles, _NORMAL_QUANTILES, strict=True):
        if found > 0.0:
            return float(found) / normal
    return 0.0


def clip_spikes(values: Array) -> Array:
    """The values, none further than three robust sigmas from its running median."""
    centre = running_median(values)
    reach = _REACH * robust_sigma(values - centre)
    return np.clip(values, centre - reach, centre + reach)
