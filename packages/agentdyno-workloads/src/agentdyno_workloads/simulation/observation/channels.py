"""What a picture consists of: its channels, its window of cells, and how memory fades."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agentdyno import SpecError

Picture = NDArray[np.float32]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]
Interpolation = Literal["nearest", "bilinear"]

CHANNELS = (
    "self",  # own energy, in the middle cell
    "allies",  # others of the own kind in the cell
    "enemies",  # those of the other kind
    "resources",  # energy to be gathered
    "obstacles",  # 1 beyond the edge of the world
    "energy",  # of the others in the cell, together
    "danger",  # 1 where an enemy is seen; fades everywhere
    "food",  # resources as last seen; fades out of sight
    "known_empty",  # 1 where nothing is in sight; fades out of sight
)
SELF, ALLIES, ENEMIES, RESOURCES, OBSTACLES, ENERGY, DANGER, FOOD, KNOWN_EMPTY = range(len(CHANNELS))
NOW = DANGER
"""Channels before this one show the present moment only; it and those after it are memory."""
MEMORY = len(CHANNELS) - NOW
FAINT = np.float32(1e-3)
FORGET_EVERY = 16
"""At every so many steps, memory below ``FAINT`` becomes 0, so that no number fades into the very slow tiny ones."""


@dataclass(frozen=True, slots=True)
class FieldOfView:
    """A window of ``radius`` cells to each side of the agent's own cell; a cell is one unit of the world.

    An agent sees the cells whose middle is at most ``sight`` cells from its own (``None``: ``radius``); the rest of
    the window is memory, multiplied by ``gamma`` at each step and forgotten where it leaves the window. ``nearest``
    puts a thing into the cell it is in; ``bilinear`` spreads it over the four cells around it.
    """

    radius: int = 6
    interpolation: Interpolation = "nearest"
    gamma: float = 0.9
    sight: float | None = None

    def __post_init__(self) -> None:
        if self.radius < 1:
            raise _refused("radius", f"the radius is {self.radius}", "Give 1 cell or more.")
        if self.interpolation not in ("nearest", "bilinear"):
            raise _refused(
                "interpolation", f"there is no interpolation {self.interpolation!r}", "Known: nearest, bilinear."
            )
        if not 0.0 <= self.gamma <= 1.0:
            raise _refused("gamma", f"memory is multiplied by {self.gamma}", "Give a number from 0 to 1.")
        if self.sight is not None and not 0.0 < self.sight <= self.radius:
            raise _refused("sight", f"sight reaches {self.sight} cells", f"Give more than 0, at most {self.radius}.")

    @property
    def side(self) -> int:
        """Cells from edge to edge of the window."""
        return 2 * self.radius + 1

    @property
    def cells(self) -> int:
        return self.side * self.side

    @property
    def reach(self) -> float:
        """How far an agent sees, in cells."""
        return float(self.radius if self.sight is None else self.sight)

    @property
    def floats(self) -> int:
        """Numbers in one picture."""
        return len(CHANNELS) * self.cells

    def in_sight(self) -> Flags:
        """``(side, side)``: which cells of the window are seen."""
        return _disc(self.radius, self.reach)


@dataclass(slots=True)
class Stats:
    """``cache_hits``: pictures handed out again as they were; ``rebuilds``: pictures put together from lists.

    ``bytes`` are what has to be kept from step to step, ``cache_bytes`` pictures that were put together on demand.
    Seconds, over all steps: ``gather_s`` finds who is in whose window, ``decay_s`` moves and fades the memory and
    clears the step before, ``scatter_s`` takes up what is seen, ``build_s`` puts pictures together on demand.
    """

    pictures: int = 0
    cache_hits: int = 0
    rebuilds: int = 0
    bytes: int = 0
    cache_bytes: int = 0
    gather_s: float = 0.0
    decay_s: float = 0.0
    scatter_s: float = 0.0
    build_s: float = 0.0


@lru_cache(maxsize=64)
def _disc(radius: int, reach: float) -> Flags:
    steps = np.arange(-radius, radius + 1)
    disc: Flags = steps[:, None] ** 2 + steps[None, :] ** 2 <= math.floor(reach * reach)
    disc.setflags(write=False)
    return disc


def _refused(name: str, message: str, remedy: str) -> SpecError:
    return SpecError(message, where=f"params.{name}", remedy=remedy)
