"""Outliers by Tukey's fences: beyond 1.5 interquartile ranges mild, beyond 3 severe."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from .samples import Array, Values, to_array

_MILD = 1.5
_SEVERE = 3.0


class OutlierClass(StrEnum):
    """Where a value lies relative to the fences of its sample."""

    NONE = "none"
    LOW_SEVERE = "low_severe"
    LOW_MILD = "low_mild"
    HIGH_MILD = "high_mild"
    HIGH_SEVERE = "high_severe"


@dataclass(frozen=True, slots=True)
class OutlierCount:
    """How many values of a sample are outliers, by class; a severe one is not counted as mild too."""

    low_severe: int
    low_mild: int
    high_mild: int
    high_severe: int

    @property
    def total(self) -> int:
        """All outliers together."""
        return self.low_severe + self.low_mild + self.high_mild + self.high_severe


def find_fences(values: Values, reach: float = _MILD) -> tuple[float, float]:
    """Tukey's lower and upper fence, `reach` interquartile ranges beyond the quartiles."""
    q1, q3 = np.quantile(to_array(values), [0.25, 0.75])
    return float(q1 - reach * (q3 - q1)), float(q3 + reach * (q3 - q1))


def classify(values: Values) -> list[OutlierClass]:
    """The class of every value, in order. A value on a fence is inside it."""
    array = to_array(values)
    (low_mild, high_mild), (low_severe, high_severe) = find_fences(array), find_fences(array, _SEVERE)

    def class_of(value: float) -> OutlierClass:
        if value < low_severe:
            return OutlierClass.LOW_SEVERE
        if value > high_severe:
            return OutlierClass.HIGH_SEVERE
        if value < low_mild:
            return OutlierClass.LOW_MILD
        if value > high_mild:
            return OutlierClass.HIGH_MILD
        return OutlierClass.NONE

    return [class_of(value) for value in array.tolist()]


def count_outliers(values: Values) -> OutlierCount:
    """Outliers by class, counted without telling the class of each value, as long runs have thousands."""
    array = to_array(values)
    (low_mild, high_mild), (low_severe, high_severe) = find_fences(array), find_fences(array, _SEVERE)
    low, lowest, high, highest = (
        int(np.count_nonzero(beyond))
        for beyond in (array < low_mild, array < low_severe, array > high_mild, array > high_severe)
    )
    return OutlierCount(low_severe=lowest, low_mild=low - lowest, high_mild=high - highest, high_severe=highest)


def without_outliers(values: Values) -> Array:
    """The values in order without the severe outliers; mild ones stay, being part of most distributions."""
    array = to_array(values)
    low, high = find_fences(array, _SEVERE)
    return array[(array >= low) & (array <= high)]
