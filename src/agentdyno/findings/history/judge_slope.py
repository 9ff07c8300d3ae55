"""Whether a series keeps rising or falling since its last change of level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agentdyno.findings.history.model import HistoryChange
from agentdyno.stats import Trend, theil_sen
from agentdyno.stats.distributions import normal_quantile, two_sided_p
from agentdyno.stats.samples import Array, medians_of
from agentdyno.stats.series.long_run_variance import clip_spikes, description_cost, estimate_noise
from agentdyno.stats.series.short import FEWEST_POINTS, SHORT
from agentdyno.stats.series.slope import slope_p_value

ALPHA = 0.01
SLOPE_ALPHA = 0.0001
"""What counts in the t test of a slope: less, as correlation that a series does not show could fool it."""
LEFT_OUT_ALPHA = 1e-6
"""The same where one point was left out of a short series to reach it."""
_BLOCKS = 60
_LEAST_P = 1e-300


@dataclass(frozen=True, slots=True)
class Slope:
    """A steady slope from the point at ``start`` on, whose line goes from ``before`` to ``after``."""

    start: int
    before: float
    after: float
    p_value: float


def find_slope(values: Array, changes: Sequence[HistoryChange]) -> Slope | None:
    """The slope (Theil–Sen over the medians of at most 60 blocks) since the last step or incomparable change.

    Of values above zero it may be a growth by a share of themselves: whichever line lies nearer tells its ends.
    Where a line describes the whole stretch better than the steps that were found in it, the steps are taken for what
    a slope looks like in noise, and the slope for all of it.
    """
    start = _stretch(values, changes)
    values = values[start:]
    if values.size < FEWEST_POINTS:
        return None
    blocks, _ = in_blocks(values)
    p_value = _short_slope(values) if values.size < SHORT else _long_slope(blocks)
    trend = None if p_value is None else theil_sen(blocks)
    if p_value is None or trend is None or trend.slope == 0.0:
        return None
    line = _nearest_line(blocks, trend)
    return Slope(start, float(line[0]), float(line[-1]), p_value)


def _nearest_line(values: Array, trend: Trend) -> Array:
    places = np.arange(values.size, dtype=np.float64)
    straight: Array = trend.intercept + trend.slope * places
    growth = theil_sen(np.log(values)) if float(values.min()) > 0.0 else None
    if growth is None:
        return straight
    grown: Array = np.exp(growth.intercept + growth.slope * places)
    return grown if float(np.abs(values - grown).sum()) < float(np.abs(values - straight).sum()) else straight


def in_blocks(values: Array, *, middle: bool = True) -> tuple[Array, int]:
    """Medians (or means) of at most 60 blocks of equal size, and that size; the oldest points that fill no block are
    left out."""
    size = math.ceil(values.size / _BLOCKS)
    table = values[values.size % size :].reshape(-1, size)
    return (medians_of(table) if middle else table.mean(axis=1)), size


def corrected(p_value: float, noise: Array) -> float:
    """The p-value had the same evidence come from as many independent points as the noise is worth."""
    inflation = estimate_noise(noise, []).inflation
    return two_sided_p(normal_quantile(max(p_value, _LEAST_P) / 2.0) / math.sqrt(inflation))


def _short_slope(values: Array) -> float | None:
    """The p-value of a slope that counts, ``None`` of one that does not; one point far off may be left out."""
    p_value = slope_p_value(values)
    if p_value < SLOPE_ALPHA:
        return p_value
    p_value = slope_p_value(np.delete(values, _furthest_from_line(values)))
    return p_value if p_value < LEFT_OUT_ALPHA else None


def _furthest_from_line(values: Array) -> int:
    times = np.arange(values.size) - (values.size - 1) / 2.0
    centred = values - values.mean()
    return int(np.abs(centred - times * ((times * centred).sum() / np.square(times).sum())).argmax())


def _long_slope(blocks: Array) -> float | None:
    """The same by the ranks, which spikes do not move, or by the t test, which tells how far it stands out."""
    trend = theil_sen(blocks)
    if trend is None:
        return None
    line = trend.intercept + trend.slope * np.arange(blocks.size)
    p_value = corrected(trend.p_value, blocks - line)
    if p_value < ALPHA:
        return p_value
    p_value = slope_p_value(blocks)
    return p_value if p_value < SLOPE_ALPHA else None


def _stretch(values: Array, changes: Sequence[HistoryChange]) -> int:
    """Where the stretch begins in which a slope is sought: the earliest step after which a line describes the series
    better than the further steps do, or after which there is none."""
    apart = [change.index for change in changes if not change.comparable]
    origin = apart[-1] if apart else 0
    steps = [change for change in changes if change.index > origin]
    for start in [origin, *(change.index for change in steps)]:
        inner = [change for change in steps if change.index > start]
        alike = len({change.after > change.before for change in inner}) <= 1
        if not inner or (alike and _line_is_better(values[start:], [change.index - start for change in inner])):
            return start
    return origin


def _line_is_better(values: Array, steps: Sequence[int]) -> bool:
    if values.size < SHORT:
        return False  # steps of a short series hold against a line already
    clipped = clip_spikes(values)
    blocks, size = in_blocks(clipped)
    trend = theil_sen(blocks)
    if trend is None:
        return False
    line = trend.slope / size * np.arange(clipped.size)
    # A line needs one number more than a level does, as a step.
    price = 2.0 * math.log(clipped.size / ALPHA)
    return description_cost(clipped - line, [], price) + price < description_cost(clipped, steps, price)
