"""What moves a rater's grade although the truth is the same: the length of an answer, who wrote it, its place."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ..distributions import t_cdf, t_quantile
from ..intervals import Interval
from ..samples import Values, require_inside_unit, to_array
from .agreement import cluster_sums


@dataclass(frozen=True, slots=True)
class Slope:
    """By how much the grade rises with one unit of what may bias it. ``p_value`` is two-sided."""

    value: float
    interval: Interval
    p_value: float


def slope_given(
    grades: Values,
    cause: Values,
    truth: Values | None = None,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Slope | None:
    """The slope of ``grades`` on ``cause`` where the ``truth`` is held equal: least squares with standard errors that
    hold whatever the spread is (HC3), or summed by cluster. ``None`` where the data cannot tell: fewer than 8 items,
    a cause that never changes, or one that the truth says already.
    """
    require_inside_unit(confidence, "confidence")
    y, x = to_array(grades, "grades"), to_array(cause, "cause")
    columns = [np.ones_like(x), x] if truth is None else [np.ones_like(x), x, to_array(truth, "truth")]
    if truth is not None and columns[2].min() == columns[2].max():
        columns.pop()
    if len({column.size for column in (y, *columns)}) != 1:
        raise ValueError("grades, cause and truth must pair up")
    design = np.column_stack(columns)
    if y.size < 8 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    inverse = np.linalg.inv(design.T @ design)
    residuals = y - design @ (inverse @ (design.T @ y))
    row = inverse[1] @ design.T
    if clusters is None:
        leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
        sums, degrees = row * residuals / np.maximum(1.0 - leverage, 1e-9), y.size - design.shape[1]
    else:
        sums = cluster_sums(row * residuals, clusters)
        degrees = sums.size - 1
        if degrees < design.shape[1]:
            return None
        sums = sums * math.sqrt(sums.size / degrees)
    value = float(row @ y)
    error = math.sqrt(float((sums**2).sum()))
    if error <= 1e-15:
        certain = 0.0 if abs(value) > 1e-12 else 1.0
        return Slope(value, Interval(value, value, confidence), certain)
    half = t_quantile(0.5 + confidence / 2.0, degrees) * error
    return Slope(value, Interval(value - half, value + half, confidence), 2.0 * t_cdf(-abs(value) / error, degrees))
