"""Answers kept from earlier runs, for people who work on scorers and do not want to pay for each attempt."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from agentdyno.errors import StoreError
from agentdyno.model import Case, Response
from agentdyno.model.codec import encode, from_plain, to_plain
from agentdyno.model.identity import digest

log = logging.getLogger("agentdyno.run")
_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, response TEXT NOT NULL)"


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(_TABLE)
    except BaseException:
        connection.close()
        raise
    return connection


class FileCache:
    """In one SQLite file. The key is the agent with its version and configuration, the case, and the epoch.

    Raises ``StoreError`` where the file cannot be used from the start. What fails later is no reason to end a run:
    answers that cannot be read are asked for, and those that cannot be written are not kept.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._broken = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _opened(path)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"the answers of earlier runs cannot be used: {error}",
                where=str(path),
                remedy="Move the file away: it holds answers alone, which are asked for again. Or leave --cache out.",
            ) from None
        self._agents: Mapping[str, str] = {}
        self._redact: Callable[[object], object] = lambda value: value

    def prepare(self, agents: Mapping[str, str], redact: Callable[[object], object]) -> None:
        """Which agent (its digest) stands behind each arm, and what takes secrets out of its answers."""
        self._agents, self._redact = dict(agents), redact

    def get(self, arm_id: str, case: Case, epoch: int) -> Response | None:
        asked = "SELECT response FROM answers WHERE key = ?"
        try:
            with self._lock:
                found = self._connection.execute(asked, (self._key(arm_id, case, epoch),)).fetchone()
            return None if found is None else from_plain(Response, json.loads(found[0]))
        except (sqlite3.Error, ValueError, TypeError) as error:
            self._tell(error)
            return None

    def put(self, arm_id: str, case: Case, epoch: int, response: Response) -> None:
        try:
            text = encode(self._redact(to_plain(response)))
        except (TypeError, ValueError):
            return  # an answer that is no JSON cannot be kept
        row = self._key(arm_id, case, epoch), text
        try:
            with self._lock:
                self._connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", row)
        except (sqlite3.Error, UnicodeEncodeError) as error:
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        """Once: a disk that is full is full for every answer."""
        if not self._broken:
            self._broken = True
            log.warning("answers of earlier runs: %s; the run goes on without", error)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _key(self, arm_id: str, case: Case, epoch: int) -> str:
        asked = to_plain([case.input, case.turns, case.metadata])
        return digest([self._agents.get(arm_id, arm_id), asked, epoch], 40)
