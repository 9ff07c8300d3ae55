"""Pictures made slowly and plainly, one agent and one thing at a time: what every storage must agree with."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from agentdyno_workloads.simulation.observation.base import Storage
from agentdyno_workloads.simulation.observation.channels import (
    ALLIES,
    CHANNELS,
    DANGER,
    ENEMIES,
    ENERGY,
    FAINT,
    FOOD,
    FORGET_EVERY,
    KNOWN_EMPTY,
    OBSTACLES,
    RESOURCES,
    SELF,
    FieldOfView,
    Picture,
)
from agentdyno_workloads.simulation.state import State

Cell = tuple[int, int]
Memory = dict[int, dict[Cell, np.float32]]


class Reference:
    """Keeps each agent's memory under its id, by cell of the world."""

    def __init__(self, world: tuple[float, float], view: FieldOfView) -> None:
        self.view = view
        self.columns, self.rows = max(1, math.ceil(world[0])), max(1, math.ceil(world[1]))
        self.memory: dict[int, Memory] = {}

    def observe(self, state: State, step: int) -> Picture:
        """``(agents, channels, side, side)``: the pictures after a step."""
        pictures = [self._picture(state, place, step) for place in range(len(state))]
        alive = {int(number) for number in state.ids}
        self.memory = {number: kept for number, kept in self.memory.items() if number in alive}
        side = self.view.side
        return np.array(pictures, dtype=np.float32).reshape(len(state), len(CHANNELS), side, side)

    def _picture(self, state: State, place: int, step: int) -> Picture:
        view, radius = self.view, self.view.radius
        picture: Picture = np.zeros((len(CHANNELS), view.side, view.side), dtype=np.float32)
        column, row = self._cell(float(state.x[place]), float(state.y[place]))
        picture[SELF, radius, radius] = state.energy[place]
        window = {
            (column + dx, row + dy): (dy + radius, dx + radius)
            for dy, dx in product(range(-radius, radius + 1), repeat=2)
        }
        seen = {c for c in window if (c[0] - column) ** 2 + (c[1] - row) ** 2 <= view.reach**2}
        taken = {(column, row)}
        for other in range(len(state)):
            if other != place:
                channel = ALLIES if state.kind[other] == state.kind[place] else ENEMIES
                for cell, share in self._shares(float(state.x[other]), float(state.y[other])):
                    if cell in seen:
                        picture[channel][window[cell]] += share
                        picture[ENERGY][window[cell]] += share * np.float32(state.energy[other])
                        taken.add(cell)
        for thing in range(state.amount.size):
            for cell, share in self._shares(float(state.resource_x[thing]), float(state.resource_y[thing])):
                if cell in seen and state.amount[thing] > 0.0:
                    picture[RESOURCES][window[cell]] += share * np.float32(state.amount[thing])
                    taken.add(cell)
        before = self.memory.get(int(state.ids[place]), {})
        after: Memory = {DANGER: {}, FOOD: {}, KNOWN_EMPTY: {}}
        for cell, at in window.items():
            inside = 0 <= cell[0] < self.columns and 0 <= cell[1] < self.rows
            picture[OBSTACLES][at] = not inside
            old = {channel: self._faded(before, channel, cell, step) for channel in after}
            after[DANGER][cell] = max(old[DANGER], min(picture[ENEMIES][at], np.float32(1.0)))
            after[FOOD][cell] = picture[RESOURCES][at] if cell in seen else old[FOOD]
            empty = np.float32(inside and cell not in taken)
            after[KNOWN_EMPTY][cell] = empty if cell in seen else old[KNOWN_EMPTY]
            for channel, values in after.items():
                picture[channel][at] = values[cell]
        self.memory[int(state.ids[place])] = after
        return picture

    def _faded(self, before: Memory, channel: int, cell: Cell, step: int) -> np.float32:
        old = before.get(channel, {}).get(cell, np.float32(0.0))
        if step % FORGET_EVERY == 0 and old < FAINT:
            return np.float32(0.0)
        return np.float32(old * np.float32(self.view.gamma))

    def _cell(self, x: float, y: float) -> Cell:
        return min(math.floor(x), self.columns - 1), min(math.floor(y), self.rows - 1)

    def _shares(self, x: float, y: float) -> list[tuple[Cell, np.float32]]:
        """The cells that a thing is shown in, and how much of it in each."""
        if self.view.interpolation == "nearest":
            return [(self._cell(x, y), np.float32(1.0))]
        left, bottom = math.floor(x - 0.5), math.floor(y - 0.5)
        right, top = x - 0.5 - left, y - 0.5 - bottom
        shares = []
        for row, of_row in ((bottom, 1.0 - top), (bottom + 1, top)):
            for column, of_column in ((left, 1.0 - right), (left + 1, right)):
                cell = min(max(column, 0), self.columns - 1), min(max(row, 0), self.rows - 1)
                if of_row * of_column > 0.0:
                    shares.append((cell, np.float32(of_row * of_column)))
        return shares


def prove(observer: Storage, reference: Reference, state: State, step: int) -> None:
    """That an observer shows what the slow reference shows, asked for all pictures and for single ones."""
    observer.observe(state, step)
    expected = reference.observe(state, step)
    # Single ones first: once all are there, a single one is only a part of them.
    for row in range(0, len(state), max(1, len(state) // 3)):
        _same(observer.tensor(row), expected[row], f"{observer.name}, step {step}, row {row}")
    _same(observer.batch(), expected, f"{observer.name}, step {step}")


def _same(shown: Picture, expected: Picture, what: str) -> None:
    if shown.shape != expected.shape or shown.dtype != np.float32:
        raise AssertionError(f"{what}: {shown.dtype} {shown.shape} instead of float32 {expected.shape}")
    wrong = np.argwhere(shown != expected)
    if wrong.size:
        at = tuple(wrong[0])
        channel = CHANNELS[at[-3]]
        raise AssertionError(f"{what}: {channel} at {at} is {shown[at]}, not {expected[at]} ({len(wrong)} differ)")
