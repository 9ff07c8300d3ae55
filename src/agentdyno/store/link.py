"""The one connection of a store: its transactions, and the one place where driver errors become ours."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from sqlalchemy import CursorResult, Executable, Insert
from sqlalchemy.exc import SQLAlchemyError

from agentdyno.errors import DynoError, StoreError
from agentdyno.store.backend import Backend

Row = Mapping[str, object]


class Statement:
    """An insert compiled once, run on the driver's own cursor: the fast path for many small rows."""

    def __init__(self, insert: Insert, columns: Sequence[str], link: Link) -> None:
        connection = link.connection
        compiled = insert.compile(dialect=connection.dialect, column_keys=list(columns))
        self._sql = str(compiled)
        self._order: list[str] | None = getattr(compiled, "positiontup", None)
        self._cursor = connection.connection.cursor()
        self._link = link

    def run(self, row: Row) -> int:
        """The number of rows that were written. A row that is refused leaves the transaction as it was."""
        adapted = self._link.backend.adapted(row)
        values = adapted if self._order is None else [adapted[name] for name in self._order]
        if self._link.backend.savepoints:
            with self._link.guard():
                self._cursor.execute(self._sql, values)
        else:
            self._cursor.execute(self._sql, values)
        return self._cursor.rowcount


class Link:
    """Used by one thread at a time: ``with link:`` takes the lock and turns driver errors into ``StoreError``."""

    def __init__(self, backend: Backend, busy_timeout_s: float) -> None:
        self.backend = backend
        self.busy_timeout_s = busy_timeout_s
        self._lock = threading.RLock()
        self._guarded = False
        self._engine = backend.engine(busy_timeout_s)
        with self:
            self.connection = self._engine.connect()

    def __enter__(self) -> Link:
        self._lock.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
        if error is None or isinstance(error, DynoError):
            return
        if isinstance(error, (SQLAlchemyError, *self.backend.errors)):
            raise self.backend.explain(error) from error
        if isinstance(error, (OverflowError, UnicodeEncodeError)):
            raise StoreError(f"a value cannot be stored: {error}", where=self.backend.where) from error

    def execute(
        self, statement: Executable, rows: Row | Sequence[Row] | None = None
    ) -> CursorResult[*tuple[Any, ...]]:  # a row's columns have whatever types its select names
        return self.connection.execute(statement, rows)

    def prepare(self, insert: Insert, columns: Sequence[str]) -> Statement:
        return Statement(insert, columns, self)

    def in_transaction(self) -> bool:
        return self.backend.in_transaction(self.connection)

    def begin(self) -> None:
        """Starts a write, waiting for another writer if there is one; nothing if one is open already."""
        if not self.in_transaction():
            self.connection.exec_driver_sql(self.backend.begin_write)
            self._guarded = False

    def commit(self) -> None:
        if not self.in_transaction():
            return
        if self.backend.has_failed(self.connection):
            self.connection.exec_driver_sql("ROLLBACK")
            remedy = "Resume the run: everything committed before is kept."
            raise StoreError("what was written last is lost", where=self.backend.where, remedy=remedy)
        self.connection.exec_driver_sql("COMMIT")

    @contextlib.contextmanager
    def guard(self) -> Iterator[None]:
        """Within a transaction, where the backend has savepoints: what fails inside is undone, nothing else is."""
        cursor = self.connection.connection.cursor()
        # One savepoint at a time: kept ones would pile up in the server, and this way it costs one round trip.
        cursor.execute("RELEASE SAVEPOINT dyno; SAVEPOINT dyno" if self._guarded else "SAVEPOINT dyno")
        self._guarded = True
        try:
            yield
        except BaseException:
            with contextlib.suppress(*self.backend.errors):
                cursor.execute("ROLLBACK TO SAVEPOINT dyno")
            raise

    @contextlib.contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[None]:
        """A write of its own: what was open before is committed first. Durable ones survive a loss of power."""
        self.commit()
        if durable:
            self.backend.set_durable(self.connection, True)
        try:
            self.begin()
            yield
            self.commit()
        except BaseException:
            if self.in_transaction():
                self.connection.exec_driver_sql("ROLLBACK")
            raise
        finally:
            if durable:
                self.backend.set_durable(self.connection, False)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Several reads that see the same moment, an open write of this link included."""
        if self.in_transaction():
            yield
            return
        self.connection.exec_driver_sql(self.backend.begin_read)
        try:
            yield
        finally:
            if self.in_transaction():
                self.connection.exec_driver_sql("ROLLBACK")

    def close(self) -> None:
        """Commits what is open and lets go of the database; more than once is fine."""
        if self.connection.closed:
            return
        try:
            self.commit()
        finally:
            self.connection.close()
            self._engine.dispose()
