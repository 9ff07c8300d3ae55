"""What SQLite's settings cost and bring: four profiles, each writing, reading, and both."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar, Literal

from agentdyno import Direction, Experiment, ExperimentContext, Metric, SpecError
from agentdyno_workloads.simulation.storage.pragma_crash import survives
from agentdyno_workloads.simulation.storage.pragmas import PROFILES, ProfileName, connect, observed

Row = tuple[int, int, int, float, float, int, str]
AGENTS = 500
READS_PER_TRANSACTION, WRITES_PER_TRANSACTION = 80, 20
SCHEMA = (
    "CREATE TABLE memories (id INTEGER PRIMARY KEY, agent INTEGER NOT NULL, step INTEGER NOT NULL, x REAL NOT NULL, "
    "y REAL NOT NULL, energy INTEGER NOT NULL, note TEXT NOT NULL)",
    "CREATE INDEX memories_of_agent ON memories (agent, step)",
)


class PragmaProfile(Experiment):
    """One profile of SQLite settings under one kind of work: writes, reads, or four reads to every write.

    ``ops_per_s`` counts rows written, queries answered, or both, from the first of them until the connection is
    closed, so that a log that still has to be moved into the database is paid for. A profile is normalised by setting
    its arm beside the arm of ``balanced`` with the same work in the same run.
    """

    metrics: ClassVar = {
        metric.name: metric
        for metric in (
            Metric("ops_per_s", "/s", Direction.HIGHER),
            Metric("commits", ""),
            Metric("rows", ""),
            Metric("database_bytes", "bytes", Direction.LOWER),
        )
    }

    def __init__(
        self,
        profile: ProfileName = "balanced",
        workload: Literal["write", "read", "mixed"] = "write",
        rows: int = 100_000,
        batch: int = 1000,
        seed: int = 42,
    ) -> None:
        for name, value in (("rows", rows), ("batch", batch)):
            if value < 1:
                raise SpecError(f"{name} is {value}", where=f"params.{name}", remedy="Give 1 or more.")
        super().__init__({"profile": profile, "workload": workload, "rows": rows, "batch": batch})
        self.profile = PROFILES[profile]
        self.seed = seed

    def setup(self, context: ExperimentContext) -> None:
        """The rows and the questions, a killed writer's database looked into, and the settings read back."""
        self.folder = tempfile.TemporaryDirectory(prefix="dyno-pragma-")
        folder = Path(self.folder.name)
        survived = survives(folder, self.profile.name)
        self.data = make_rows(self.params["rows"], self.seed)
        self.asked = random.Random(self.seed + 1).choices(range(self.params["rows"]), k=self.questions)
        self.energies = [row[5] for row in self.data]
        self.path = folder / "memories.db"
        self.number = 0
        with closing(connect(self.path, self.profile)) as link:
            self._fill(link)
            in_force = observed(link, self.profile)
        # Under the parameter's own name, so that two profiles that turn out to be the same thing are noticed.
        settings = " ".join(f"{name}={value}" for name, value in sorted(in_force.items()))
        context.observe(profile=settings, **in_force, sqlite=sqlite3.sqlite_version, integrity_after_kill=survived)

    @property
    def questions(self) -> int:
        """Queries of one execution; with mixed work a quarter as many rows are changed besides."""
        return max(1, int(self.params["rows"]) // 5)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        workload = self.params["workload"]
        path = self.path
        if workload == "write":
            self.number += 1
            path = self.path.with_name(f"written-{self.number}.db")
        link = connect(path, self.profile)
        observed(link, self.profile)
        if workload == "write":
            for statement in SCHEMA:
                link.execute(statement)
        began = perf_counter()
        if workload == "write":
            operations, commits = len(self.data), self._insert(link)
        elif workload == "read":
            operations, commits = self._read(link, self.asked), 0
        else:
            operations, commits = self._mix(link)
        link.close()
        took_s = perf_counter() - began
        self._check(path)
        figures = {"rows": len(self.data), "commits": commits, "database_bytes": path.stat().st_size}
        if workload == "write":
            path.unlink()
        return {"ops_per_s": operations / took_s, **figures}

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self.folder.cleanup()

    def _fill(self, link: sqlite3.Connection) -> None:
        for statement in SCHEMA:
            link.execute(statement)
        self._insert(link)

    def _insert(self, link: sqlite3.Connection) -> int:
        batch = self.params["batch"]
        commits = 0
        for start in range(0, len(self.data), batch):
            link.execute("BEGIN")
            link.executemany("INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?)", self.data[start : start + batch])
            link.execute("COMMIT")
            commits += 1
        return commits

    def _read(self, link: sqlite3.Connection, asked: list[int]) -> int:
        """One row by its id, and at every second question the latest ten of an agent."""
        for number, one in enumerate(asked):
            (energy,) = link.execute("SELECT energy FROM memories WHERE id = ?", (one,)).fetchone()
            if energy != self.energies[one]:
                raise AssertionError(f"row {one} holds {energy}, {self.energies[one]} was written")
            if number % 2:
                link.execute(
                    "SELECT id, step, energy FROM memories WHERE agent = ? ORDER BY step DESC LIMIT 10",
                    (one % AGENTS,),
                ).fetchall()
        return len(asked) + len(asked) // 2

    def _mix(self, link: sqlite3.Connection) -> tuple[int, int]:
        operations = commits = 0
        for start in range(0, len(self.asked), READS_PER_TRANSACTION):
            part = self.asked[start : start + READS_PER_TRANSACTION]
            changed = part[:WRITES_PER_TRANSACTION]
            link.execute("BEGIN IMMEDIATE")
            operations += self._read(link, part)
            for one in changed:
                self.energies[one] += 1
            link.executemany(
                "UPDATE memories SET energy = ? WHERE id = ?", [(self.energies[one], one) for one in changed]
            )
            link.execute("COMMIT")
            operations += len(changed)
            commits += 1
        return operations, commits

    def _check(self, path: Path) -> None:
        """That the database holds every row and the sum of all that was written."""
        with closing(sqlite3.connect(path)) as link:
            found = link.execute("SELECT count(*), sum(energy), sum(agent * step) FROM memories").fetchone()
        right = (len(self.data), sum(self.energies), sum(row[1] * row[2] for row in self.data))
        if found != right:
            raise AssertionError(f"rows, energy and checksum are {found}, {right} were written")


def make_rows(rows: int, seed: int) -> list[Row]:
    """What agents remember, one row each: where they were, with how much energy, and a few words."""
    rng = random.Random(seed)
    return [
        (
            *(number, number % AGENTS, number // AGENTS),
            *(rng.uniform(0, 100), rng.uniform(0, 100), rng.randrange(10_000)),
            f"saw {rng.randrange(1000)} and went on",
        )
        for number in range(rows)
    ]
