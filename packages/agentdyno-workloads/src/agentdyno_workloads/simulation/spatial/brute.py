"""Every point against every question: slow, and beyond doubt."""

from __future__ import annotations

import numpy as np

from agentdyno_workloads.simulation.spatial import Floats, Ints, check_radius

_AT_ONCE = 4_000_000
"""Pairs that are looked at together."""


class BruteForce:
    name = "brute"

    def __init__(self, radius_hint: float | None = None) -> None:
        del radius_hint
        self._x = self._y = np.zeros(0)

    def build(self, x: Floats, y: Floats) -> None:
        self._x, self._y = x.copy(), y.copy()

    def update(self, which: Ints, x: Floats, y: Floats) -> None:
        self._x[which], self._y[which] = x, y

    def radius(self, x: Floats, y: Floats, radius: float) -> tuple[Ints, Ints]:
        limit = check_radius(radius) ** 2
        counts, found = [np.zeros(1, dtype=np.int64)], []
        for part in self._parts(x.size):
            squared = self._squared(x[part], y[part])
            rows, indices = np.nonzero(squared <= limit)
            counts.append(np.bincount(rows, minlength=squared.shape[0]).astype(np.int64))
            found.append(indices.astype(np.int64))
        return np.cumsum(np.concatenate(counts)), np.concatenate([*found, np.zeros(0, dtype=np.int64)])

    def nearest(self, x: Floats, y: Floats, count: int) -> tuple[Ints, Floats]:
        places = np.full((x.size, count), -1, dtype=np.int64)
        distances = np.full((x.size, count), np.inf)
        have = min(count, self._x.size)
        for part in self._parts(x.size):
            squared = self._squared(x[part], y[part])
            order = np.argsort(squared, axis=1, kind="stable")[:, :have]
            places[part, :have] = order
            distances[part, :have] = np.sqrt(np.take_along_axis(squared, order, axis=1))
        return places, distances

    def rectangle(self, left: Floats, bottom: Floats, right: Floats, top: Floats) -> tuple[Ints, Ints]:
        counts, found = [np.zeros(1, dtype=np.int64)], []
        for part in self._parts(left.size):
            inside = (self._x >= left[part, None]) & (self._x <= right[part, None])
            inside &= (self._y >= bottom[part, None]) & (self._y <= top[part, None])
            rows, indices = np.nonzero(inside)
            counts.append(np.bincount(rows, minlength=inside.shape[0]).astype(np.int64))
            found.append(indices.astype(np.int64))
        return np.cumsum(np.concatenate(counts)), np.concatenate([*found, np.zeros(0, dtype=np.int64)])

    def bytes(self) -> int:
        return self._x.nbytes + self._y.nbytes

    def _parts(self, questions: int) -> list[slice]:
        size = max(1, _AT_ONCE // max(1, self._x.size))
        return [slice(start, start + size) for start in range(0, questions, size)]

    def _squared(self, x: Floats, y: Floats) -> Floats:
        dx, dy = self._x[None, :] - x[:, None], self._y[None, :] - y[:, None]
        squared: Floats = dx * dx + dy * dy
        return squared
