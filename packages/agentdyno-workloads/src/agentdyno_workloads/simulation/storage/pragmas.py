"""Four ways to set SQLite up for a history of agents, each read back from the connection it is in force on."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ProfileName = Literal["performance", "safety", "balanced", "memory"]
SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")
TEMP_STORE = ("DEFAULT", "FILE", "MEMORY")


@dataclass(frozen=True, slots=True)
class Profile:
    """``cache_kib`` is the page cache in KiB, ``mmap_bytes`` what is read through a mapping instead of calls."""

    name: str
    journal_mode: str
    synchronous: str
    cache_kib: int
    temp_store: str
    mmap_bytes: int
    locking_mode: str

    @property
    def wanted(self) -> dict[str, str | int]:
        """The pragmas by name, in the words that SQLite answers in (its codes as the words they stand for)."""
        return {
            "journal_mode": self.journal_mode,
            "synchronous": self.synchronous,
            "cache_size": -self.cache_kib,
            "temp_store": self.temp_store,
            "mmap_size": self.mmap_bytes,
            "locking_mode": self.locking_mode,
        }


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        # Nothing waits for the disk; the log ahead of the pages keeps a killed process from leaving half a change.
        Profile("performance", "wal", "OFF", 102_400, "MEMORY", 268_435_456, "exclusive"),
        # The rollback journal, synchronised with its folder: a commit has reached the disk when it returns.
        Profile("safety", "delete", "EXTRA", 16_384, "FILE", 0, "normal"),
        Profile("balanced", "wal", "NORMAL", 65_536, "MEMORY", 67_108_864, "normal"),
        # As balanced, with as little memory as SQLite gets along with.
        Profile("memory", "wal", "NORMAL", 1_024, "FILE", 0, "normal"),
    )
}


def connect(path: Path, profile: Profile) -> sqlite3.Connection:
    """A connection with the profile in force; transactions are begun and committed by hand."""
    link = sqlite3.connect(path, isolation_level=None)
    # The lock comes first: a log ahead of the pages in an exclusive mode is kept without shared memory.
    link.execute(f"PRAGMA locking_mode={profile.locking_mode}")
    for name, value in profile.wanted.items():
        if name != "locking_mode":
            link.execute(f"PRAGMA {name}={value}")
    return link


def read_back(link: sqlite3.Connection) -> dict[str, str | int]:
    """The same pragmas as SQLite reports them for this connection."""

    def ask(name: str) -> str | int:
        row: tuple[str | int] | None = link.execute(f"PRAGMA {name}").fetchone()
        # A build without memory mapping answers nothing.
        return 0 if row is None else row[0]

    found = {name: ask(name) for name in ("journal_mode", "cache_size", "mmap_size", "locking_mode")}
    return {
        **found,
        "synchronous": SYNCHRONOUS[int(ask("synchronous"))],
        "temp_store": TEMP_STORE[int(ask("temp_store"))],
    }


def observed(link: sqlite3.Connection, profile: Profile) -> dict[str, str | int]:
    """What is in force; ``AssertionError`` where it is not what the profile says."""
    found = read_back(link)
    wrong = [
        f"{name} is {found[name]}, not {value}" for name, value in profile.wanted.items() if found[name] != value
    ]
    if wrong:
        raise AssertionError(f"the profile {profile.name} is not in force: {', '.join(wrong)}")
    return found
