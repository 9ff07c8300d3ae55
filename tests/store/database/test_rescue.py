"""What can be read of a damaged file is read, and what cannot lies in a gap that is named."""

from __future__ import annotations

import os
import random
import resource
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from agentdyno.errors import StoreError
from agentdyno.store import Store
from agentdyno.store.database.rescue import Gap, readable, states, whole_file

ROWS = 2_000
GOLDEN = Path(__file__).parents[2] / "golden" / "data" / "stores"


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


def no_store(folder: Path, kind: str) -> Path:
    """What may lie where a store is looked for."""
    file = folder / "dyno.db"
    if kind == "a folder":
        file.mkdir()
    elif kind == "an empty file":
        file.touch()
    elif kind == "a program":
        file.write_bytes(b"\x7fELF" + bytes(8192))
    else:
        with closing(sqlite3.connect(file)) as made:
            made.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)")
    return file


@pytest.mark.parametrize("kind", ["a folder", "an empty file", "a program", "somebody else's database"])
def test_what_is_no_store_is_neither_checked_nor_rescued_and_nothing_is_left(tmp_path: Path, kind: str) -> None:
    file = no_store(tmp_path, kind)
    if kind == "a program":  # as far as anybody can tell, it was a store once
        assert list(Store.damage(file)) == ["not even the list of its tables can be read: file is not a database"]
    else:
        with pytest.raises(StoreError) as refused:
            list(Store.damage(file))
        assert refused.value.remedy
    with pytest.raises(StoreError) as refused:
        Store.rescue(file, tmp_path / "new.db")
    assert refused.value.remedy
    assert not (tmp_path / "new.db").exists()


def test_a_store_of_an_earlier_revision_is_rescued_and_brought_up_to_date(tmp_path: Path) -> None:
    file = tmp_path / "dyno.db"
    with closing(sqlite3.connect(file)) as made:
        made.executescript((GOLDEN / "0001.sql").read_text("utf-8"))
        (samples,) = made.execute("SELECT count(*) FROM samples").fetchone()
    rescued = Store.rescue(file, tmp_path / "new.db")
    assert (rescued.samples, rescued.gaps, rescued.short) == (samples, {}, ())
    with Store.open(tmp_path / "new.db", must_exist=True) as store:
        assert len(store.runs.newest()) == rescued.runs > 0


@pytest.mark.parametrize("copy", [Store.rescue, Store.copy])
def test_where_a_copy_does_not_fit_it_says_so_of_the_copy_and_leaves_none(
    tmp_path: Path, copy: Callable[[Path, Path], object]
) -> None:
    file = tmp_path / "dyno.db"
    Store.open(file).close()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, before[1]))  # more than the index of the log
        with pytest.raises(StoreError, match="the copy cannot be written") as refused:
            copy(file, tmp_path / "new.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert refused.value.where == str(tmp_path / "new.db")
    assert [path.name for path in tmp_path.glob("new.db*")] == []


def test_damage_that_sqlite_quotes_in_its_own_message_is_said_like_any_other(tmp_path: Path) -> None:
    """Its message is bytes of the file then, which are no text."""
    file = tmp_path / "dyno.db"
    Store.open(file).close()
    content = file.read_bytes()
    broken = content.replace(b"CREATE TABLE agentdyno_version", b"CREATE TABLX \xb7\xffentdyno_version")
    assert broken != content
    file.write_bytes(broken)
    (problem,) = Store.damage(file)
    assert problem.startswith("not even the list of its tables can be read")
    for ask in (lambda: Store.open(file), lambda: Store.rescue(file, tmp_path / "new.db")):
        with pytest.raises(StoreError) as refused:
            ask()
        assert "store rescue NEW.db" in str(refused.value) or "nothing can be rescued" in str(refused.value)


def test_a_document_that_is_no_json_is_found_in_whatever_table_it_is(tmp_path: Path) -> None:
    file = tmp_path / "dyno.db"
    with Store.open(file) as store:
        store.service.note_worker("one", {"agent"}, {"suite"}, 1)
    with closing(sqlite3.connect(file)) as damaging, damaging:
        damaging.execute("UPDATE workers SET agents = '{cut o'")
    assert list(Store.damage(file)) == ["workers: of 1 rows agents cannot be read, the first is row 1"]
