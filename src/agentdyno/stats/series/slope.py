"""Whether a series keeps rising or falling, in noise whose neighbours may resemble each other.

Ranks cannot tell a slope that stands far out of the noise from one that hardly does: of 20 points in perfect order
they give the same p whatever the noise, and corrected for correlation that soon means nothing. The t test can.
"""

from __future__ import annotations

import math

import numpy as np

from ..distributions import t_cdf
from ..samples import Values, median_of, to_array

FEWEST_POINTS = 6
_LOST_CORRELATION = 4.0
"""What a fit of level, slope and bend takes from the correlation of n neighbours, times n; by simulation."""
_MOST_CORRELATION = 0.9
_RELATIVE_RESOLUTION = 1e-12
_LEAST_SCATTER = 1e-9
"""In parts of the range of the values: what a line without noise is taken to scatter."""


def slope_p_value(values: Values) -> float:
    """Two-sided p of the least-squares slope over evenly spaced points; 1.0 under 6 points or without a slope.

    The slope's error is widened for the correlation of neighbours, which is taken from what a *bent* line leaves:
    what grows by 5 % a step is no straight line, and around one it would seem correlated without any noise.
    """
    y = to_array(values, at_least=0)
    n = y.size
    spread = float(np.ptp(y)) if n else 0.0
    if n < FEWEST_POINTS or spread <= _RELATIVE_RESOLUTION * median_of(np.abs(y)):
        return 1.0
    y = (y - y.mean()) / spread
    line = np.arange(n) - (n - 1) / 2.0
    line /= math.sqrt(float(np.square(line).sum()))
    bend = np.square(line) - 1.0 / n
    bend -= float((bend * line).sum()) * line
    bend /= math.sqrt(float(np.square(bend).sum()))
    slope = float((y * line).sum())
    left = y - slope * line
    squares = float(np.square(left).sum())
    noise = left - float((left * bend).sum()) * bend
    total = float(np.square(noise).sum())
    correlation = float((noise[1:] * noise[:-1]).sum()) / total if total > 0.0 else 0.0
    correlation = min(max(correlation + _LOST_CORRELATION / n, 0.0), _MOST_CORRELATION)
    inflation = (1.0 + correlation) / (1.0 - correlation)
    t = abs(slope) / math.sqrt(max(squares / (n - 2), _LEAST_SCATTER**2) * inflation)
    return min(1.0, 2.0 * t_cdf(-t, n - 2))
