from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from agentdyno.errors import StoreError
from agentdyno.store import Store

from .builders import FIRST_ID, begin, finished, run_id, sample

WRITER = Path(__file__).with_name("writer.py")


def start_writer(*arguments: object) -> subprocess.Popen[str]:
    """A writer that has opened the store and waits for a line before it writes."""
    command = [sys.executable, str(WRITER), *map(str, arguments)]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    return writer


def go(writer: subprocess.Popen[str]) -> None:
    assert writer.stdin is not None
    writer.stdin.write("go\n")
    writer.stdin.flush()


def iterations(store: Store, run: str) -> list[int]:
    return [s.iteration for arm in store.runs.load(run).arms for s in arm.samples]


def test_a_writer_killed_right_after_a_commit_loses_nothing_that_was_committed(store_url: str) -> None:
    with Store.open(store_url) as store:
        run = begin(store)
    with start_writer(store_url, run, "arm-z", 0, 50, "die") as writer:
        writer.communicate("go\n")
    assert writer.returncode == -signal.SIGKILL
    with Store.open(store_url, must_exist=True) as store:
        assert iterations(store, run) == list(range(50))
        store.runs.append(run, sample(50))
        store.runs.commit()


def test_two_processes_write_at_the_same_time(store_url: str) -> None:
    with Store.open(store_url, busy_timeout_s=60) as store:
        first, second = begin(store, run_id(1)), begin(store, run_id(2))
        with (
            start_writer(store_url, first, "arm-z", 0, 400) as one,
            start_writer(store_url, second, "arm-a", 0, 400) as two,
        ):
            go(one)
            go(two)
            for iteration in range(1_000, 1_100):
                store.runs.append(first, sample(iteration))
                store.runs.commit()
        assert (one.returncode, two.returncode) == (0, 0)
        assert iterations(store, first) == [*range(400), *range(1_000, 1_100)]
        assert iterations(store, second) == list(range(400))


def test_processes_that_create_the_same_store_at_once_all_succeed(store_url: str) -> None:
    create = (
        "import sys; from agentdyno.store.store import Store; print('ready', flush=True); sys.stdin.readline();"
        "Store.open(sys.argv[1], busy_timeout_s=60).close()"
    )
    command = [sys.executable, "-c", create, store_url]
    creators = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for creator in creators:
        assert creator.stdout is not None
        creator.stdout.readline()
    for creator in creators:
        go(creator)
    for creator in creators:
        with creator:
            creator.communicate()
    assert [creator.returncode for creator in creators] == [0, 0, 0, 0]
    with Store.open(store_url, must_exist=True) as store:
        begin(store)


def test_threads_share_a_store(store: Store) -> None:
    run = begin(store)
    failures: list[Exception] = []

    def write(first: int) -> None:
        try:
            for iteration in range(first, first + 200):
                store.runs.append(run, sample(iteration))
                store.runs.commit()
        except StoreError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(first,)) for first in (0, 1_000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert iterations(store, run) == [*range(200), *range(1_000, 1_200)]


def test_other_processes_see_samples_after_the_commit_and_not_before(store: Store, new_store_url: str) -> None:
    run = begin(store)
    with Store.open(new_store_url) as other:
        store.runs.append(run, sample(0))
        assert other.runs.recorded(run) == {}
        store.runs.commit()
        assert len(other.runs.recorded(run)) == 1


def test_samples_appended_before_an_interruption_are_kept(store_url: str) -> None:
    def interrupted() -> None:
        with Store.open(store_url) as store:
            store.runs.append(begin(store), sample(0))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with Store.open(store_url) as store:
        assert iterations(store, FIRST_ID) == [0]


def test_headers_are_synced_to_the_disk_and_samples_are_not(path: Path) -> None:
    seen: list[str] = []
    store = Store.open(path)
    with store.session as session:
        driver = cast(sqlite3.Connection, session.connection.connection.dbapi_connection)
    driver.set_trace_callback(lambda sql: seen.append(sql) if sql.startswith(("PRAGMA", "BEGIN", "COMMIT")) else None)
    durable = ["PRAGMA synchronous = FULL", "BEGIN IMMEDIATE", "COMMIT", "PRAGMA synchronous = NORMAL"]
    run = begin(store)
    assert seen == durable
    seen.clear()
    store.runs.append(run, sample(0))
    store.runs.append(run, sample(1))
    store.runs.commit()
    assert seen == ["BEGIN IMMEDIATE", "COMMIT"]
    seen.clear()
    store.runs.finish(finished())
    assert seen == durable
    store.close()


def test_a_backup_taken_while_others_write_is_a_whole_store(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copies" / "copy.db"
    with Store.open(path) as store:
        run = begin(store)
        for iteration in range(1_000, 3_000):
            store.runs.append(run, sample(iteration))
        with start_writer(path, run, "arm-a", 0, 300) as writer:
            store.runs.commit()
            go(writer)
            store.backup(copy)
        assert writer.returncode == 0
        total = len(iterations(store, run))
    with closing(sqlite3.connect(copy)) as check:
        assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with Store.open(copy, must_exist=True) as kept:
        arm_z, arm_a = kept.runs.load(run).arms
        assert len(arm_z.samples) == 2_000
        assert [s.iteration for s in arm_a.samples] == list(range(len(arm_a.samples)))
    assert total == 2_300


def test_a_backup_never_overwrites(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("keep me")
    with pytest.raises(StoreError, match="would overwrite"):
        store.backup(target)
    assert target.read_text() == "keep me"
    with pytest.raises(StoreError, match="cannot be written"):
        store.backup(target / "below")


def test_vacuum_gives_space_back_and_says_how_much(path: Path) -> None:
    with Store.open(path) as store:
        run = begin(store)
        for iteration in range(5_000):
            store.runs.append(run, sample(iteration))
        store.runs.commit()
        with store.session as session:
            session.connection.exec_driver_sql("DELETE FROM samples")
        before, after = store.vacuum()
        assert after < before / 3
        assert store.runs.load(run).name == "sorting"
