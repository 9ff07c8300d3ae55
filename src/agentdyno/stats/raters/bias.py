"""What moves a rater's grade although the truth is the same: the length of an answer, who wrote it, its place.

With labels, the grade is regressed on the cause and the truth. Items without a label help as well: over all items
the grade's slope on the cause is the slope that is sought plus b times the truth's own slope on the cause, where b is
what the truth does to the grade (the formula for a variable that was left out, which holds for projections of any
shape). So there are two estimates of one slope, which err for different reasons, weighted by how far they err. The
error of the mixture counts that b and the truth's slope are both estimated, and that the weight was chosen for it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..distributions import t_cdf, t_quantile
from ..intervals import Interval
from ..samples import Array, Values, require_inside_unit, to_array

_FEWEST = 8
_ROUNDING = 1e-9
"""What a grade moves over the whole range of a cause by rounding alone, at most."""
_SPENT = 2  # the weight, and what the truth does to the grade


@dataclass(frozen=True, slots=True)
class BiasSlope:
    """By how much the grade rises with one unit of what may bias it. ``p_value`` is two-sided."""

    value: float
    interval: Interval
    p_value: float


@dataclass(frozen=True, slots=True)
class GradedItems:
    """Grades and what may bias them, item by item. ``clusters`` name items that are not independent: ``None`` where
    all are."""

    grades: Values
    cause: Values
    clusters: Sequence[Hashable] | None = None


@dataclass(frozen=True, slots=True)
class _Fit:
    """Least squares: ``coefficients``, and what each item adds to the error of each (HC3), one row an item."""

    coefficients: Array
    influence: npt.NDArray[np.float64] = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Slope:
    """A slope with what each item adds to its error. ``labels`` name items that are not independent; ``product`` is
    the variance of two estimates that are multiplied, beyond what the items add; ``spent`` counts quantities of the
    mixture that were estimated from ``labelled`` items as well."""

    value: float
    influence: Array = field(repr=False)
    labels: Sequence[Hashable] = field(repr=False)
    product: float = 0.0
    spent: int = 0
    labelled: int = 0


def slope_given(
    items: GradedItems, truth: Values | None = None, others: GradedItems | None = None, confidence: float = 0.95
) -> BiasSlope | None:
    """The slope of the grades on the cause where the ``truth`` is held equal; ``others`` are items without a truth.

    Standard errors hold whatever the spread is (HC3), and are summed by cluster where there are clusters. ``None``
    where the data cannot tell: fewer than 8 items, a cause that never changes, or one that the truth says already.
    """
    require_inside_unit(confidence, "confidence")
    y, x = to_array(items.grades, "grades"), to_array(items.cause, "cause")
    known = None if truth is None else to_array(truth, "truth")
    if y.size != x.size or (known is not None and known.size != y.size):
        raise ValueError("grades, cause and truth must pair up")
    if known is not None and known.min() == known.max():
        known = None  # nothing is left to hold equal
    direct = _fit(y, x) if known is None else _fit(y, x, known)
    if y.size < _FEWEST or direct is None:
        return None
    slope = _Slope(float(direct.coefficients[1]), direct.influence[:, 1], _names(items, ""))
    if known is not None and others is not None and len(others.grades) >= _FEWEST:
        slope = _combined(direct, _fit(known, x), items, others)
    return _tested(slope, y.size - direct.coefficients.size, confidence, _ROUNDING / float(np.ptp(x)))


def _combined(direct: _Fit, of_truth: _Fit | None, items: GradedItems, others: GradedItems) -> _Slope:
    """The direct slope and the one through the other items, weighted by how far each errs."""
    through = _fit(to_array(others.grades, "grades"), to_array(others.cause, "cause"))
    more = len(others.grades)
    labels = [*_names(items, "labelled "), *_names(others, "other ")]
    first = np.concatenate([direct.influence[:, 1], np.zeros(more)])
    if through is None or of_truth is None:
        return _Slope(float(direct.coefficients[1]), first, labels)
    b, slope = direct.coefficients[2], of_truth.coefficients[1]
    second_value = through.coefficients[1] - b * slope
    labelled_part = -b * of_truth.influence[:, 1] - slope * direct.influence[:, 2]
    second = np.concatenate([labelled_part, through.influence[:, 1]])
    sums = np.stack([_summed(part, labels) for part in (first, second)])
    names = _names(items, "labelled ")
    product = _variance(direct.influence[:, 2], names) * _variance(of_truth.influence[:, 1], names)
    own, other, shared = sums[0] @ sums[0], sums[1] @ sums[1] + product, sums[0] @ sums[1]
    spread = own + other - 2 * shared
    weight = min(1.0, max(0.0, (other - shared) / spread)) if spread > 0 else 1.0
    value = weight * direct.coefficients[1] + (1 - weight) * second_value
    mixed: Array = weight * first + (1 - weight) * second
    return _Slope(float(value), mixed, labels, (1 - weight) ** 2 * product, _SPENT, len(set(names)))


def _tested(slope: _Slope, degrees: int, confidence: float, rounding: float) -> BiasSlope | None:
    """What is below ``rounding`` is arithmetic's, and says nothing of the grades."""
    value, sums = slope.value, _summed(slope.influence, slope.labels)
    if sums.size < slope.influence.size:  # clusters: they are what varies
        degrees = min(degrees, sums.size - 2)
        sums = sums * math.sqrt(sums.size / max(1, sums.size - 1))
    if degrees < 1:
        return None
    variance = float(sums @ sums) + slope.product
    if slope.spent:
        variance *= slope.labelled / max(1, slope.labelled - slope.spent)
    error = math.sqrt(variance)
    if error <= rounding:
        value = value if abs(value) > rounding else 0.0
        return BiasSlope(value, Interval(value, value, confidence), 0.0 if value else 1.0)
    half = t_quantile(0.5 + confidence / 2.0, degrees) * error
    p_value = 2.0 * t_cdf(-abs(value) / error, degrees)
    return BiasSlope(value, Interval(value - half, value + half, confidence), p_value)


def _fit(y: Array, *columns: Array) -> _Fit | None:
    """``y`` on a constant and the columns; ``None`` where they do not tell their shares apart."""
    design = np.column_stack([np.ones_like(y), *columns])
    if np.linalg.matrix_rank(design) < design.shape[1] or y.size <= design.shape[1]:
        return None
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ (design.T @ y)
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    residuals = (y - design @ coefficients) / np.maximum(1.0 - leverage, 1e-9)
    return _Fit(coefficients, (design @ inverse) * residuals[:, None])


def _names(items: GradedItems, prefix: str) -> Sequence[Hashable]:
    if items.clusters is None:
        return [f"{prefix}{number}" for number in range(len(items.grades))]
    return items.clusters


def _variance(influence: Array, labels: Sequence[Hashable]) -> float:
    sums = _summed(influence, labels)
    return float(sums @ sums)


def _summed(values: Array, labels: Sequence[Hashable]) -> Array:
    codes: dict[Hashable, int] = {}
    membership = [codes.setdefault(label, len(codes)) for label in labels]
    return np.bincount(membership, weights=values, minlength=len(codes)).astype(np.float64)
