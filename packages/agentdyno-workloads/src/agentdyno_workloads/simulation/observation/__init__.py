"""What agents see: a picture of its surroundings for each of them, in channels, with memory that fades."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal

from agentdyno import SpecError
from agentdyno_workloads.simulation.observation.channels import CHANNELS, FieldOfView, Stats

if TYPE_CHECKING:
    from agentdyno_workloads.simulation.observation.base import Storage

__all__ = ["CHANNELS", "STORAGES", "FieldOfView", "Stats", "StorageName", "make_observer"]

StorageName = Literal["dense", "sparse", "hybrid"]
_HOMES = {"dense": "Dense", "sparse": "Sparse", "hybrid": "Hybrid"}
STORAGES = tuple(_HOMES)


def make_observer(storage: str, world: tuple[float, float], view: FieldOfView | None = None) -> Storage:
    """An observer of a world of this width and height. ``view``: ``FieldOfView()`` where it is not given."""
    if storage not in _HOMES:
        raise SpecError(
            f"there is no storage {storage!r}", where="params.storage", remedy=f"Known: {', '.join(STORAGES)}."
        )
    made: Storage = getattr(import_module(f"{__name__}.{storage}"), _HOMES[storage])(world, view or FieldOfView())
    return made
