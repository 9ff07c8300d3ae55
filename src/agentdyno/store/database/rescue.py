"""What of a damaged SQLite file can still be read, and a new store made of that."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from agentdyno.errors import StoreError
from agentdyno.store.database.backups import claimed
from agentdyno.store.runs.codec import loads
from agentdyno.store.runs.schema import HEAD, VERSION_TABLE

_OF_RUNS = frozenset({"arms", "environments", "runs", "samples", "specs", "suites"})
_FARTHEST = 1 << 40
"""How many ids beyond the last row that was read the next one is looked for."""
_HEADER_BYTES = 100
LOST = "a part of it was lost with a damaged store"
_INSTEAD = "Restore a copy made by `dyno store backup`; `dyno report` reads a run's result.json by itself."
_SHORT_RUNS = """
SELECT run FROM arms WHERE statuses IS NOT NULL AND (
    SELECT count(*) FROM samples WHERE arm = arms.id AND phase = 'measured' AND instrument = ''
) < (SELECT sum(value) FROM json_each(arms.statuses))
UNION SELECT run FROM arms GROUP BY run HAVING count(*) <= max(position)
"""
UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a damaged file raises; the second where SQLite's own message holds bytes of the damage."""
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Rows that cannot be read: all after the id ``after`` and, where later ones can be, before the id ``before``."""

    after: int
    before: int | None

    def __str__(self) -> str:
        since = "from the first on" if self.after < 0 else f"after {self.after}"
        return since if self.before is None else f"{since}, before {self.before}"


@dataclass(frozen=True, slots=True)
class TableState:
    """What of a table can be read."""

    table: str
    rows: int
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Rescued:
    """What was found in a damaged store and is in the new one.

    ``gaps`` are of the tables in which something could not be read; ``dropped`` counts rows that could be read and
    belong to others that could not. ``short`` are the ids of runs that lost a part: they are no longer complete.
    """

    runs: int
    samples: int
    dropped: int
    gaps: Mapping[str, tuple[Gap, ...]]
    short: tuple[str, ...]


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """The file itself, or a copy of one whose end is missing: SQLite reads none that is shorter than it says."""
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    page = int.from_bytes(header[16:18], "big")
    size = (65_536 if page == 1 else page) * int.from_bytes(header[28:32], "big")
    if len(header) < _HEADER_BYTES or path.stat().st_size >= size:
        yield path
        return
    with TemporaryDirectory(prefix="dyno-rescue-") as folder:
        copy = Path(folder) / path.name
        for suffix in ("", "-wal"):
            if (part := path.with_name(path.name + suffix)).exists():
                shutil.copyfile(part, copy.with_name(part.name))
        os.truncate(copy, size)
        yield copy


def states(driver: sqlite3.Connection) -> list[TableState]:
    """Reads every row of every table, around what is damaged."""
    found = []
    for table in _tables(driver):
        rows, gaps = 0, []
        for item in readable(driver, table):
            if isinstance(item, Gap):
                gaps.append(item)
            else:
                rows += 1
        found.append(TableState(table, rows, tuple(gaps)))
    return found


def undecodable(driver: sqlite3.Connection) -> list[str]:
    """Documents that are no JSON, in a sentence for each column; of runs and their parts none, which are told by
    whoever reads the runs."""
    found = []
    for table in _tables(driver):
        columns = driver.execute(f"PRAGMA table_info({table})").fetchall()
        for name in (name for _, name, kind, *_ in columns if kind == "JSON" and table not in _OF_RUNS):
            broken = f"FROM {table} WHERE {name} IS NOT NULL AND NOT json_valid({name})"
            count, first = driver.execute(f"SELECT count(*), min(rowid) {broken}").fetchone()
            if count:
                found.append(f"{table}: of {count:,} rows {name} cannot be read, the first is row {first}")
    return found


def readable(driver: sqlite3.Connection, table: str) -> Iterator[Row | Gap]:
    """The rows of a table by their ids; in the place of those that cannot be read there is a gap."""
    after = -1
    while True:
        try:
            for row in driver.execute(_from(table, ">"), (after,)):
                after = row[0]
                yield row[1:]
            return
        except UNREADABLE:
            # The driver looks one row ahead: the row before a damaged one is lost to it, but not to a search.
            found = _next_readable(driver, table, after + 1)
        before = None if found is None else int(str(found[0]))
        if before != after + 1:
            yield Gap(after, before)
        if found is None or before is None:
            return
        after = before
        yield found[1:]


def _next_readable(driver: sqlite3.Connection, table: str, start: int) -> Row | None:
    """The first row from the id ``start`` on, as far as searching by halves finds it, that can be read."""
    low, step = start - 1, 0
    while isinstance(best := _probe(driver, table, start + step), _Unreadable):
        low, step = start + step, max(1, 2 * step)
        if step > _FARTHEST:
            return None
    high = start + step
    while high - low > 1:
        middle = (low + high) // 2
        found = _probe(driver, table, middle)
        if isinstance(found, _Unreadable):
            low = middle
        else:
            high, best = middle, found
    return best


class _Unreadable:
    """In the place of a row."""


def _probe(driver: sqlite3.Connection, table: str, start: int) -> Row | _Unreadable | None:
    """The first row from an id on, with its id before it; ``None`` where there is none."""
    try:
        row: Row | None = driver.execute(_from(table, ">=") + " LIMIT 1", (start,)).fetchone()
    except UNREADABLE:
        return _Unreadable()
    return row


def _from(table: str, relation: str) -> str:
    return f"SELECT rowid, * FROM {table} NOT INDEXED WHERE rowid {relation} ? ORDER BY rowid"


def _tables(driver: sqlite3.Connection) -> list[str]:
    """Those whose rows have ids. Those without are summaries, which are made anew from the others."""
    return [name for kind, name, sql in _schema(driver) if kind == "table" and "WITHOUT ROWID" not in sql]


def _schema(driver: sqlite3.Connection) -> list[tuple[str, str, str]]:
    return driver.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()


def rescue(old: sqlite3.Connection, path: Path, where: str) -> Rescued:
    """Writes what can be read to a new store at ``path``, whole in itself; never overwrites a file."""
    try:
        schema = _schema(old)
    except UNREADABLE as error:
        raise StoreError(
            f"nothing can be rescued: not even the list of its tables can be read ({error})",
            where=where,
            remedy=_INSTEAD,
        ) from None
    if VERSION_TABLE not in (name for _, name, _ in schema):
        raise StoreError("nothing can be rescued: there is no store in this file", where=where, remedy=_INSTEAD)
    with claimed(path), contextlib.closing(sqlite3.connect(path)) as new:
        for wanted in ("table", "index", "view"):
            for kind, _, sql in schema:
                if kind == wanted:
                    new.execute(sql)
        gaps, dropped = _copy(old, new, _tables(old))
        if new.execute(f"SELECT count(*) FROM {VERSION_TABLE}").fetchone() == (0,):
            new.execute(f"INSERT INTO {VERSION_TABLE} VALUES (?)", (HEAD,))
        dropped += _drop_orphans(new)
        # of a run without any arm nothing is left that could be gone on with
        dropped += new.execute("DELETE FROM runs WHERE id NOT IN (SELECT run FROM arms)").rowcount
        dropped += _drop_orphans(new)
        short = _mark_short(new, gaps.get("arms", ()))
        (runs,) = new.execute("SELECT count(*) FROM runs").fetchone()
        (samples,) = new.execute("SELECT count(*) FROM samples").fetchone()
        new.commit()
        new.execute("PRAGMA journal_mode = WAL")
    return Rescued(runs, samples, dropped, gaps, short)


def _copy(
    old: sqlite3.Connection, new: sqlite3.Connection, tables: list[str]
) -> tuple[dict[str, tuple[Gap, ...]], int]:
    """Copies row by row; the gaps of each table that has any, and how many rows are rows of it no more."""
    gaps: dict[str, tuple[Gap, ...]] = {}
    refused = 0
    for table in tables:
        columns = old.execute(f"PRAGMA table_info({table})").fetchall()
        documents = [place for place, _, kind, *_ in columns if kind == "JSON"]
        for item in readable(old, table):
            if isinstance(item, Gap):
                gaps[table] = (*gaps.get(table, ()), item)
                continue
            if not all(_can_be_decoded(item[place]) for place in documents):
                refused += 1
                continue
            marks = ", ".join("?" * len(item))
            refused += 1 - new.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", item).rowcount
    return gaps, refused


def _can_be_decoded(document: object) -> bool:
    try:
        return document is None or loads(document) is not None  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return False


def _drop_orphans(new: sqlite3.Connection) -> int:
    """Takes rows out that belong to rows which are gone, and then those that belong to them."""
    dropped = 0
    while orphans := set(new.execute("PRAGMA foreign_key_check").fetchall()):
        for table, row in {(table, row) for table, row, _, _ in orphans}:
            new.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
            dropped += 1
    return dropped


def _mark_short(new: sqlite3.Connection, gaps: tuple[Gap, ...]) -> tuple[str, ...]:
    """Runs that lost a part are partial from now on. Beside a gap in the arms nobody knows: both neighbours count."""
    short = {row for (row,) in new.execute(_SHORT_RUNS)}
    for gap in gaps:
        beside = (gap.after, -1 if gap.before is None else gap.before)
        short |= {row for (row,) in new.execute("SELECT run FROM arms WHERE id IN (?, ?)", beside)}
    marked = []
    for row in sorted(short):
        new.execute("UPDATE runs SET status = 'partial', stopped_because = ? WHERE id = ?", (LOST, row))
        marked += [
            str(UUID(bytes=bytes(uid))) for (uid,) in new.execute("SELECT run_id FROM runs WHERE id = ?", (row,))
        ]
    return tuple(marked)
