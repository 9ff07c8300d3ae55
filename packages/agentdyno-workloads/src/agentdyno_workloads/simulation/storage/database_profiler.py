"""What writing the history costs: rows a batch, steps a transaction, memory against disk."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from agentdyno import Direction, Experiment, ExperimentContext, Metric
from agentdyno_workloads.simulation.config import SimulationConfig
from agentdyno_workloads.simulation.rules import Deeds
from agentdyno_workloads.simulation.simulate import Simulation
from agentdyno_workloads.simulation.state import State
from agentdyno_workloads.simulation.storage.database import HistoryLog


class DatabaseProfiler(Experiment):
    """The history of a simulation written again and again, without the simulation: batches, transactions, storage."""

    metrics: ClassVar = {
        metric.name: metric
        for metric in (
            Metric("rows_per_s", "/s", Direction.HIGHER),
            Metric("flushes", ""),
            Metric("rows", ""),
            Metric("database_bytes", "bytes"),
        )
    }

    def __init__(
        self,
        storage: Literal["disk", "memory"] = "disk",
        batch_rows: int = 5000,
        commit_every: int = 10,
        agents: int = 200,
        steps: int = 60,
    ) -> None:
        super().__init__(
            {"storage": storage, "batch_rows": batch_rows, "commit_every": commit_every, "agents": agents}
        )
        self.config = SimulationConfig(
            agents=agents,
            steps=steps,
            batch_rows=batch_rows,
            commit_every=commit_every,
            database="history.db",
            use_in_memory_db=storage == "memory",
        )

    def setup(self, context: ExperimentContext) -> None:
        """The history itself, made once."""
        self.folder = tempfile.TemporaryDirectory(prefix="dyno-database-")
        simulation = Simulation(self.config)
        self.first = _frozen(simulation.state)
        self.history: list[tuple[State, Deeds, State]] = []
        for _ in range(self.config.steps):
            before, deeds = simulation.step()
            self.history.append((before, deeds, _frozen(simulation.state)))
        self.expected = self._write(Path(self.folder.name) / "proof.db", context)[0]
        self.number = 0

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        """Writes all of it into a fresh database."""
        from time import perf_counter

        self.number += 1
        path = Path(self.folder.name) / f"{self.number}.db"
        began = perf_counter()
        rows, flushes = self._write(path, context)
        took_s = perf_counter() - began
        if rows != self.expected:
            raise AssertionError(f"{rows} rows were written, {self.expected} the time before")
        size = {"database_bytes": path.stat().st_size} if path.exists() else {}
        return {"rows_per_s": rows / took_s, "rows": rows, "flushes": flushes, **size}

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self.folder.cleanup()

    def _write(self, path: Path, context: ExperimentContext) -> tuple[int, int]:
        log = HistoryLog(replace(self.config, database=str(path)))
        context.observe(storage=log.storage, journal_mode=log.journal_mode)
        if log.storage != self.params["storage"]:
            raise AssertionError(f"the history is in {log.storage}, not in {self.params['storage']}")
        log.begin(self.first)
        for step, (before, deeds, after) in enumerate(self.history, start=1):
            log.write(step, before, deeds, after)
        log.close()
        return log.rows, log.flushes


def _frozen(state: State) -> State:
    """The state as it is now: a step replaces its arrays, but for the energies of parents."""
    from copy import copy

    kept = copy(state)
    kept.energy = state.energy.copy()
    return kept
