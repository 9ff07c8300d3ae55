"""The history of a simulation in SQLite: agents, what they did, resources, and a line for every step."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from agentdyno import RunError
from agentdyno_workloads.simulation.config import SimulationConfig
from agentdyno_workloads.simulation.rules import Deeds
from agentdyno_workloads.simulation.state import Ints, State

SCHEMA = """
CREATE TABLE agents (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, parent INTEGER, born INTEGER NOT NULL,
                     died INTEGER);
CREATE TABLE actions (step INTEGER NOT NULL, agent INTEGER NOT NULL, action INTEGER NOT NULL, target INTEGER,
                      amount REAL NOT NULL, x REAL NOT NULL, y REAL NOT NULL, energy REAL NOT NULL);
CREATE TABLE resources (step INTEGER NOT NULL, resource INTEGER NOT NULL, amount REAL NOT NULL);
CREATE TABLE steps (step INTEGER PRIMARY KEY, agents INTEGER NOT NULL, births INTEGER NOT NULL,
                    deaths INTEGER NOT NULL, energy REAL NOT NULL, resources REAL NOT NULL);
"""
RESOURCES_EVERY = 10
"""Steps between two records of all resources: they change slowly."""
MEMORY = ":memory:"
_ACTION = "INSERT INTO actions VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


class HistoryLog:
    """Writes the history of one run. Rows wait until there are ``batch_rows`` of them; ``commit_every`` steps share a
    transaction. ``close`` makes the history permanent: kept in a file, or copied there from memory.

    A history that cannot be written is a ``RunError``, and leaves either the whole file or none: a file appears under
    its name only when it is complete.
    """

    def __init__(self, config: SimulationConfig, pragmas: Sequence[str] = ()) -> None:
        self._config = config
        name = config.database or "history.db"
        self.path = Path(name).absolute()
        self._part = self.path.with_name(self.path.name + ".part")
        self.rows = 0
        self._waiting: list[tuple[object, ...]] = []
        self.flushes = 0
        target = MEMORY if config.use_in_memory_db else str(self._part)
        try:
            if config.database:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                _remove(self._part)
            self._link = _opened(target, pragmas)
        except (sqlite3.Error, OSError) as error:
            raise self._refusal(error) from None

    @property
    def storage(self) -> str:
        """Where the history really is while it is written: ``memory`` or ``disk``, as SQLite says."""
        (row,) = self._link.execute("PRAGMA database_list").fetchall()[:1]
        return "disk" if row[2] else "memory"

    @property
    def journal_mode(self) -> str:
        return str(self._link.execute("PRAGMA journal_mode").fetchone()[0])

    def begin(self, state: State) -> None:
        """The first agents."""
        self._agents(state.ids, state.kind, state.parent, 0)

    def write(self, step: int, before: State, deeds: Deeds, after: State) -> None:
        """One step: what everybody did, who was born, who died."""
        try:
            self._waiting += _actions(step, before, deeds)
            if deeds.born.size:
                fresh = slice(len(after) - deeds.born.size, None)
                self._agents(after.ids[fresh], after.kind[fresh], after.parent[fresh], step)
            if deeds.died.size:
                self._many("UPDATE agents SET died = ? WHERE id = ?", ((step, one) for one in deeds.died.tolist()))
            if step % RESOURCES_EVERY == 0:
                rows = ((step, place, amount) for place, amount in enumerate(after.amount.tolist()))
                self._many("INSERT INTO resources VALUES (?, ?, ?)", rows)
                self.rows += int(after.amount.size)
            self._many("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?)", [_step_row(step, deeds, after)])
            self.rows += 1
            if len(self._waiting) >= self._config.batch_rows:
                self.flush()
            if step % self._config.commit_every == 0:
                self.flush()
                self._link.execute("COMMIT")
                self._link.execute("BEGIN")
        except sqlite3.Error as error:
            raise self._refused(error) from None

    def flush(self) -> None:
        """Hands the rows that wait to SQLite."""
        if self._waiting:
            self._link.executemany(_ACTION, self._waiting)
            self.rows += len(self._waiting)
            self._waiting.clear()
            self.flushes += 1

    def close(self) -> Path | None:
        """Commits, and puts the file in its place; ``None`` for a history in memory that nobody wants kept."""
        try:
            self.flush()
            self._link.execute("COMMIT")
            if self._config.use_in_memory_db:
                if not self._config.persist_db_on_completion:
                    self._link.close()
                    return None
                self._persist()
            self._link.close()
            self._part.replace(self.path)
        except (sqlite3.Error, OSError) as error:
            raise self._refused(error) from None
        return self.path

    def abandon(self) -> None:
        """Forgets everything: nothing is left under the file's name that was not there before."""
        with suppress(sqlite3.Error):
            self._link.close()
        _remove(self._part)

    def _persist(self) -> None:
        target = sqlite3.connect(self._part)
        try:
            # The copy becomes visible only when it is whole; a journal for it would write everything twice.
            target.execute("PRAGMA journal_mode=OFF")
            self._link.backup(target)
        finally:
            target.close()

    def _agents(self, ids: Ints, kinds: Ints, parents: Ints, step: int) -> None:
        rows = zip(ids.tolist(), kinds.tolist(), parents.tolist(), [step] * int(ids.size), strict=True)
        self._many("INSERT INTO agents (id, kind, parent, born) VALUES (?, ?, ?, ?)", rows)
        self.rows += int(ids.size)

    def _many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        self._link.executemany(statement, rows)

    def _refused(self, error: Exception) -> RunError:
        self.abandon()
        return self._refusal(error)

    def _refusal(self, error: Exception) -> RunError:
        _remove(self._part)
        return RunError(
            f"the history cannot be written: {error}",
            where=str(self.path),
            remedy="Make room there or name another file; nothing half-written was left.",
        )


def _opened(target: str, pragmas: Sequence[str]) -> sqlite3.Connection:
    link = sqlite3.connect(target, isolation_level=None)
    try:
        for pragma in pragmas:
            link.execute(f"PRAGMA {pragma}").fetchall()
        link.executescript(SCHEMA)
        link.execute("BEGIN")
    except BaseException:
        link.close()
        raise
    return link


def _actions(step: int, before: State, deeds: Deeds) -> Iterable[tuple[object, ...]]:
    count = int(deeds.action.size)
    return zip(
        [step] * count,
        before.ids[:count].tolist(),
        deeds.action.tolist(),
        deeds.target.tolist(),
        deeds.amount.tolist(),
        before.x[:count].tolist(),
        before.y[:count].tolist(),
        before.energy[:count].tolist(),
        strict=True,
    )


def _step_row(step: int, deeds: Deeds, after: State) -> tuple[object, ...]:
    return (
        step,
        len(after),
        int(deeds.born.size),
        int(deeds.died.size),
        float(np.sum(after.energy)),
        float(np.sum(after.amount)),
    )


def _remove(path: Path) -> None:
    for name in (path, path.with_name(path.name + "-journal"), path.with_name(path.name + "-wal")):
        with suppress(FileNotFoundError, NotADirectoryError):
            name.unlink()
