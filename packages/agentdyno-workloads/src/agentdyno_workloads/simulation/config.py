"""What a simulation is: its world, its agents, its rules, and where its history goes."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, fields
from difflib import get_close_matches
from numbers import Integral, Real
from pathlib import Path
from typing import Literal

from agentdyno import SpecError

DENSITY = 0.02
"""Agents per unit of area, where a world's size is not given: about as many neighbours at any number of agents."""
BYTES_PER_AGENT = 1_200
"""What an agent takes at the widest point of a step: its state, its neighbours, its rows of history."""
IndexName = Literal["brute", "hash_grid", "kd_tree", "quad_tree", "scipy"]
StorageName = Literal["none", "dense", "sparse", "hybrid"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What living costs and brings, in units of energy; rates are probabilities a step."""

    start_energy: float = 10.0
    move_cost: float = 0.05
    living_cost: float = 0.08
    speed: float = 1.0
    gather_reach: float = 1.5
    gather_rate: float = 1.2
    share_above: float = 14.0
    share_amount: float = 1.0
    fight_rate: float = 0.08
    fight_damage: float = 1.5
    fight_cost: float = 0.2
    birth_above: float = 18.0
    birth_rate: float = 0.25
    max_age: int = 400
    regrowth: float = 0.08
    resource_limit: float = 8.0


@dataclass(slots=True)
class SimulationConfig:
    """Values may be set one by one (``config.use_in_memory_db = True``); one that cannot be is refused and changes
    nothing. What depends on several of them is checked when it is made and when it is run (``check``).

    ``width`` and ``height`` of 0 give a square world of constant density; ``resources`` of ``None`` one for every
    two agents. ``perception_radius`` is in units of the world.

    ``database`` is the file that the history is logged to; empty: no history. ``use_in_memory_db`` keeps it in memory
    while it runs; ``persist_db_on_completion`` then writes it to the file at the end. ``batch_rows`` are written at a
    time, ``commit_every`` steps share a transaction. ``observation_storage`` other than ``none`` gives every agent a
    picture of its surroundings at every step, ``observation_radius`` cells to each side.
    """

    agents: int = 200
    steps: int = 100
    width: float = 0.0
    height: float = 0.0
    resources: int | None = None
    seed: int = 42
    perception_radius: float = 5.0
    index: IndexName = "hash_grid"
    database: str = ""
    use_in_memory_db: bool = False
    persist_db_on_completion: bool = False
    batch_rows: int = 20_000
    commit_every: int = 10
    observation_storage: StorageName = "none"
    observation_radius: int = 6
    rules: Rules = Rules()

    def __post_init__(self) -> None:
        self.check()

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _FIELDS:
            near = get_close_matches(name, _FIELDS, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"It has {', '.join(_FIELDS)}."
            raise AttributeError(f"a simulation has no {name!r}. {hint}")
        _check_value(name, value)
        object.__setattr__(self, name, value)

    def check(self) -> None:
        """Raises ``SpecError`` for values that do not go together, or need more memory than there is."""
        if (self.width == 0) != (self.height == 0):
            name = "width" if self.width == 0 else "height"
            raise _refused(name, "a world of zero size holds nobody", "Give both sizes, or neither.")
        if self.persist_db_on_completion and not self.database:
            raise _refused("database", "there is no file to persist the history to", "Name one: database.")
        self._check_memory()

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the world."""
        if self.width:
            return self.width, self.height
        side = max(1.0, math.sqrt(self.agents / DENSITY))
        return side, side

    @property
    def resource_count(self) -> int:
        return max(1, self.agents // 2) if self.resources is None else self.resources

    @property
    def needed_bytes(self) -> int:
        """An estimate of the memory that a run takes."""
        observed = 0
        if self.observation_storage == "dense":
            observed = self.agents * 9 * (2 * self.observation_radius + 1) ** 2 * 4
        return self.agents * BYTES_PER_AGENT + observed

    def _check_memory(self) -> None:
        free = available_bytes()
        if free is not None and self.needed_bytes > free:
            raise _refused(
                "agents",
                f"{self.agents:,} agents need about {self.needed_bytes / 2**30:.1f} GiB, {free / 2**30:.1f} are free",
                "Take fewer agents, or observations of a smaller radius.",
            )


def available_bytes() -> int | None:
    """Memory that can be had without swapping; ``None`` where the system does not say."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as stream:
            for line in stream:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


_FIELDS = tuple(field.name for field in fields(SimulationConfig))
_LEAST = {"agents": 1, "steps": 0, "resources": 0, "batch_rows": 1, "commit_every": 1, "observation_radius": 1}
_SWITCHES = ("use_in_memory_db", "persist_db_on_completion")


def _check_value(name: str, value: object) -> None:
    """Raises ``SpecError`` for a value that this setting can never have."""
    if name in _SWITCHES:
        if not isinstance(value, bool):
            raise _refused(name, f"{name} is {value!r}", "Say True or False.")
    elif name in _LEAST:
        if value is None and name == "resources":
            return
        if isinstance(value, bool) or not isinstance(value, Integral) or value < _LEAST[name]:
            raise _refused(name, f"{name} is {value}", f"Give {_LEAST[name]} or more.")
    elif name in ("width", "height", "perception_radius"):
        wrong = not isinstance(value, Real) or not math.isfinite(value)
        if name == "perception_radius" and (wrong or not value > 0):  # type: ignore[operator]
            raise _refused(name, f"the radius is {_shown(value)}", "Give a number above 0.")
        if wrong or not value >= 0:  # type: ignore[operator]
            remedy = "Give a size above 0, or 0 for one that fits."
            raise _refused(name, f"the world's {name} is {_shown(value)}", remedy)


def _shown(value: object) -> str:
    return f"{float(value):g}" if isinstance(value, Real) else repr(value)


def _refused(name: str, message: str, remedy: str) -> SpecError:
    return SpecError(message, where=f"params.{name}", remedy=remedy)
