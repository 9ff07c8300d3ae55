"""What a database holds after the process that writes it was killed in the middle of a transaction.

The writer's page cache is made so small that pages of the open transaction are on their way to the disk when the
process dies: what is left over from it must be undone by whoever opens the file next. This shows what a killed
*process* leaves. A machine that loses power is another matter, and is not tried here.
"""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from agentdyno_workloads.simulation.storage.pragmas import PROFILES, Profile, connect

COMMITTED = 1500
"""Rows of the transactions that were committed."""
OPEN = 4000
"""Rows of the transaction that was not."""
SPILLING_PAGES = 20
READY = "in mid-transaction"


def write_and_wait(path: Path, profile: Profile) -> None:
    """Commits three transactions, leaves a fourth open, says so, and waits for the end of its standard input."""
    link = connect(path, profile)
    link.execute(f"PRAGMA cache_size={SPILLING_PAGES}")
    link.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, change INTEGER, note TEXT)")
    third = COMMITTED // 3
    for change in range(3):
        link.execute("BEGIN")
        rows = ((change * third + row, change, "kept" * 20) for row in range(third))
        link.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
        link.execute("COMMIT")
    link.execute("BEGIN")
    link.execute("UPDATE entries SET change = -1, note = 'overwritten and longer than before' || note")
    link.executemany("INSERT INTO entries VALUES (?, -1, ?)", ((COMMITTED + row, "lost" * 40) for row in range(OPEN)))
    sys.stdout.write(READY + "\n")
    sys.stdout.flush()
    sys.stdin.read()


def kill_in_mid_transaction(path: Path, profile: Profile) -> None:
    """Writes a database in a process of its own and ends it with SIGKILL while its last transaction is open."""
    child = subprocess.Popen(
        [sys.executable, "-m", __name__, str(path), *(str(value) for value in _fields(profile))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    said = child.stdout.readline().strip()
    child.send_signal(signal.SIGKILL)
    _, errors = child.communicate()
    if said != READY or child.returncode != -signal.SIGKILL:
        raise AssertionError(f"the writer ended with {child.returncode} before it could be killed: {errors[-300:]}")


def damage(path: Path) -> str | None:
    """What is wrong with the database that was left; ``None`` where every commit is there and nothing else."""
    with closing(sqlite3.connect(path)) as link:
        try:
            (verdict,) = link.execute("PRAGMA integrity_check").fetchone()
            rows, half = link.execute("SELECT count(*), count(*) FILTER (WHERE change < 0) FROM entries").fetchone()
        except sqlite3.DatabaseError as error:
            return f"SQLite cannot read it: {error}"
    if verdict != "ok":
        return f"integrity_check says {verdict}"
    if rows != COMMITTED or half:
        return f"{rows} rows instead of {COMMITTED}, {half} of them from the transaction that was not committed"
    return None


def _fields(profile: Profile) -> tuple[str | int, ...]:
    return (
        *(profile.name, profile.journal_mode, profile.synchronous, profile.cache_kib),
        *(profile.temp_store, profile.mmap_bytes, profile.locking_mode),
    )


def main(arguments: list[str]) -> None:
    path, name, journal, synchronous, cache, temporary, mapped, locking = arguments
    profile = Profile(name, journal, synchronous, int(cache), temporary, int(mapped), locking)
    with contextlib.suppress(KeyboardInterrupt):
        write_and_wait(Path(path), profile)


def survives(folder: Path, name: str) -> str:
    """Kills a writer of the profile and checks what it left: ``ok``; ``AssertionError`` where it is damaged."""
    path = folder / "killed.db"
    kill_in_mid_transaction(path, PROFILES[name])
    found = damage(path)
    if found is not None:
        raise AssertionError(f"after kill -9 in mid-transaction with the profile {name}: {found}")
    return "ok"


if __name__ == "__main__":
    main(sys.argv[1:])
