"""Means of scores over benchmarks or executions, and their standard errors.

Arrays of scores have a column per dimension, in the order of ``DIMENSIONS``. Scores and errors are in 0..1; NaN is
unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agentdyno.findings.figures.dimensions import DIMENSIONS

Numbers: TypeAlias = npt.NDArray[np.float64]
Owners: TypeAlias = npt.NDArray[np.int64]

Z = 1.959963984540054
"""Standard errors to either end of a 95 % interval."""
_ACCURACY, _RELIABILITY = DIMENSIONS.index("accuracy"), DIMENSIONS.index("reliability")


def floats(rows: Sequence[Sequence[float | None]], width: int) -> Numbers:
    """Rows of ``width`` numbers as an array; ``None`` and what is not finite is NaN."""
    array: Numbers = np.array(rows, dtype=np.float64).reshape(len(rows), width)
    array[~np.isfinite(array)] = np.nan
    return array


def owners_of(sizes: Sequence[int]) -> Owners:
    """The number of each row's owner, for owners that have so many rows one after the other."""
    return np.repeat(np.arange(len(sizes), dtype=np.int64), np.array(sizes, dtype=np.int64))


def sums(owners: Owners, size: int, columns: Numbers) -> Numbers:
    """The sum of every column over the rows of each of ``size`` owners."""
    found = [np.bincount(owners, column, minlength=size) for column in columns.T]
    return np.stack(found, axis=1).astype(np.float64)  # counts, where there is no row at all


def pooled(owners: Owners, size: int, values: Numbers, errors: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """For each of ``size`` owners the mean of its rows by column, each weighing its count, and the mean's error.

    What is unknown in a row is left out of the mean. The rows are taken as independent; one whose error is unknown
    makes that of the mean unknown.
    """
    used = ~np.isnan(values) & (counts > 0)
    weights = np.where(used, counts, 0.0)
    totals = sums(owners, size, weights)
    totals[totals <= 0] = np.nan
    means = sums(owners, size, weights * np.where(used, values, 0.0)) / totals
    squares = sums(owners, size, (weights * np.where(used, errors, 0.0)) ** 2)
    return means, np.sqrt(squares) / totals


def case_errors(scores: Numbers, errors: Numbers, variances: Numbers, cases: Numbers) -> Numbers:
    """The errors of rows of five scores, with what is known of the ``cases`` behind each row.

    Where accuracy has none it follows from the variance of the case scores. Accuracy and reliability are shares of
    cases, for which all or none is not certain.
    """
    filled = errors.copy()
    spread = np.sqrt(np.maximum(variances, 0.0) / np.where(cases > 1, cases, np.nan))
    own = np.where(np.isnan(errors[:, _ACCURACY]), spread, errors[:, _ACCURACY])
    filled[:, _ACCURACY] = share_errors(scores[:, _ACCURACY], own, cases)
    lasting = errors[:, _RELIABILITY]
    floored = share_errors(scores[:, _RELIABILITY], lasting, cases)
    filled[:, _RELIABILITY] = np.where(np.isnan(lasting), np.nan, floored)
    return filled


def share_errors(shares: Numbers, errors: Numbers, cases: Numbers) -> Numbers:
    """The standard errors of shares of ``cases``, where all or none is not taken as certain.

    A share of exactly 0 or 1 shows no spread however few cases it rests on. Its error is at least the one whose 95 %
    interval ends where Wilson's does; without a count of cases an error of 0 is unknown.
    """
    extreme = (shares == 0.0) | (shares == 1.0)
    counted = np.where(cases > 0, cases, np.nan)
    least = np.fmax(Z / (counted + Z * Z), np.where(errors > 0, errors, np.nan))
    return np.where(extreme, least, errors)
