"""All pictures in one array; only cells that held something are cleared before the next ones are set."""

from __future__ import annotations

import numpy as np

from agentdyno_workloads.simulation.observation.base import Storage
from agentdyno_workloads.simulation.observation.channels import CHANNELS, OBSTACLES, SELF, FieldOfView, Ints, Picture
from agentdyno_workloads.simulation.observation.planes import Planes, flags
from agentdyno_workloads.simulation.observation.scene import Scene


class Dense(Storage):
    name = "dense"

    def __init__(self, world: tuple[float, float], view: FieldOfView) -> None:
        super().__init__(world, view)
        self._planes = Planes(view, len(CHANNELS))
        self._set: Ints = np.zeros(0, dtype=np.int64)
        self._walled = self._set

    def tensor(self, row: int) -> Picture:
        self._check_row(row)
        picture: Picture = self.batch()[row]
        return picture

    def batch(self) -> Picture:
        block = self._planes.block.view()
        block.setflags(write=False)
        return block

    def _fade(self, scene: Scene, step: int) -> None:
        if self._planes.fade(scene.motion, step):
            # Whoever has the row now: what was set the last time is cleared, so that everything else stays 0.
            block = self._planes.everything
            block.reshape(-1)[self._set] = 0.0
            block[self._walled[~flags(scene.walled, len(block))[self._walled]], OBSTACLES] = 0.0

    def _take_up(self, scene: Scene) -> None:
        block, middle = self._planes.block, self.view.radius
        flat = block.reshape(-1)
        block[:, SELF, middle, middle] = scene.own
        block[scene.walled, OBSTACLES] = scene.beyond
        self._set = np.concatenate([scene.kin.at, scene.energy.at, scene.resources.at])
        np.add.at(flat, self._set, np.concatenate([scene.kin.value, scene.energy.value, scene.resources.value]))
        self._walled = scene.walled
        self._planes.see(scene)

    def _bytes(self) -> int:
        return self._planes.nbytes + self._set.nbytes + self._walled.nbytes
