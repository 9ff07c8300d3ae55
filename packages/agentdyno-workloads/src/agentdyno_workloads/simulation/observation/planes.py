"""Memory of all agents in one array: it moves along with its agent, fades, and takes up what is in sight."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from agentdyno_workloads.simulation.observation.channels import (
    CHANNELS,
    DANGER,
    FAINT,
    FORGET_EVERY,
    MEMORY,
    NOW,
    FieldOfView,
    Flags,
    Ints,
    Picture,
)
from agentdyno_workloads.simulation.observation.scene import NOBODY, Motion, Scene

_PART_FLOATS = 2**18
"""Memory is moved in parts of so many numbers, so that the copy on the way stays small with any number of agents."""


def blank(view: FieldOfView) -> Picture:
    """``known_empty`` of an agent that sees nothing: 1 in every cell in sight but its own."""
    cells = view.in_sight().astype(np.float32)
    cells[view.radius, view.radius] = 0.0
    return cells


class Planes:
    """``block`` is ``(agents, channels, side, side)``; the last channels of it are the memory, the others are the
    caller's.

    A window that moves by whole cells is the same row of numbers read from another start, so that one copy a row
    moves all channels of memory; the cells that enter are then cleared.
    """

    def __init__(self, view: FieldOfView, channels: int) -> None:
        self.view, self.channels = view, channels
        self._stride = channels * view.cells
        self._first = (channels - MEMORY) * view.cells
        self._blank = blank(view)
        self._fading: Picture = np.full((MEMORY, view.side, view.side), view.gamma, dtype=np.float32)
        self._fading[DANGER - NOW + 1 :, view.in_sight()] = 0.0
        self._reserve(1)
        self.block = self._rows(0)

    @property
    def everything(self) -> Picture:
        """The block with the rows that nobody has at the moment."""
        return self._rows(self._capacity)

    @property
    def nbytes(self) -> int:
        return self._flat.nbytes

    def fade(self, motion: Motion, step: int) -> bool:
        """Moves and fades the memory; whether the other channels are still what the caller made them, row by row."""
        count, before = motion.source.size, self.block.shape[0]
        windows, kept = self._windows, count <= self._capacity
        if not kept:
            self._reserve(count if self._capacity == 1 else count + count // 4)
        self.block = self._rows(count)
        memory = self.block[:, self.channels - MEMORY :]
        if not before:
            memory[...] = 0.0
            memory[:, -1] += self._blank
            return kept
        # Agents only move up to the rows of the dead, so that a part written is never read by a later one.
        size = max(1, _PART_FLOATS // (MEMORY * self.view.cells))
        for first in range(0, count, size):
            part = slice(first, first + size)
            moved = self._moved(windows, motion.source[part], motion.dx[part], motion.dy[part])
            if step % FORGET_EVERY == 0:
                moved[moved < FAINT] = 0.0
            np.multiply(moved, self._fading, out=memory[part])
            memory[part, -1] += self._blank
        return kept

    def see(self, scene: Scene) -> None:
        """Takes up what is in sight."""
        flat = self._flat[self.view.cells :]
        known = self.block[:, -1]
        known[scene.walled] *= ~scene.beyond
        flat[self._place(scene.taken)] = 0.0
        flat[self._place(scene.food.at)] = scene.food.value
        at = self._place(scene.danger.at)
        flat[at] = np.maximum(flat[at], scene.danger.value)

    def _moved(self, windows: Picture, source: Ints, dx: Ints, dy: Ints) -> Picture:
        view = self.view
        starts = view.cells + np.maximum(source, 0) * self._stride + self._first
        moved: Picture = windows[starts + dy * view.side + dx].reshape(-1, MEMORY, view.side, view.side)
        _clear_entered(moved, dx)
        _clear_entered(moved.swapaxes(2, 3), dy)
        moved[source == NOBODY] = 0.0
        return moved

    def _place(self, at: Ints) -> Ints:
        """From positions in pictures to positions in this block."""
        if self.channels == len(CHANNELS):
            return at
        row, rest = np.divmod(at, self.view.floats)
        place: Ints = row * self._stride + rest - (len(CHANNELS) - self.channels) * self.view.cells
        return place

    def _reserve(self, rows: int) -> None:
        """Room for rows, with a window's worth at either end that a moved start may touch."""
        self._capacity = rows
        self._flat: Picture = np.zeros(rows * self._stride + 2 * self.view.cells, dtype=np.float32)
        self._windows = sliding_window_view(self._flat, MEMORY * self.view.cells)

    def _rows(self, count: int) -> Picture:
        cells, side = self.view.cells, self.view.side
        return self._flat[cells : cells + count * self._stride].reshape(count, self.channels, side, side)


def _clear_entered(window: Picture, shift: Ints) -> None:
    """Clears the columns that came into the window."""
    side = window.shape[-1]
    for by in np.unique(shift).tolist():
        if by:
            entered = slice(side - by, side) if by > 0 else slice(0, -by)
            window[np.flatnonzero(shift == by), :, :, entered] = 0.0


def flags(rows: Ints, count: int) -> Flags:
    """One flag a row."""
    marked = np.zeros(count, dtype=np.bool_)
    marked[rows] = True
    return marked
