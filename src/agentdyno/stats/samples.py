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


def thin_to_quantiles(values: Array, size: int) -> Array:
    """At most `size` values that stand for the sample: its evenly spaced (Hazen) quantiles, ascending."""
    ordered = np.sort(values)
    if ordered.size <= size:
        return ordered
    # np.quantile partitions once per quantile asked for, which takes minutes at this many.
    positions = (np.arange(size) + 0.5) * (ordered.size / size) - 0.5
    return np.asarray(np.interp(positions, np.arange(ordered.size), ordered), dtype=np.float64)
