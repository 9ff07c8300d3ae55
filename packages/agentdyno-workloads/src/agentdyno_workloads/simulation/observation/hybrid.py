"""Memory in arrays, the present moment in lists."""

from __future__ import annotations

import numpy as np

from agentdyno_workloads.simulation.observation.base import OnDemand
from agentdyno_workloads.simulation.observation.channels import MEMORY, NOW, OBSTACLES, SELF, FieldOfView, Picture
from agentdyno_workloads.simulation.observation.planes import Planes
from agentdyno_workloads.simulation.observation.scene import Scene


def fill_now(target: Picture, scene: Scene, first: int, last: int) -> None:
    """The channels of the present moment, for the rows from ``first`` to before ``last``."""
    view_floats, middle = target[0].size if target.shape[0] else 0, target.shape[-1] // 2
    target[:, :NOW] = 0.0
    target[:, SELF, middle, middle] = scene.own[first:last]
    low, high = np.searchsorted(scene.walled, (first, last))
    target[scene.walled[low:high] - first, OBSTACLES] = scene.beyond[low:high]
    flat = target.reshape(-1)
    for listed in (scene.kin, scene.energy, scene.resources):
        part = listed.between(first * view_floats, last * view_floats)
        np.add.at(flat, part.at, part.value)


def scene_bytes(scene: Scene | None) -> int:
    """Of the lists that pictures are put together from."""
    if scene is None:
        return 0
    lists = scene.kin.nbytes + scene.energy.nbytes + scene.resources.nbytes
    return lists + scene.own.nbytes + scene.walled.nbytes + scene.beyond.nbytes


class Hybrid(OnDemand):
    name = "hybrid"

    def __init__(self, world: tuple[float, float], view: FieldOfView) -> None:
        super().__init__(world, view)
        self._planes = Planes(view, MEMORY)
        self._scene: Scene | None = None

    def _fade(self, scene: Scene, step: int) -> None:
        self._outdate()
        self._planes.fade(scene.motion, step)

    def _take_up(self, scene: Scene) -> None:
        self._planes.see(scene)
        self._scene = scene

    def _fill(self, target: Picture, first: int, last: int) -> None:
        if self._scene is not None:
            fill_now(target, self._scene, first, last)
        target[:, NOW:] = self._planes.block[first:last]

    def _bytes(self) -> int:
        return self._planes.nbytes + scene_bytes(self._scene)
