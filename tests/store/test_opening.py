from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.errors import StoreError
from agentdyno.store import Store, default_url
from agentdyno.store.database import revision
from agentdyno.store.runs.schema import REVISIONS, VERSION_TABLE

from .builders import begin, sample


def remedy_of(caught: pytest.ExceptionInfo[StoreError]) -> str:
    return caught.value.remedy or ""


def test_a_missing_store_is_created_with_its_folder(tmp_path: Path) -> None:
    with Store.open(tmp_path / "deep" / "er" / "dyno.db") as store:
        assert store.runs.newest() == []
        assert store.url.startswith("sqlite:///")


@pytest.mark.parametrize("form", ["path", "text", "url"])
def test_a_store_is_named_by_path_or_url(tmp_path: Path, form: str) -> None:
    path = tmp_path / "a store? 100%41" / "dyno.db"
    url = default_url(tmp_path, {"DYNO_STORE": str(path)})
    forms: dict[str, str | Path] = {"path": path, "text": str(path), "url": url}
    with Store.open(forms[form]) as store:
        begin(store)
    assert path.is_file()
    with Store.open(path, must_exist=True) as store:
        assert len(store.runs.newest()) == 1


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    with Store.open(path) as store:
        begin(store)


@pytest.mark.parametrize("empty", [True, False])
def test_a_store_that_must_exist_and_does_not_is_refused_and_not_created(tmp_path: Path, empty: bool) -> None:
    path = tmp_path / "folder" / "dyno.db"
    if empty:
        path.parent.mkdir()
        path.touch()
    with pytest.raises(StoreError, match=r"dyno\.db: there is no store here") as caught:
        Store.open(path, must_exist=True)
    assert "dyno run" in remedy_of(caught)
    assert path.exists() == empty


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="folder of the store cannot be created") as caught:
        Store.open(tmp_path / "file" / "below" / "dyno.db")
    assert "DYNO_STORE" in remedy_of(caught)


def test_a_folder_in_place_of_the_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        Store.open(tmp_path)
    assert "file in a folder" in remedy_of(caught)


def test_a_file_that_is_not_sqlite_is_explained_and_left_alone(path: Path) -> None:
    path.write_text("name: not a database\n" * 100)
    with pytest.raises(StoreError, match="not a SQLite database"):
        Store.open(path)
    assert path.read_text().startswith("name: not a database")


@pytest.mark.parametrize("table", ["invoices", "alembic_version"])
def test_a_database_of_someone_else_is_refused_and_left_alone(path: Path, table: str) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"CREATE TABLE {table} (version_num TEXT)")
    with pytest.raises(StoreError, match=f"not an agentdyno store .*{table}"):
        Store.open(path)
    with closing(sqlite3.connect(path)) as other:
        assert [row[0] for row in other.execute("SELECT name FROM sqlite_master")] == [table]


def test_a_newer_store_asks_for_a_newer_agentdyno(path: Path) -> None:
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    for use in (Store.open, Store.migrate):
        with pytest.raises(StoreError, match="revision 9999, which is newer") as caught:
            use(path)
        assert remedy_of(caught) == "Upgrade agentdyno."


def test_an_older_store_asks_to_be_migrated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store.open(path).close()
    monkeypatch.setattr(revision, "HEAD", "0009")
    monkeypatch.setattr(revision, "REVISIONS", (*REVISIONS, "0009"))
    with pytest.raises(StoreError, match=f"has schema revision {REVISIONS[-1]}") as caught:
        Store.open(path)
    assert "dyno store migrate" in remedy_of(caught)


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_a_truncated_store_is_called_damaged(path: Path, keep: float) -> None:
    with Store.open(path) as store:
        run = begin(store)
        for i in range(500):
            store.runs.append(run, sample(i))
    size = path.stat().st_size
    os.truncate(path, int(size * keep))
    with pytest.raises(StoreError, match="damaged") as caught, Store.open(path) as store:
        store.runs.load(store.runs.find("last"))
    assert "dyno store backup" in remedy_of(caught)


def test_a_store_that_lost_a_table_is_called_damaged(path: Path) -> None:
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as other:
        other.execute("DROP TABLE samples")
    with Store.open(path) as store:
        run = begin(store)
        with pytest.raises(StoreError, match="damaged: no such table: samples"):
            store.runs.append(run, sample(0))


def test_writing_to_a_read_only_store_is_explained_and_reading_works(path: Path) -> None:
    with Store.open(path) as store:
        run = begin(store)
    with Store.open(f"sqlite:///file:{path}?mode=ro&uri=true", must_exist=True) as store:
        assert store.runs.load(run).name == "sorting"
        with pytest.raises(StoreError, match="read-only") as caught:
            store.runs.append(run, sample(0))
        assert "writable" in remedy_of(caught)


def test_a_store_locked_by_another_process_is_explained(path: Path) -> None:
    with Store.open(path) as store:
        run = begin(store)
    hold = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.read()"
    )
    arguments = [sys.executable, "-c", hold, str(path)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with Store.open(path, busy_timeout_s=0.01) as store:
            assert store.runs.load(run).name == "sorting"
            with pytest.raises(StoreError, match="locked: another process") as caught:
                store.runs.append(run, sample(0))
            assert "Wait for the other dyno" in remedy_of(caught)
            with pytest.raises(StoreError, match="locked: another process"):
                store.runs.reopen(run)
            holder.communicate("")
            store.runs.append(run, sample(0))
            store.runs.commit()
            assert len(store.runs.recorded(run)) == 1


def test_a_full_disk_is_explained_and_what_was_committed_stays(path: Path) -> None:
    with Store.open(path) as store:
        run = begin(store)
        store.runs.append(run, sample(0))
        store.runs.commit()
        with store.session as session:
            pages = session.connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            session.connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreError, match="disk is full") as caught:
            store.runs.append(run, replace(sample(1), output="x" * 100_000))
        assert "resume the run" in remedy_of(caught)
        assert len(store.runs.recorded(run)) == 1


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://me:secret@host/db", "stores in mysql are not supported"),
        ("mysql://me:secret@host:x/db", "not a database URL"),
        ("nonsense://x", "not supported|not a database URL"),
        ("sqlite:///:memory:", "needs a file"),
        ("sqlite://", "needs a file"),
        ("://", "not a database URL"),
    ],
)
def test_a_url_that_names_no_usable_store_is_refused(url: str, message: str) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        Store.open(url)
    assert "sqlite:///" in remedy_of(caught)
    assert "secret" not in str(caught.value)


def test_a_closed_store_says_so(path: Path) -> None:
    store = Store.open(path)
    run = begin(store)
    store.runs.append(run, sample(0))
    store.close()
    store.close()
    for use in (lambda: store.runs.append(run, sample(1)), store.runs.newest, lambda: store.runs.reopen(run)):
        with pytest.raises(StoreError, match="the store is closed"):
            use()
    with Store.open(path) as again:
        assert len(again.runs.recorded(run)) == 1


def test_opening_a_store_that_is_up_to_date_does_not_load_alembic(path: Path) -> None:
    Store.open(path).close()
    check = (
        "import sys; from agentdyno.store import Store; Store.open(sys.argv[1], must_exist=True).close();"
        "print('alembic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", check, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_naming_the_default_store_does_not_load_the_database_library() -> None:
    check = (
        "import sys; from pathlib import Path; from agentdyno.store import RunRow, default_url;"
        "default_url(Path.cwd(), {}); print('sqlalchemy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_default_store_is_the_nearest_one_upward(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "src" / "deep"
    inner.mkdir(parents=True)
    assert default_url(inner, {}) == f"sqlite:///{inner}/.dyno/dyno.db"
    Store.open(default_url(tmp_path / "project", {})).close()
    assert default_url(inner, {}) == f"sqlite:///{tmp_path}/project/.dyno/dyno.db"
    (inner / ".dyno").mkdir()
    assert default_url(inner, {}) == f"sqlite:///{tmp_path}/project/.dyno/dyno.db"


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ("sqlite:////else/where.db", "sqlite:////else/where.db"),
        ("/else/where.db", "sqlite:////else/where.db"),
        ("near.db", "sqlite:////start/near.db"),
        ("  ", "sqlite:////start/.dyno/dyno.db"),
    ],
)
def test_the_environment_decides_which_store_is_the_default(chosen: str, expected: str) -> None:
    assert default_url(Path("/start"), {"DYNO_STORE": chosen}) == expected
