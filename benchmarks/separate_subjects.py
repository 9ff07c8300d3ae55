"""Subjects of a few milliseconds, of kinds that a machine's moods touch differently. ``work`` scales what they do."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import time
from collections.abc import Callable
from functools import cache
from typing import Any

_DOCUMENT = [{"id": number, "name": f"n{number}", "values": [number * 1.5] * 5} for number in range(60)]


def loop(work: int = 100) -> None:
    """An interpreted loop."""
    total = 0
    for number in range(600 * work):
        total += number * number % 7


def text(work: int = 100) -> None:
    """Dicts and strings."""
    for _ in range(work):
        table: dict[str, str] = {}
        for number in range(80):
            table[f"k{number}"] = table.get(f"k{number // 2}", "")[:20] + "x"
        ",".join(table.values()).upper().split(",")


def json_text(work: int = 100) -> None:
    """JSON written and read."""
    for _ in range(work // 10):
        json.loads(json.dumps(_DOCUMENT))


@cache
def _database() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", check_same_thread=False)
    made.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL)")
    made.executemany("INSERT INTO t (b, c) VALUES (?, ?)", [(f"x{row % 50}", row * 0.5) for row in range(1000)])
    return made


def sqlite(work: int = 100) -> None:
    """A query that groups and sorts."""
    for _ in range(work // 10):
        _database().execute("SELECT b, SUM(c), COUNT(*) FROM t GROUP BY b ORDER BY 2").fetchall()


@cache
def _array() -> Any:
    import numpy as np

    return np.arange(1 << 20, dtype=np.float64)


def numpy(work: int = 100) -> None:
    """Arrays of 8 MB."""
    values = _array()
    for _ in range(work // 50):
        (values * 2.0 + values).sum()


def process(work: int = 100) -> None:
    """Starting a process."""
    for _ in range(work // 100):
        subprocess.run(["/bin/true"], check=True)


def sleep(work: int = 100) -> None:
    """Waiting for something, with a little work."""
    time.sleep(3e-5 * work)
    sum(range(5000))


KINDS: dict[str, Callable[[int], None]] = {
    "loop": loop,
    "text": text,
    "json_text": json_text,
    "sqlite": sqlite,
    "numpy": numpy,
    "process": process,
    "sleep": sleep,
}
