"""A database that goes away and comes back: an error for whoever is using it, and then the store works again."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from agentdyno.errors import StoreError
from agentdyno.model.job import JobStatus, Scope
from agentdyno.store import Store

from ..postgres import Postgres, _identity, running_postgres
from .builders import begin, finished, run_id, sample
from .job_builders import LEASE_MS, NOW, job, job_id, lease

LOST = "connection to the database was lost"
GONE = "what was written last is lost"


def control(server: Postgres, *words: str, check: bool = True) -> None:
    """``pg_ctl``; its ``restart`` also starts a server that was stopped, with the settings it had."""
    command = [str(server.programs / "pg_ctl"), *words, "-D", str(server.folder / "data"), "-w", "-s"]
    subprocess.run(command, cwd=server.folder, check=check, stdin=subprocess.DEVNULL, **_identity())


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """A server that the test may stop."""
    with running_postgres() as server:
        yield server
        control(server, "stop", "-m", "immediate", check=False)


def end_sessions(postgres: Postgres, url: str) -> None:
    database = url.rpartition("@/")[2].partition("?")[0]
    postgres.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'")


def iterations(store: Store, run: str) -> list[int]:
    return [one.iteration for one in store.runs.iter_samples(run)]


def test_a_store_works_again_after_the_server_was_restarted(own_server: Postgres) -> None:
    log = str(own_server.folder / "second-log")
    with Store.open(own_server.url(own_server.create_database())) as store:
        run = begin(store)
        store.service.add_job(job())
        taken = lease(store)
        store.runs.append(run, sample(0))
        store.runs.commit()
        control(own_server, "restart", "-m", "fast", "-l", log)
        with pytest.raises(StoreError, match=LOST):
            store.service.heartbeat_job(taken.job_id, 1, now_ms=NOW, lease_ms=LEASE_MS)
        assert store.service.heartbeat_job(taken.job_id, 1, now_ms=NOW, lease_ms=LEASE_MS) is False
        store.runs.append(run, sample(1))
        store.runs.commit()
        assert iterations(store, run) == [0, 1]
        control(own_server, "stop", "-m", "immediate")
        for _ in range(3):
            with pytest.raises(StoreError, match=LOST) as caught:
                store.ping()
            assert caught.value.__cause__ is not None
        control(own_server, "restart", "-l", log)
        store.ping()
        assert (
            store.service.finish_job(taken.job_id, 1, JobStatus.SUCCEEDED, now_ms=NOW).status is JobStatus.SUCCEEDED
        )


def test_a_store_can_be_closed_while_the_server_is_away(own_server: Postgres) -> None:
    store = Store.open(own_server.url(own_server.create_database()))
    begin(store)
    control(own_server, "stop", "-m", "fast")
    with pytest.raises(StoreError, match=LOST):
        store.ping()
    store.close()
    with pytest.raises(StoreError, match="the store is closed"):
        store.ping()
    control(own_server, "restart", "-l", str(own_server.folder / "second-log"))


def test_every_kind_of_use_recovers_by_itself(postgres: Postgres, postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        run = begin(store)
        _, secret = store.service.add_key("ci", Scope.RUN, NOW)
        store.runs.append(run, sample(0))
        store.runs.commit()
        uses = (
            store.ping,
            store.runs.newest,
            store.boards.generation,
            lambda: store.runs.load(run),
            lambda: store.service.add_job(job(1)),
            lambda: store.service.find_key(secret, NOW),
            lambda: store.runs.reopen(run),
            lambda: list(store.runs.iter_samples(run)),
            lambda: store.runs.append(run, sample(1)),
        )
        for use in uses:
            end_sessions(postgres, postgres_url)
            with pytest.raises(StoreError, match=LOST):
                use()
            use()
        assert [item.job_id for item in store.service.jobs()] == [job_id(1)]
        assert iterations(store, run) == [0, 1]


def test_what_is_written_after_a_lost_connection_is_synced_to_the_disk_as_before(
    postgres: Postgres, postgres_url: str
) -> None:
    with Store.open(postgres_url) as store:
        end_sessions(postgres, postgres_url)
        with pytest.raises(StoreError, match=LOST):
            store.service.add_job(job(1))
        store.service.add_job(job(1))
        with store.session as session:
            assert session.connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "off"
            assert session.connection.exec_driver_sql("SHOW lock_timeout").scalar() == "5s"


@pytest.mark.parametrize("writes", ["append", "commit", "finish"])
def test_samples_that_were_lost_are_not_passed_over_because_another_thread_met_the_error(
    postgres: Postgres, postgres_url: str, writes: str
) -> None:
    with Store.open(postgres_url) as store:
        run = begin(store)
        store.runs.append(run, sample(0))
        end_sessions(postgres, postgres_url)
        with pytest.raises(StoreError, match=LOST):
            store.ping()
        store.ping()
        store.service.add_job(job(1))
        uses: dict[str, Callable[[], None]] = {
            "append": lambda: store.runs.append(run, sample(1)),
            "commit": store.runs.commit,
            "finish": lambda: store.runs.finish(finished()),
        }
        use = uses[writes]
        with pytest.raises(StoreError, match=GONE) as caught:
            use()
        assert "Resume the run" in (caught.value.remedy or "")
        use()
        store.runs.append(run, sample(2))
        store.runs.commit()
        assert iterations(store, run) == ([1, 2] if writes == "append" else [2])


def test_who_appends_is_told_once_that_the_connection_was_lost(postgres: Postgres, postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        run = begin(store)
        store.runs.append(run, sample(0))
        end_sessions(postgres, postgres_url)
        with pytest.raises(StoreError, match=LOST):
            store.runs.append(run, sample(1))
        for iteration in (0, 1):
            store.runs.append(run, sample(iteration))
        store.runs.commit()
        assert iterations(store, run) == [0, 1]
        store.runs.append(run, sample(2))
        end_sessions(postgres, postgres_url)
        with pytest.raises(StoreError, match=LOST):
            store.runs.commit()
        store.runs.commit()
        assert iterations(store, run) == [0, 1]


def test_closing_says_that_samples_are_lost_where_nobody_was_told(postgres: Postgres, postgres_url: str) -> None:
    store = Store.open(postgres_url)
    store.runs.append(begin(store), sample(0))
    end_sessions(postgres, postgres_url)
    with pytest.raises(StoreError, match=LOST):
        store.runs.newest()
    with pytest.raises(StoreError, match=GONE):
        store.close()
    store.close()


def test_threads_that_share_a_store_all_go_on_after_a_lost_connection(postgres: Postgres, postgres_url: str) -> None:
    with Store.open(postgres_url) as store:
        store.service.add_job(job(1))
        refused: list[str] = []
        answers: list[int] = []

        def ask() -> None:
            for _ in range(20):
                try:
                    answers.append(len(store.service.jobs()))
                except StoreError as error:
                    refused.append(error.message)

        end_sessions(postgres, postgres_url)
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == 1
        assert answers == [1] * 79


def test_a_store_that_was_closed_does_not_connect_again(store: Store) -> None:
    store.close()
    for use in (
        store.ping,
        store.service.jobs,
        lambda: store.service.add_job(job()),
        lambda: store.service.find_key("dyno_x", NOW),
    ):
        with pytest.raises(StoreError, match="the store is closed"):
            use()


def test_a_store_that_answers_is_ready(store: Store) -> None:
    store.ping()


def test_a_store_that_was_brought_to_another_revision_is_not_ready(store: Store) -> None:
    with store.session as session:
        session.connection.exec_driver_sql("UPDATE agentdyno_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="revision 9999, which is newer"):
        store.ping()


def test_a_file_that_is_damaged_is_not_ready(path: Path) -> None:
    with Store.open(path) as store:
        with store.session as session:
            session.connection.exec_driver_sql("DROP TABLE agentdyno_version")
        with pytest.raises(StoreError, match="the store is damaged"):
            store.ping()


@contextmanager
def interrupted_at(statement: int) -> Iterator[list[str]]:
    """Somebody presses Ctrl-C during so manieth statement; which ones were executed."""
    seen: list[str] = []

    def note(*told: object) -> None:
        seen.append(str(told[2]))
        if len(seen) == statement:
            raise KeyboardInterrupt

    event.listen(Engine, "after_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "after_cursor_execute", note)


@pytest.mark.parametrize("during", ["begin", "finish"])
def test_an_interrupt_in_the_middle_of_a_write_is_one_and_the_store_works_on(store: Store, during: str) -> None:
    """At each of its statements."""
    for place in count(1):
        run, other = run_id(2 * place), run_id(2 * place + 1)
        if during == "finish":
            begin(store, run)
        write: Callable[[], object] = partial(begin if during == "begin" else close, store, run)
        interrupted = False
        with interrupted_at(place) as seen:
            try:
                write()
            except KeyboardInterrupt:
                interrupted = True
        assert interrupted == (len(seen) >= place)
        if not interrupted:
            break
        begin(store, other)
        store.runs.append(other, sample(0))
        store.runs.commit()
        close(store, other)
        assert iterations(store, other) == [0]
    assert place > 3


def close(store: Store, run: str) -> None:
    store.runs.finish(replace(finished(), run_id=run))
