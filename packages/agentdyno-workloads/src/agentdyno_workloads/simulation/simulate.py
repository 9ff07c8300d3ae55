"""The step loop: perceive, act, log; the same history for the same seed, whatever index or store is used."""

from __future__ import annotations

import hashlib
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Protocol

import numpy as np

from agentdyno_workloads.simulation.config import SimulationConfig
from agentdyno_workloads.simulation.rules import Deeds, act, perceive
from agentdyno_workloads.simulation.spatial import SpatialIndex, make_index
from agentdyno_workloads.simulation.state import State, first_state
from agentdyno_workloads.simulation.storage.database import HistoryLog


class Observer(Protocol):
    """Makes a picture of the surroundings of every agent."""

    def observe(self, state: State, step: int) -> None: ...


@dataclass(frozen=True, slots=True)
class SimulationOutcome:
    """How a run went. ``history_hash`` is over the state after every step; ``step_s`` are the seconds of each step,
    ``persist_s`` those of making the history permanent; ``rows`` were logged, ``observations`` made: one an agent
    and step."""

    steps: int
    agents: int
    births: int
    deaths: int
    history_hash: str
    step_s: tuple[float, ...]
    rows: int = 0
    database: Path | None = None
    storage: str = ""
    journal_mode: str = ""
    persist_s: float = 0.0
    observations: int = 0


class Simulation:
    """One world. ``step`` advances it; ``state`` is what it has come to."""

    def __init__(self, config: SimulationConfig) -> None:
        self.config = config
        self.state = first_state(config)
        self.step_number = 0
        self.births = self.deaths = 0
        self._agents: SpatialIndex = make_index(config.index, radius_hint=config.perception_radius)
        self._resources: SpatialIndex = make_index(config.index, radius_hint=config.perception_radius)
        self._resources.build(self.state.resource_x, self.state.resource_y)
        self._hash = hashlib.sha256()
        self.state.add_to_hash(self._hash)

    @property
    def index_name(self) -> str:
        """Of the index that is really in use."""
        return type(self._agents).__name__

    @property
    def history_hash(self) -> str:
        return self._hash.hexdigest()

    def step(self) -> tuple[State, Deeds]:
        """The state before the step, and what was done in it."""
        state, radius = self.state, self.config.perception_radius
        before = copy(state)  # arrays are replaced in a step, not changed, except energies of parents
        before.energy = state.energy.copy()
        self.step_number += 1
        if len(state):
            self._agents.build(state.x, state.y)
            seen = perceive(
                state,
                self._agents.radius(state.x, state.y, radius),
                self._resources.radius(state.x, state.y, radius),
            )
            rng = np.random.default_rng([self.config.seed, self.step_number])
            deeds = act(state, seen, self.config.rules, self.config.size, rng)
        else:
            none = np.zeros(0, dtype=np.int64)
            deeds = Deeds(none, none, np.zeros(0), none, none)
        self.births += int(deeds.born.size)
        self.deaths += int(deeds.died.size)
        self.state.add_to_hash(self._hash)
        return before, deeds


def simulate(
    config: SimulationConfig, *, observer: Observer | None = None, pragmas: tuple[str, ...] = ()
) -> SimulationOutcome:
    """A whole run. A history that cannot be written is a ``RunError``; the file is then absent, never half.

    Without an ``observer``, one is made where the configuration names a storage of observations.
    """
    config.check()
    simulation = Simulation(config)
    if observer is None:
        observer = _configured_observer(config)
    observations = 0
    log = HistoryLog(config, pragmas) if config.database or config.use_in_memory_db else None
    times: list[float] = []
    storage = journal = ""
    try:
        if log is not None:
            storage, journal = log.storage, log.journal_mode
            log.begin(simulation.state)
        for _ in range(config.steps):
            began = perf_counter()
            before, deeds = simulation.step()
            if observer is not None:
                observer.observe(simulation.state, simulation.step_number)
                observations += len(simulation.state)
            if log is not None:
                log.write(simulation.step_number, before, deeds, simulation.state)
            times.append(perf_counter() - began)
        began = perf_counter()
        path = log.close() if log is not None else None
        persist_s = perf_counter() - began
    except BaseException:
        if log is not None:
            log.abandon()
        raise
    return SimulationOutcome(
        steps=config.steps,
        agents=len(simulation.state),
        births=simulation.births,
        deaths=simulation.deaths,
        history_hash=simulation.history_hash,
        step_s=tuple(times),
        rows=log.rows if log is not None else 0,
        database=path,
        storage=storage,
        journal_mode=journal,
        persist_s=persist_s if log is not None else 0.0,
        observations=observations,
    )


def _configured_observer(config: SimulationConfig) -> Observer | None:
    if config.observation_storage == "none":
        return None
    from agentdyno_workloads.simulation.observation import FieldOfView, make_observer

    return make_observer(config.observation_storage, config.size, FieldOfView(radius=config.observation_radius))
