"""Who lives in the world, and what grows in it: one array a property."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentdyno_workloads.simulation.config import SimulationConfig

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
KINDS = 2
"""Agents are of one of two kinds: the own kind is an ally, the other an enemy."""


@dataclass(slots=True)
class State:
    """Agents in the order of their ids, which only grow; the dead are taken out at the end of a step."""

    ids: Ints
    x: Floats
    y: Floats
    energy: Floats
    age: Ints
    kind: Ints
    parent: Ints
    resource_x: Floats
    resource_y: Floats
    amount: Floats
    next_id: int

    def __len__(self) -> int:
        return int(self.ids.size)

    def keep(self, alive: Flags) -> None:
        """Takes out the others."""
        for name in ("ids", "x", "y", "energy", "age", "kind", "parent"):
            setattr(self, name, getattr(self, name)[alive])

    def add(self, parents: Ints, x: Floats, y: Floats, energy: Floats) -> Ints:
        """Children of the agents at the places ``parents``; their ids."""
        count = parents.size
        fresh: Ints = np.arange(self.next_id, self.next_id + count, dtype=np.int64)
        self.next_id += int(count)
        self.parent = np.concatenate([self.parent, self.ids[parents]])
        self.kind = np.concatenate([self.kind, self.kind[parents]])
        self.ids = np.concatenate([self.ids, fresh])
        self.x = np.concatenate([self.x, x])
        self.y = np.concatenate([self.y, y])
        self.energy = np.concatenate([self.energy, energy])
        self.age = np.concatenate([self.age, np.zeros(count, dtype=np.int64)])
        return fresh

    def add_to_hash(self, digest: hashlib._Hash) -> None:
        """The whole state, in one byte order on every machine."""
        for values in (self.ids, self.kind, self.age):
            digest.update(values.astype("<i8").tobytes())
        for numbers in (self.x, self.y, self.energy, self.amount):
            digest.update(numbers.astype("<f8").tobytes())


def first_state(config: SimulationConfig) -> State:
    """Agents and resources spread over the world by the seed."""
    rng = np.random.default_rng([config.seed, 0])
    width, height = config.size
    count, resources = config.agents, config.resource_count
    return State(
        ids=np.arange(count, dtype=np.int64),
        x=rng.uniform(0.0, width, count),
        y=rng.uniform(0.0, height, count),
        energy=rng.uniform(0.5, 1.5, count) * config.rules.start_energy,
        age=np.zeros(count, dtype=np.int64),
        kind=rng.integers(0, KINDS, count),
        parent=np.full(count, -1, dtype=np.int64),
        resource_x=rng.uniform(0.0, width, resources),
        resource_y=rng.uniform(0.0, height, resources),
        amount=rng.uniform(0.5, 1.0, resources) * config.rules.resource_limit,
        next_id=count,
    )
