"""What a test and its inversion say, put into a row: p-value, interval, and the change that would be seen."""

from __future__ import annotations

import math
from dataclasses import replace

from agentdyno.findings.engine.judge import Measured, fewest_clusters
from agentdyno.stats import minimum_detectable_difference, wilson
from agentdyno.stats.inversion import Inversion

_NARROW = 1e-9
_MOST = math.log(1e6)
"""Ratios are told up to a millionfold."""


def with_inversion(found: Measured, tested: Inversion, error: float | None) -> Measured:
    """The row with its p-value and the interval of the same test; both are on the scale of the shift.

    ``error`` is the standard error of the shift: how many more cases would decide, and what these would show, follow
    from it.
    """
    row, shift = found.row, found.shift
    assert shift is not None
    low, high = tested.low, tested.high
    flat = not row.relative and row.unit == "ratio" and high - low <= _NARROW
    if flat:
        low, high = _unseen(shift, tested.p_value < row.level, row.clusters)
    row = replace(
        row, p_value=tested.p_value, method=tested.method, interval=_told(low, high, row.relative, row.unit)
    )
    if error is None:
        return replace(found, row=row, flat=flat)
    spread = error * math.sqrt(row.clusters)
    if flat and error <= _NARROW:
        spread = math.sqrt(wilson(0, row.clusters).high)
    least = None
    if row.clusters >= fewest_clusters():
        least = _visible(minimum_detectable_difference(spread, row.clusters, alpha=row.level), row.relative, row.unit)
    return replace(found, row=replace(row, detectable=least), spread=spread, flat=flat)


def told_ratio(low: float, high: float) -> tuple[float, float] | None:
    """Ends of a relative change from those of its logarithm; ``None`` where nothing bounds it."""
    return _told(low, high, True, "")


def visible_ratio(least: float) -> float | None:
    """The relative change of a logarithm; ``None`` where it is more than a hundredfold."""
    return _visible(least, True, "")


def _unseen(shift: float, significant: bool, clusters: int) -> tuple[float, float]:
    """No spread was seen, which is not proof that there is none: Wilson's bound of what has not been seen.

    A significant change keeps its own end towards zero where that bound would pass it.
    """
    reach = wilson(0, clusters).high
    low, high = shift - reach, shift + reach
    if significant and low <= 0.0 <= high:
        low, high = (shift, high) if shift > 0.0 else (low, shift)
    return low, high


def _told(low: float, high: float, relative: bool, unit: str) -> tuple[float, float] | None:
    if relative:
        if math.isinf(low) and math.isinf(high):
            return None
        return math.expm1(max(low, -_MOST)), math.expm1(min(high, _MOST))
    if unit == "ratio":
        return max(-1.0, low), min(1.0, high)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _visible(least: float, relative: bool, unit: str) -> float | None:
    if relative:
        return math.expm1(least) if least < math.log(100.0) else None
    return least if unit != "ratio" or least <= 1.0 else None
