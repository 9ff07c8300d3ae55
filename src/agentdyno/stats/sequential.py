"""When to stop sampling."""

from __future__ import annotations

import math

from .describe import quantile
from .intervals import median_interval
from .samples import Values


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
