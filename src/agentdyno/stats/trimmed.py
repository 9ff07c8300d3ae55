"""Trimmed means and their t tests (Yuen 1974): for few values, some of which may be far off.

Unlike a rank test of ten pairs, whose p-value cannot fall below 0.002, these can be as sure as the data are, so that
a correction for many comparisons does not leave every one of them undecided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .effects import Contrast, level_of
from .intervals import Interval
from .inversion import invert_law
from .samples import Array, Values, to_array

TRIM = 0.1
"""Share of the values that is left out at either end."""


@dataclass(frozen=True, slots=True)
class _Trimmed:
    mean: float
    squared_error: float
    kept: int


def trimmed_t(values: Values, confidence: float = 0.99) -> Contrast:
    """The trimmed mean of ``values`` (three at least), and whether it differs from zero."""
    part = _trim(to_array(values, at_least=3))
    return _test(part.mean, part.squared_error, part.kept - 1, confidence)


def trimmed_welch(x: Values, y: Values, confidence: float = 0.99) -> Contrast:
    """By how much the trimmed mean of ``y`` lies above that of ``x`` (three values each at least), and whether it
    does."""
    first, second = _trim(to_array(x, "x", at_least=3)), _trim(to_array(y, "y", at_least=3))
    total = first.squared_error + second.squared_error
    parts = sum(part.squared_error**2 / (part.kept - 1) for part in (first, second))
    df = total**2 / parts if parts > 0 else float(first.kept + second.kept - 2)
    return _test(second.mean - first.mean, total, df, confidence)


def _trim(values: Array) -> _Trimmed:
    ordered = np.sort(values)
    n = ordered.size
    cut = int(TRIM * n)
    kept = n - 2 * cut
    inner = ordered[cut : n - cut]
    winsorised = np.clip(ordered, inner[0], inner[-1])
    squared_error = (n - 1) * float(np.var(winsorised, ddof=1)) / (kept * (kept - 1))
    return _Trimmed(float(inner.mean()), squared_error, kept)


def _test(mean: float, squared_error: float, df: float, confidence: float) -> Contrast:
    found = invert_law(mean, math.sqrt(squared_error), alpha=level_of(confidence), degrees=df)
    return Contrast(mean, Interval(found.low, found.high, confidence), found.p_value)
