"""Where the history is kept while a simulation runs: on disk, in memory, or in memory and persisted at the end."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from typing import Any, ClassVar, Literal

from agentdyno import Direction, Experiment, ExperimentContext, Metric
from agentdyno.workloads.simulation.config import SimulationConfig
from agentdyno.workloads.simulation.simulate import Outcome, simulate

EXPECTED = {"disk": "disk", "memory": "memory", "memory_persist": "memory"}


class MemoryDb(Experiment):
    """A simulation that logs its history to disk, to memory, or to memory and then to disk."""

    metrics: ClassVar = {
        metric.name: metric
        for metric in (
            Metric("steps_per_s", "/s", Direction.HIGHER),
            Metric("persist_s", "s", Direction.LOWER),
            Metric("database_bytes", "bytes"),
            Metric("rows", ""),
        )
    }

    def __init__(
        self,
        mode: Literal["disk", "memory", "memory_persist"] = "disk",
        agents: int = 200,
        steps: int = 100,
        commit_every: int = 10,
        batch_rows: int = 20_000,
        seed: int = 42,
    ) -> None:
        super().__init__({"mode": mode, "agents": agents, "steps": steps})
        self.base = {
            "agents": agents,
            "steps": steps,
            "seed": seed,
            "commit_every": commit_every,
            "batch_rows": batch_rows,
            "use_in_memory_db": mode != "disk",
            "persist_db_on_completion": mode == "memory_persist",
        }
        SimulationConfig(**{**self.base, "database": "history.db"})  # bad values are refused before anything runs

    def setup(self, context: ExperimentContext) -> None:  # noqa: ARG002
        """A folder for the histories, and the history that every mode must give."""
        self.folder = tempfile.TemporaryDirectory(prefix="dyno-memory-db-")
        wanted = {**self.base, "use_in_memory_db": False, "persist_db_on_completion": False}
        self.expected = simulate(SimulationConfig(**wanted)).history_hash
        self.number = 0

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        """One whole run, from the empty database to the permanent one."""
        self.number += 1
        path = Path(self.folder.name) / f"history-{self.number}.db"
        outcome = simulate(SimulationConfig(**{**self.base, "database": str(path)}))
        size = self._check(outcome, path, context)
        path.unlink(missing_ok=True)
        return {
            "steps_per_s": outcome.steps / max(sum(outcome.step_s), 1e-12),
            "persist_s": outcome.persist_s,
            "rows": outcome.rows,
            **({"database_bytes": size} if size is not None else {}),
        }

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self.folder.cleanup()

    def _check(self, outcome: Outcome, path: Path, context: ExperimentContext) -> int | None:
        """The treatment as SQLite reports it, and that the history is the same and all there."""
        mode = self.params["mode"]
        context.observe(storage=outcome.storage, journal_mode=outcome.journal_mode, on_disk=path.exists())
        if outcome.storage != EXPECTED[mode] or path.exists() != (mode != "memory"):
            raise AssertionError(f"{mode} kept its history in {outcome.storage}, file there: {path.exists()}")
        if outcome.history_hash != self.expected:
            raise AssertionError(f"{mode} gave another history than a run without a log")
        if not path.exists():
            return None
        with sqlite3.connect(path) as link:
            (steps,) = link.execute("SELECT count(*) FROM steps").fetchone()
            (verdict,) = link.execute("PRAGMA quick_check").fetchone()
        link.close()
        if steps != outcome.steps or verdict != "ok":
            raise AssertionError(f"the file holds {steps} of {outcome.steps} steps, SQLite says {verdict}")
        return path.stat().st_size
