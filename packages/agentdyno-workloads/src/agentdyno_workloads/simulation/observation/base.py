"""What the storages have in common: they look, move the memory, take up what is seen, and count."""

from __future__ import annotations

from abc import ABC, abstractmethod
from time import perf_counter

import numpy as np

from agentdyno import SpecError
from agentdyno_workloads.simulation.observation.channels import CHANNELS, FieldOfView, Picture, Stats
from agentdyno_workloads.simulation.observation.scene import Eye, Scene
from agentdyno_workloads.simulation.state import State


class Storage(ABC):
    """Pictures of the surroundings of all agents. What ``tensor`` and ``batch`` return is read-only and holds until
    the next ``observe``. Rows are the places of agents in the state, so that a picture follows its agent's id."""

    name: str
    channels = CHANNELS

    def __init__(self, world: tuple[float, float], view: FieldOfView) -> None:
        self.view = view
        self.count = 0
        self.stats = Stats()
        self._eye = Eye(world, view)

    def observe(self, state: State, step: int) -> None:
        """Looks at the world after a step."""
        began = perf_counter()
        scene = self._eye.look(state)
        looked = perf_counter()
        self._fade(scene, step)
        faded = perf_counter()
        self._take_up(scene)
        stats = self.stats
        stats.gather_s += looked - began
        stats.decay_s += faded - looked
        stats.scatter_s += perf_counter() - faded
        self.count = scene.count
        stats.pictures += scene.count
        stats.bytes = self._bytes()

    @abstractmethod
    def tensor(self, row: int) -> Picture:
        """``(channels, side, side)``: the picture of one agent."""

    @abstractmethod
    def batch(self) -> Picture:
        """``(agents, channels, side, side)``: all pictures."""

    @abstractmethod
    def _fade(self, scene: Scene, step: int) -> None: ...

    @abstractmethod
    def _take_up(self, scene: Scene) -> None: ...

    @abstractmethod
    def _bytes(self) -> int: ...

    def _check_row(self, row: int) -> None:
        if not 0 <= row < self.count:
            raise SpecError(
                f"there is no agent in row {row}", where="params.row", remedy=f"Rows are 0 to before {self.count}."
            )


class OnDemand(Storage):
    """Pictures that are put together when they are asked for, and kept until the next step."""

    def __init__(self, world: tuple[float, float], view: FieldOfView) -> None:
        super().__init__(world, view)
        self._single: dict[int, Picture] = {}
        self._all: Picture | None = None
        self._all_valid = False

    def tensor(self, row: int) -> Picture:
        self._check_row(row)
        if self._all_valid and self._all is not None:
            self.stats.cache_hits += 1
            found: Picture = self._all[row]
            return found
        if row in self._single:
            self.stats.cache_hits += 1
            return self._single[row]
        began = perf_counter()
        made = _pictures(1, self.view)
        self._fill(made, row, row + 1)
        made.setflags(write=False)
        self._single[row] = made[0]
        self.stats.build_s += perf_counter() - began
        self.stats.rebuilds += 1
        self.stats.cache_bytes += made.nbytes
        return self._single[row]

    def batch(self) -> Picture:
        if self._all_valid and self._all is not None:
            self.stats.cache_hits += self.count
            return self._all
        began = perf_counter()
        block = self._all
        if block is None or block.shape[0] != self.count:
            block = _pictures(self.count, self.view)
        block.setflags(write=True)
        self._fill(block, 0, self.count)
        block.setflags(write=False)
        self._all, self._all_valid = block, True
        self.stats.build_s += perf_counter() - began
        self.stats.rebuilds += self.count
        self.stats.cache_bytes = self._cached_bytes()
        return block

    def _outdate(self) -> None:
        """Pictures of the step before no longer hold."""
        self._single.clear()
        self._all_valid = False
        self.stats.cache_bytes = self._cached_bytes()

    def _cached_bytes(self) -> int:
        singles = sum(item.nbytes for item in self._single.values())
        return singles + (self._all.nbytes if self._all is not None else 0)

    @abstractmethod
    def _fill(self, target: Picture, first: int, last: int) -> None:
        """Puts the pictures of the rows from ``first`` to before ``last`` together; ``target`` holds anything."""


def _pictures(count: int, view: FieldOfView) -> Picture:
    return np.empty((count, len(CHANNELS), view.side, view.side), dtype=np.float32)
