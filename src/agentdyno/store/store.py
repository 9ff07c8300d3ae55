"""The store as the rest of the program sees it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from agentdyno.errors import StoreError
from agentdyno.store.database import revision
from agentdyno.store.database.backend import Backend, backend_for
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.repository import RunRepository

if TYPE_CHECKING:
    from agentdyno.store.boards.repository import BoardRepository
    from agentdyno.store.database.rescue import Rescued
    from agentdyno.store.judging.repository import JudgingRepository
    from agentdyno.store.service.repository import ServiceRepository

BUSY_TIMEOUT_S = 5.0


class Store:
    """Runs with their samples, what agents achieved in suites, and the jobs and keys of a service.

    Any number of processes may read and write one store; each writes for as long as it takes to commit. Within a
    process, threads may share a ``Store`` and take turns. Whatever goes wrong with the database is a
    ``StoreError``. A lost connection is one such error; the next call connects anew.
    """

    leased = False
    """Whether what is written belongs to a job: its lease then decides who may write."""

    def __init__(self, session: DatabaseSession, on_run: Callable[[str], None] = lambda _: None) -> None:
        """Use ``Store.open``. ``on_run`` is told the id of a run before the run is begun."""
        self.session = session
        self.url = session.backend.url
        self.runs = RunRepository(session, on_run)

    @cached_property
    def boards(self) -> BoardRepository:
        """Executions and summaries; loaded when first asked, for most runs ask nothing."""
        from agentdyno.store.boards.repository import BoardRepository

        return BoardRepository(self.session)

    @cached_property
    def service(self) -> ServiceRepository:
        """Jobs, keys and workers; loaded when first asked."""
        from agentdyno.store.service.repository import ServiceRepository

        return ServiceRepository(self.session)

    @cached_property
    def judging(self) -> JudgingRepository:
        """Marks of people and calibrations of judges; loaded when first asked."""
        from agentdyno.store.judging.repository import JudgingRepository

        return JudgingRepository(self.session)

    @classmethod
    def open(cls, url: str | Path, *, must_exist: bool = False, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Store:
        """The store at a URL or at the path of an SQLite file; created there unless it ``must_exist``.

        A write waits ``busy_timeout_s`` seconds for other writers before it fails.
        """
        backend = backend_for(url)
        if must_exist and not backend.exists():
            raise _missing(backend)
        if not must_exist:
            backend.make_room()
        session = DatabaseSession(backend, busy_timeout_s)
        try:
            with session:
                found = revision.current(session)
                if found is None:
                    if must_exist:
                        raise _missing(backend)
                    revision.create(session)
                    found = revision.current(session) or ""
                revision.require_current(found, backend.where)
        except BaseException:
            session.close()
            raise
        return cls(session)

    @classmethod
    def migrate(cls, url: str | Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> tuple[str | None, str]:
        """Brings the store at ``url`` up to date; the schema revisions before (``None``: empty) and after."""
        backend = backend_for(url)
        if not backend.exists():
            raise _missing(backend)
        session = DatabaseSession(backend, busy_timeout_s)
        try:
            with session:
                return revision.upgrade(session)
        finally:
            session.close()

    @classmethod
    def copy(cls, url: str | Path, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        """``backup`` of a store of whatever revision: an older one is copied before it is migrated."""
        backend = backend_for(url)
        if not backend.exists():
            raise _missing(backend)
        session = DatabaseSession(backend, busy_timeout_s)
        try:
            with session:
                if revision.current(session) is None:
                    raise _missing(backend)
                backend.backup(path)
        finally:
            session.close()

    def ping(self) -> None:
        """Fails with a ``StoreError`` unless the database answers and its schema is the one known here; cheap."""
        with self.session as session:
            revision.require_current(revision.read(session), session.backend.where)

    def backup(self, path: Path) -> None:
        """Writes a consistent copy of everything committed, while others may go on writing; never overwrites."""
        with self.session as session:
            session.commit()
            session.backend.backup(path)

    @classmethod
    def damage(cls, url: str | Path) -> Iterator[str]:
        """What is damaged, each in a sentence: first what of the database's files cannot be read, then runs that
        cannot be understood. Reads everything."""
        backend = backend_for(url)
        if not backend.exists():
            raise _missing(backend)
        found = backend.problems()
        yield from found
        try:
            with cls.open(url, must_exist=True) as store:
                yield from store._unreadable_runs()
        except StoreError:
            if not found:  # else it has been said
                raise

    def _unreadable_runs(self) -> Iterator[str]:
        for row in self.runs.newest(sys.maxsize >> 1):
            try:
                self.runs.load(row.run_id, samples=False)
                for _ in self.runs.iter_samples(row.run_id, details=True):
                    pass
            except StoreError as error:
                yield error.message

    @classmethod
    def rescue(cls, url: str | Path, path: Path) -> Rescued:
        """Writes what can be read of a damaged store to a new one at ``path``, with its summaries made anew."""
        backend = backend_for(url)
        if not backend.exists():
            raise _missing(backend)
        rescued = backend.rescue(path)
        cls.migrate(path)  # one of an earlier revision is rescued as it is
        with cls.open(path, must_exist=True) as store:
            store.boards.rebuild_summaries()
        return rescued

    def copy_open(self, path: Path) -> None:
        """As ``backup``, of what this connection has written, even where the store's file has lost its name."""
        with self.session as session:
            session.backend.copy_open(session.connection, path)

    def vacuum(self) -> tuple[int, int]:
        """Gives unused space back; bytes on disk before and after."""
        with self.session as session:
            session.commit()
            return session.backend.vacuum(session.connection)

    def close(self) -> None:
        """Commits what was appended and lets go of the database."""
        self.session.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except StoreError:
            if error is None:  # else the first error says what happened
                raise


def _missing(backend: Backend) -> StoreError:
    return StoreError(
        "there is no store here",
        where=backend.where,
        remedy="`dyno run FILE` creates one; --store or DYNO_STORE names another.",
    )
