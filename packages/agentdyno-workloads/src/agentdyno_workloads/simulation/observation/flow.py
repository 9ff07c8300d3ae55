"""A simulation whose agents are all observed at every step: the proof, and one timed run."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from agentdyno import SpecError
from agentdyno_workloads.simulation.config import SimulationConfig
from agentdyno_workloads.simulation.observation import FieldOfView, StorageName, make_observer
from agentdyno_workloads.simulation.observation.channels import (
    ALLIES,
    ENEMIES,
    KNOWN_EMPTY,
    OBSTACLES,
    Picture,
    Stats,
)
from agentdyno_workloads.simulation.observation.reference import Reference, prove
from agentdyno_workloads.simulation.simulate import Simulation

_PROOFS = ((12, 5, 6), (3, 20, 2))
"""Agents, most cells to each side and steps of the worlds that the slow reference looks at too."""


@dataclass(frozen=True, slots=True)
class Flow:
    """``reads``: how often each step's pictures are asked for; from the second time on they come from a cache."""

    config: SimulationConfig
    view: FieldOfView
    storage: StorageName
    reads: int = 1

    def __post_init__(self) -> None:
        for name, value in (("steps", self.config.steps), ("reads", self.reads)):
            if value < 1:
                raise SpecError(f"{name} is {value}", where=f"params.{name}", remedy="Give 1 or more.")


@dataclass(frozen=True, slots=True)
class Flowed:
    """``step_s``: seconds of each step's observations, from the state to all pictures in one array; ``world_s``: of
    all the steps of the world itself. ``filled``: the share of numbers other than 0 in the last pictures, of the
    channels that are not full by their nature. ``digest`` is of the last pictures.

    ``interpolation`` is told from the last pictures: neighbours in parts are bilinear, ``None`` where nobody is seen.
    """

    step_s: tuple[float, ...]
    world_s: float
    stats: Stats
    storage: str
    interpolation: str | None
    filled: float
    shape: tuple[int, ...]
    digest: str

    @property
    def per_s(self) -> float:
        """Complete pictures a second."""
        return self.stats.pictures / max(sum(self.step_s), 1e-12)


def make_flow(storage: StorageName, agents: int, steps: int, seed: int, view: FieldOfView) -> Flow:
    config = SimulationConfig(
        agents=agents, steps=steps, seed=seed, observation_storage=storage, observation_radius=view.radius
    )
    make_observer(storage, config.size, view)
    return Flow(config, view, storage)


def run_flow(flow: Flow) -> Flowed:
    """One whole run; every picture of every step is there as a complete array."""
    simulation = Simulation(flow.config)
    observer = make_observer(flow.storage, flow.config.size, flow.view)
    times: list[float] = []
    pictures = observer.batch()
    began_all = perf_counter()
    for _ in range(flow.config.steps):
        simulation.step()
        began = perf_counter()
        observer.observe(simulation.state, simulation.step_number)
        for _ in range(flow.reads):
            pictures = observer.batch()
        times.append(perf_counter() - began)
    world_s = perf_counter() - began_all - sum(times)
    others = [channel for channel in range(pictures.shape[1]) if channel not in (OBSTACLES, KNOWN_EMPTY)]
    filled = float(np.count_nonzero(pictures[:, others])) / max(pictures[:, others].size, 1)
    digest = hashlib.sha256(np.ascontiguousarray(pictures, dtype="<f4").tobytes()).hexdigest()
    return Flowed(
        step_s=tuple(times),
        world_s=world_s,
        stats=observer.stats,
        storage=observer.name,
        interpolation=_interpolation(pictures),
        filled=filled,
        shape=pictures.shape,
        digest=digest,
    )


def _interpolation(pictures: Picture) -> str | None:
    neighbours = pictures[:, ALLIES : ENEMIES + 1]
    if not neighbours.any():
        return None
    return "bilinear" if (neighbours % 1.0).any() else "nearest"


def prove_flow(flow: Flow) -> Flowed:
    """That small worlds look as the slow reference says, and the world in question as in the dense storage."""
    for agents, radius, steps in _PROOFS:
        view = flow.view
        if radius < view.radius:
            view = replace(view, radius=radius, sight=None if view.sight is None else min(view.sight, radius))
        config = replace(flow.config, agents=agents, steps=steps, observation_radius=view.radius)
        simulation = Simulation(config)
        observer, reference = make_observer(flow.storage, config.size, view), Reference(config.size, view)
        for _ in range(steps):
            simulation.step()
            prove(observer, reference, simulation.state, simulation.step_number)
    expected, found = run_flow(replace(flow, storage="dense")), run_flow(flow)
    check_flow(flow, found, expected.digest)
    return found


def check_flow(flow: Flow, found: Flowed, digest: str) -> None:
    """The treatment as it was seen at work, and that the pictures are those of every other run."""
    rebuilds = 0 if flow.storage == "dense" else found.stats.pictures
    if found.storage != flow.storage or found.stats.rebuilds != rebuilds:
        raise AssertionError(f"{found.storage} instead of {flow.storage}, {found.stats.rebuilds} rebuilds")
    if found.interpolation not in (None, flow.view.interpolation):
        raise AssertionError(f"neighbours are shown {found.interpolation}, not {flow.view.interpolation}")
    if found.digest != digest:
        raise AssertionError(f"{flow.storage} shows other pictures than it should")
