"""Where the history is kept while a simulation runs: on disk, in memory, or in memory and persisted at the end."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from agentdyno import Direction, Experiment, ExperimentContext, Metric
from agentdyno_workloads.simulation.config import SimulationConfig
from agentdyno_workloads.simulation.simulate import SimulationOutcome, simulate

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
        # Bad values are refused here, before anything runs.
        self.config = SimulationConfig(
            agents=agents,
            steps=steps,
            seed=seed,
            commit_every=commit_every,
            batch_rows=batch_rows,
            database="history.db",
            use_in_memory_db=mode != "disk",
            persist_db_on_completion=mode == "memory_persist",
        )

    def setup(self, context: ExperimentContext) -> None:
        """The history that every mode must give, and one run whose file is read back in full."""
        self.folder = tempfile.TemporaryDirectory(prefix="dyno-memory-db-")
        bare = replace(self.config, database="", use_in_memory_db=False, persist_db_on_completion=False)
        self.expected = simulate(bare).history_hash
        path = Path(self.folder.name) / "proof.db"
        outcome = simulate(replace(self.config, database=str(path)))
        self._check(outcome, path)
        _read_back(outcome, path)
        kept = path.exists()
        seen = outcome.storage if not kept or outcome.storage == "disk" else f"{outcome.storage}_persist"
        context.observe(mode=seen, storage=outcome.storage, journal_mode=outcome.journal_mode, on_disk=kept)
        self.number = 0

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        """One whole run, from the empty database to the permanent one."""
        self.number += 1
        path = Path(self.folder.name) / f"history-{self.number}.db"
        outcome = simulate(replace(self.config, database=str(path)))
        self._check(outcome, path)
        size = {"database_bytes": path.stat().st_size} if path.exists() else {}
        return {
            "steps_per_s": outcome.steps / max(sum(outcome.step_s), 1e-12),
            "persist_s": outcome.persist_s,
            "rows": outcome.rows,
            **size,
        }

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self.folder.cleanup()

    def _check(self, outcome: SimulationOutcome, path: Path) -> None:
        """The treatment as SQLite reports it, and that the history is the same."""
        mode = self.params["mode"]
        if outcome.storage != EXPECTED[mode] or path.exists() != (mode != "memory"):
            raise AssertionError(f"{mode} kept its history in {outcome.storage}, file there: {path.exists()}")
        if outcome.history_hash != self.expected:
            raise AssertionError(f"{mode} gave another history than a run without a log")


def _read_back(outcome: SimulationOutcome, path: Path) -> None:
    """That the file holds every step and SQLite finds no fault in it."""
    if not path.exists():
        return
    with closing(sqlite3.connect(path)) as link:
        (steps,) = link.execute("SELECT count(*) FROM steps").fetchone()
        (verdict,) = link.execute("PRAGMA integrity_check").fetchone()
    if steps != outcome.steps or verdict != "ok":
        raise AssertionError(f"the file holds {steps} of {outcome.steps} steps, SQLite says {verdict}")
