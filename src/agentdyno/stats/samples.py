"""What every statistic here accepts, and the checks that refuse meaningless input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = Sequence[float] | Array


def to_array(values: Values, name: str = "values", *, at_least: int = 1) -> Array:
    """A one-dimensional float array of the values; ValueError when too few, NaN or infinite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got {array.ndim} dimensions")
    if array.size < at_least:
        raise ValueError(f"{name} needs at least {at_least} value(s), got {array.size}")
    if not np.isfinite(array).all():
        position = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"{name}[{position}] is {array[position]}: NaN and infinity are not measurements")
    return array


def to_logs(values: Values, name: str = "values", *, at_least: int = 1) -> Array:
    """Natural logarithms of the values; ValueError unless every one is above zero."""
    array = to_array(values, name, at_least=at_least)
    if (array <= 0).any():
        position = int(np.flatnonzero(array <= 0)[0])
        raise ValueError(f"{name}[{position}] is {array[position]}: a ratio needs values above zero")
    return np.log(array)


def median_of(values: Array) -> float:
    """The median, NaN where one is among the values: to the last bit numpy's own.

    That one loads masked arrays (20 ms), and takes five times as long over a few values.
    """
    return float(medians_of(values))


def medians_of(values: Array) -> Array:
    """``median_of`` along the last axis."""
    ordered = np.sort(values, axis=-1)
    half = ordered.shape[-1] // 2
    upper = ordered[..., half]
    found = upper if ordered.shape[-1] % 2 else (ordered[..., half - 1] + upper) / 2.0
    last = ordered[..., -1]  # a NaN is sorted to the end
    return np.asarray(np.where(np.isnan(last), last, found))


def quantiles_of(values: Array, levels: Sequence[float]) -> list[float]:
    """Quantiles of finite values between the two nearest of them, to the last bit those of ``numpy.quantile``."""
    ordered = np.sort(values)
    found = []
    for level in levels:
        place = (ordered.size - 1) * level
        below = min(int(place), ordered.size - 1)
        low, high = float(ordered[below]), float(ordered[min(below + 1, ordered.size - 1)])
        part, gap = place - below, high - low
        found.append(low + gap * part if part < 0.5 else high - gap * (1.0 - part))
    return found


def require_inside_unit(value: float, name: str) -> float:
    """The value, when it lies strictly between 0 and 1; ValueError otherwise."""
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}")
    return value


def require_count(value: int, name: str, *, at_least: int = 0) -> int:
    """The value, when it is a whole number of at least `at_least`; ValueError otherwise."""
    if int(value) != value or value < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}, got {value}")
    return int(value)


def require_finite(value: float, name: str) -> float:
    """The value, when it is finite; ValueError otherwise."""
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return value
