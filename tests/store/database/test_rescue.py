"""What can be read of a damaged file is read, and what cannot lies in a gap that is named."""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentdyno.errors import StoreError
from agentdyno.store import Store
from agentdyno.store.database.rescue import Gap, readable, states, whole_file

ROWS = 2_000


def damaged(folder: Path, seed: int) -> Path:
    """A table over some sixty pages, some of them with large rows, of which a few were written over."""
    file, rng = folder / f"{seed}.db", random.Random(seed)
    with closing(sqlite3.connect(file)) as made, made:
        made.execute("CREATE TABLE facts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, body BLOB)")
        rows = [(3 * number, f"row {number}", b"x" * (9_000 if number % 400 == 7 else 80)) for number in range(ROWS)]
        made.executemany("INSERT INTO facts VALUES (?, ?, ?)", rows)
    content = bytearray(file.read_bytes())
    for _ in range(3):
        page = rng.randrange(2, len(content) // 4096)
        content[page * 4096 : page * 4096 + 200] = rng.randbytes(200)
    file.write_bytes(content)
    return file


@pytest.mark.parametrize("seed", range(12))
def test_every_row_is_read_or_lies_in_a_gap(tmp_path: Path, seed: int) -> None:
    with closing(sqlite3.connect(damaged(tmp_path, seed))) as driver:
        found = list(readable(driver, "facts"))
    read = {row[0] for row in found if not isinstance(row, Gap) and row[1] == f"row {int(str(row[0])) // 3}"}
    gaps = [item for item in found if isinstance(item, Gap)]
    lost = {3 * number for number in range(ROWS)} - read
    unnamed = [
        row for row in lost if not any(gap.after < row and (gap.before is None or row < gap.before) for gap in gaps)
    ]
    # A page that was written over may hold what looks like rows: a page has at most 46 of these.
    assert len(unnamed) <= 3 * 46
    assert len(read) > ROWS / 2
    ids = [int(str(row[0])) for row in found if not isinstance(row, Gap)]
    assert ids == sorted(set(ids))


@pytest.mark.parametrize("share", [0.9, 0.5])
def test_a_file_whose_end_is_missing_is_read_up_to_there(tmp_path: Path, share: float) -> None:
    file = tmp_path / "cut.db"
    with closing(sqlite3.connect(file)) as made, made:
        made.execute("CREATE TABLE facts (id INTEGER PRIMARY KEY, body BLOB)")
        made.executemany("INSERT INTO facts VALUES (?, ?)", [(number, b"x" * 400) for number in range(ROWS)])
    os.truncate(file, int(file.stat().st_size * share))
    before = file.read_bytes()
    with whole_file(file) as path, closing(sqlite3.connect(path)) as driver:
        (state,) = states(driver)
    assert 0.7 * share * ROWS < state.rows < ROWS
    assert state.gaps
    assert file.read_bytes() == before


def test_a_sound_table_has_no_gap(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "sound.db")) as driver:
        driver.execute("CREATE TABLE facts (id INTEGER PRIMARY KEY, name TEXT)")
        driver.executemany("INSERT INTO facts VALUES (?, ?)", [(number, "") for number in (0, 5, 9)])
        (state,) = states(driver)
    assert (state.table, state.rows, state.gaps) == ("facts", 3, ())


def test_a_run_of_which_only_the_name_is_left_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "dyno.db"
    Store.open(file).close()
    with closing(sqlite3.connect(file)) as store, store:
        for table in ("specs", "environments", "runs"):
            columns = store.execute(f"PRAGMA table_info({table})").fetchall()
            values = [1 if name == "id" else "{}" if kind == "JSON" else "1" for _, name, kind, *_ in columns]
            store.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
        store.execute("UPDATE runs SET suite = NULL")
    rescued = Store.rescue(file, tmp_path / "new.db")
    assert (rescued.runs, rescued.dropped, rescued.short) == (0, 1, ())


def test_a_gap_is_told_in_words() -> None:
    assert [str(Gap(-1, None)), str(Gap(-1, 4)), str(Gap(7, None)), str(Gap(7, 12))] == [
        "from the first on",
        "from the first on, before 4",
        "after 7",
        "after 7, before 12",
    ]


def test_where_the_list_of_tables_is_gone_nothing_is_written(tmp_path: Path) -> None:
    file = tmp_path / "dyno.db"
    Store.open(file).close()
    content = bytearray(file.read_bytes())
    content[100:4096] = b"\xff" * 3996
    file.write_bytes(content)
    (problem,) = Store.damage(file)
    assert problem.startswith("not even the list of its tables can be read")
    with pytest.raises(StoreError, match="nothing can be rescued"):
        Store.rescue(file, tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()
