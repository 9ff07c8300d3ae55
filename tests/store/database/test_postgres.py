"""What is true of a store in PostgreSQL only."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event, make_url

from agentdyno.errors import StoreError
from agentdyno.store import Store
from agentdyno.store.database.columns import escape, unescape

from ...postgres import LOCKED_PASSWORD, LOCKED_USER, Postgres
from ..builders import begin, finished, sample


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    with Store.open(postgres_url) as opened:
        yield opened


@contextmanager
def session(url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    parsed = make_url(url)
    with psycopg.connect(
        host=str(parsed.query["host"]), user=parsed.username, dbname=parsed.database, autocommit=True
    ) as connection:
        yield connection


@given(st.text(st.sampled_from("\x00\x10a0")) | st.text())
def test_text_that_the_server_cannot_hold_is_written_in_a_way_that_reads_back(text: str) -> None:
    written = escape(text)
    assert written is not None
    assert "\x00" not in written
    assert unescape(written) == text


def test_a_missing_psycopg_names_the_extra_that_brings_it() -> None:
    check = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from agentdyno.errors import StoreError\n"
        "from agentdyno.store import Store\n"
        "try: Store.open('postgresql://me:secret@host/db')\n"
        "except StoreError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert "needs psycopg" in done.stdout
    assert "pip install 'agentdyno[postgres]'" in done.stdout
    assert "secret" not in done.stdout


def test_a_store_in_a_file_does_not_load_psycopg(path: Path) -> None:
    check = (
        "import sys; from agentdyno.store import Store; Store.open(sys.argv[1]).close();"
        "print('psycopg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", check, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_server_that_refuses_is_explained() -> None:
    with pytest.raises(StoreError, match=r"cannot be reached: .*refused") as caught:
        Store.open("postgresql://me:s3cr3t@127.0.0.1:1/db")
    assert "pg_isready" in str(caught.value)
    assert "s3cr3t" not in str(caught.value)
    assert str(caught.value).startswith("postgresql://127.0.0.1:1/db: ")


def test_a_database_that_does_not_exist_comes_with_the_command_that_creates_it(postgres: Postgres) -> None:
    for use in (Store.open, Store.migrate):
        with pytest.raises(StoreError, match="there is no database 'nowhere'") as caught:
            use(postgres.url("nowhere"))
        assert f"`createdb -h {postgres.folder} -U postgres nowhere`" in (caught.value.remedy or "")


@pytest.mark.parametrize("password", ["wrong-pa55", None])
def test_a_wrong_password_is_explained_and_never_shown(
    postgres: Postgres, postgres_url: str, password: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGPASSWORD", raising=False)
    database = make_url(postgres_url).database or ""
    with pytest.raises(StoreError, match="does not let locked in") as caught:
        Store.open(postgres.url(database, LOCKED_USER, password))
    assert "PGPASSWORD" in (caught.value.remedy or "")
    assert "wrong-pa55" not in str(caught.value)


def test_passwords_are_in_no_url_that_is_shown(postgres: Postgres, postgres_url: str) -> None:
    database = make_url(postgres_url).database or ""
    postgres.execute(f"GRANT ALL ON SCHEMA public TO {LOCKED_USER}", database)
    for url in (
        postgres.url(database, LOCKED_USER, LOCKED_PASSWORD),
        postgres.url(database, LOCKED_USER) + f"&password={LOCKED_PASSWORD}",
    ):
        with Store.open(url) as store:
            assert LOCKED_PASSWORD not in store.url
            assert LOCKED_USER in store.url
            with pytest.raises(StoreError, match="store is damaged") as caught, store.session as session:
                session.connection.exec_driver_sql(f'SELECT * FROM "{LOCKED_PASSWORD}"')
            assert LOCKED_PASSWORD not in str(caught.value)


@pytest.mark.parametrize("url", ["postgresql://me:s3cr3t@host:port/db", "postgresql://me:s3cr3t@[::1/db"])
def test_a_url_that_cannot_be_read_does_not_show_its_password(url: str) -> None:
    with pytest.raises(StoreError, match="not a database URL") as caught:
        Store.open(url)
    assert "s3cr3t" not in str(caught.value)


def test_the_short_name_of_the_scheme_is_understood(postgres_url: str) -> None:
    with Store.open(postgres_url.replace("postgresql://", "postgres://")) as store:
        begin(store)
    with Store.open(postgres_url.replace("postgresql://", "postgresql+psycopg://"), must_exist=True) as store:
        assert len(store.runs.newest()) == 1


def test_an_empty_database_is_no_store_where_one_must_exist(postgres_url: str) -> None:
    with pytest.raises(StoreError, match="there is no store here"):
        Store.open(postgres_url, must_exist=True)


def test_a_database_of_someone_else_is_refused_and_left_alone(postgres_url: str) -> None:
    with session(postgres_url) as other:
        other.execute("CREATE TABLE invoices (id int)")
        with pytest.raises(StoreError, match=r"not an agentdyno store .*invoices"):
            Store.open(postgres_url)
        tables = other.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert tables == [("invoices",)]


def test_a_read_only_server_is_explained_and_reading_works(store: Store, postgres_url: str) -> None:
    run = begin(store)
    url = postgres_url + "&options=-c%20default_transaction_read_only%3Don"
    with Store.open(url, must_exist=True) as reader:
        assert reader.runs.load(run).name == "sorting"
        with pytest.raises(StoreError, match="read-only"):
            reader.runs.append(run, sample(0))
        with pytest.raises(StoreError, match="read-only"):
            reader.runs.reopen(run)


def test_a_user_without_rights_is_told_so(postgres: Postgres, store: Store, postgres_url: str) -> None:
    begin(store)
    database = make_url(postgres_url).database or ""
    with (
        pytest.raises(StoreError, match="may not do that"),
        Store.open(postgres.url(database, LOCKED_USER, LOCKED_PASSWORD), must_exist=True) as other,
    ):
        other.runs.newest()


def test_a_row_locked_by_another_process_is_explained_and_the_group_goes_on(postgres_url: str) -> None:
    with Store.open(postgres_url, busy_timeout_s=0.05) as store, session(postgres_url) as other:
        run = begin(store)
        store.runs.append(run, sample(0))
        other.execute("BEGIN")
        other.execute("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
        store.runs.append(run, sample(1))
        with pytest.raises(StoreError, match="locked: another process") as caught:
            begin(store, run[:-1] + "9")
        assert "pg_stat_activity" in (caught.value.remedy or "")
        other.execute("ROLLBACK")
        assert len(store.runs.recorded(run)) == 2


def test_a_deadlock_is_explained(store: Store, postgres_url: str) -> None:
    run = begin(store)
    with pytest.raises(StoreError, match="changed the same rows") as caught, store.session as session:
        session.connection.exec_driver_sql("DO $$ BEGIN RAISE deadlock_detected; END $$")
    assert "Try again" in (caught.value.remedy or "")
    with pytest.raises(StoreError, match="disk is full"), store.session as session:
        session.connection.exec_driver_sql("DO $$ BEGIN RAISE disk_full; END $$")
    store.runs.append(run, sample(0))


def test_a_server_that_goes_away_is_explained_and_what_was_committed_stays(store: Store, postgres_url: str) -> None:
    run = begin(store)
    store.runs.append(run, sample(0))
    store.runs.commit()
    store.runs.append(run, sample(1))
    with session(postgres_url) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND datname = current_database()"
        )
    with pytest.raises(StoreError, match="connection to the database was lost") as caught:
        store.runs.append(run, sample(2))
    assert "resume the run" in (caught.value.remedy or "")
    assert [row.run_id for row in store.runs.newest()] == [run]
    store.close()
    with Store.open(postgres_url, must_exist=True) as again:
        assert [one.iteration for one in again.runs.iter_samples(run)] == [0]


def test_a_value_that_the_server_refuses_leaves_the_group_as_it_was(store: Store) -> None:
    run = begin(store)
    store.runs.append(run, sample(0))
    with pytest.raises(StoreError, match="cannot be stored"):
        store.runs.append(run, replace(sample(1), process=2**40))
    with pytest.raises(StoreError, match="cannot be stored"):
        store.runs.append(run, replace(sample(1), seed=2**70))
    store.runs.append(run, sample(2))
    store.runs.commit()
    assert [one.iteration for one in store.runs.iter_samples(run)] == [0, 2]


def test_headers_are_synced_to_the_disk_and_samples_are_not(store: Store) -> None:
    seen: list[str] = []

    def watch(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith(("SET", "BEGIN", "COMMIT")):
            seen.append(statement)

    with store.session as session:
        event.listen(session.connection, "before_cursor_execute", watch)
    durable = ["SET synchronous_commit = on", "BEGIN", "COMMIT", "SET synchronous_commit = off"]
    run = begin(store)
    assert seen == durable
    seen.clear()
    store.runs.append(run, sample(0))
    store.runs.append(run, sample(1))
    store.runs.commit()
    assert seen == ["BEGIN", "COMMIT"]
    seen.clear()
    store.runs.finish(finished())
    assert seen == durable


def test_a_backup_can_be_restored_into_an_empty_database(postgres: Postgres, store: Store, tmp_path: Path) -> None:
    run = begin(store)
    store.runs.append(run, replace(sample(0), output="odd \x00 \udcff"))
    copy = tmp_path / "copies" / "store.dump"
    store.backup(copy)
    name = postgres.create_database()
    subprocess.run(
        [postgres.programs / "pg_restore", "-h", postgres.folder, "-U", "postgres", "-d", name, copy], check=True
    )
    with Store.open(postgres.url(name), must_exist=True) as restored:
        assert restored.runs.load(run) == store.runs.load(run)
    with pytest.raises(StoreError, match="would overwrite"):
        store.backup(copy)
    postgres.drop_database(name)


def test_a_backup_without_pg_dump_says_what_is_missing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("agentdyno.store.database.pg_dump.find_spec", lambda _name: None)
    with pytest.raises(StoreError, match="needs pg_dump, which is not here") as caught:
        store.backup(tmp_path / "copy")
    assert "on PATH" in (caught.value.remedy or "")
    assert not (tmp_path / "copy").exists()


def test_a_pg_dump_that_is_too_old_is_passed_over_for_a_newer_one(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old" / "pg_dump"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'pg_dump: error: aborting because of server version mismatch' >&2\nexit 1\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:/usr/bin:/bin")
    begin(store)
    store.backup(tmp_path / "copy")
    assert (tmp_path / "copy").stat().st_size > 0
    monkeypatch.setenv("PATH", str(old.parent) + ":/nowhere")
    monkeypatch.setattr("agentdyno.store.database.pg_dump.find_spec", lambda _name: None)
    with pytest.raises(StoreError, match="version mismatch") as caught:
        store.backup(tmp_path / "second")
    assert "at least as new as the server" in (caught.value.remedy or "")


def test_a_failed_backup_leaves_no_file_and_no_password(
    postgres: Postgres, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = make_url(postgres_url).database or ""
    postgres.execute(f"GRANT ALL ON SCHEMA public TO {LOCKED_USER}", database)
    broken = tmp_path / "bin" / "pg_dump"
    broken.parent.mkdir()
    broken.write_text('#!/bin/sh\necho "cannot: $PGPASSWORD" >&2\nexit 3\n')
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken.parent}:/usr/bin:/bin")
    url = postgres.url(database, LOCKED_USER, LOCKED_PASSWORD)
    with Store.open(url) as store, pytest.raises(StoreError, match=r"backup failed: cannot: \*\*\*"):
        store.backup(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_vacuum_gives_space_back_and_says_how_much(store: Store) -> None:
    run = begin(store)
    for iteration in range(5_000):
        store.runs.append(run, sample(iteration))
    store.runs.commit()
    with store.session as session:
        session.connection.exec_driver_sql("DELETE FROM samples")
    before, after = store.vacuum()
    assert after < before - 1_000_000
    assert store.runs.load(run).name == "sorting"


def test_a_closed_store_says_so(store: Store) -> None:
    run = begin(store)
    store.runs.append(run, sample(0))
    store.close()
    store.close()
    for use in (lambda: store.runs.append(run, sample(1)), store.runs.newest, lambda: store.runs.reopen(run)):
        with pytest.raises(StoreError, match="the store is closed"):
            use()
