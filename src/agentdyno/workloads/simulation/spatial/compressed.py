"""Answers to many questions in two arrays, made without a loop over the questions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def ranges(starts: Ints, ends: Ints) -> Ints:
    """All numbers from each start up to its end, one after the other."""
    lengths = ends - starts
    total = int(lengths.sum())
    if not total:
        return np.zeros(0, dtype=np.int64)
    filled = lengths > 0
    starts, lengths = starts[filled], lengths[filled]
    steps = np.ones(total, dtype=np.int64)
    steps[0] = starts[0]
    # At the beginning of each stretch: from the last number of the one before to the first of this one.
    steps[np.cumsum(lengths)[:-1]] = starts[1:] - (starts[:-1] + lengths[:-1] - 1)
    return np.cumsum(steps)


def compress(owners: Ints, indices: Ints, questions: int, points: int) -> tuple[Ints, Ints]:
    """Pairs of question and point, in any order, as rows of ascending points."""
    keys = np.sort(owners * max(points, 1) + indices)
    indptr = np.zeros(questions + 1, dtype=np.int64)
    np.cumsum(np.bincount(owners, minlength=questions), out=indptr[1:])
    return indptr, keys % max(points, 1)
