"""Answers kept from earlier runs, for people who work on scorers and do not want to pay for each attempt."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from agentdyno.model import Case, Response
from agentdyno.model.codec import encode, from_plain, to_plain
from agentdyno.model.identity import digest


class FileCache:
    """In one SQLite file. The key is the agent with its version and configuration, the case, and the epoch."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, response TEXT NOT NULL)")
        self._agents: Mapping[str, str] = {}
        self._redact: Callable[[object], object] = lambda value: value

    def prepare(self, agents: Mapping[str, str], redact: Callable[[object], object]) -> None:
        """Which agent (its digest) stands behind each arm, and what takes secrets out of its answers."""
        self._agents, self._redact = dict(agents), redact

    def get(self, arm_id: str, case: Case, epoch: int) -> Response | None:
        with self._lock:
            found = self._connection.execute(
                "SELECT response FROM answers WHERE key = ?", (self._key(arm_id, case, epoch),)
            ).fetchone()
        return None if found is None else from_plain(Response, json.loads(found[0]))

    def put(self, arm_id: str, case: Case, epoch: int, response: Response) -> None:
        try:
            text = encode(self._redact(to_plain(response)))
        except (TypeError, ValueError):
            return  # an answer that is no JSON cannot be kept
        with self._lock:
            self._connection.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?)", (self._key(arm_id, case, epoch), text)
            )

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _key(self, arm_id: str, case: Case, epoch: int) -> str:
        asked = to_plain([case.input, case.turns, case.metadata])
        return digest([self._agents.get(arm_id, arm_id), asked, epoch], 40)
