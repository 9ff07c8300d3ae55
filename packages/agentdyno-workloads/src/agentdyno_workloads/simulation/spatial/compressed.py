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


def in_discs(
    pairs: tuple[Ints, Ints], points: tuple[Floats, Floats], asked: tuple[Floats, Floats], reach: float
) -> tuple[Ints, Ints]:
    """Of pairs of question and point those whose point is no farther than ``reach``."""
    owners, places = pairs
    dx, dy = points[0][places] - asked[0][owners], points[1][places] - asked[1][owners]
    inside = np.flatnonzero(dx * dx + dy * dy <= reach**2)
    return owners[inside], places[inside]


def in_boxes(
    pairs: tuple[Ints, Ints], points: tuple[Floats, Floats], boxes: tuple[Floats, Floats, Floats, Floats]
) -> tuple[Ints, Ints]:
    """Of pairs of question and point those whose point is in the box (left, bottom, right, top) of its question."""
    owners, places = pairs
    left, bottom, right, top = boxes
    px, py = points[0][places], points[1][places]
    fits = (px >= left[owners]) & (px <= right[owners]) & (py >= bottom[owners]) & (py <= top[owners])
    inside = np.flatnonzero(fits)
    return owners[inside], places[inside]
