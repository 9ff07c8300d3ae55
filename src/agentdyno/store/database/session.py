"""The session of a store with its database: one connection, transactions, and errors of drivers made ours."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from json import JSONDecodeError
from types import TracebackType
from typing import Any

from sqlalchemy import CursorResult, Executable, Insert
from sqlalchemy.exc import SQLAlchemyError

from agentdyno.errors import DynoError, StoreError
from agentdyno.store.database.backend import Backend

Row = Mapping[str, object]


class Statement:
    """An insert compiled once, run on the driver's own cursor: the fast path for many small rows."""

    def __init__(self, insert: Insert, columns: Sequence[str], session: DatabaseSession) -> None:
        connection = session.connection
        compiled = insert.compile(dialect=connection.dialect, column_keys=list(columns))
        self._sql = str(compiled)
        self._order: list[str] | None = getattr(compiled, "positiontup", None)
        self._cursor = connection.connection.cursor()
        self._session = session
        self._made_for = session.connections

    def run(self, row: Row) -> int:
        """The number of rows that were written. A row that is refused leaves the transaction as it was."""
        session = self._session
        if self._made_for != session.connections:
            self._cursor = session.connection.connection.cursor()
            self._made_for = session.connections
        adapted = session.backend.adapted(row)
        values = adapted if self._order is None else [adapted[name] for name in self._order]
        if session.backend.savepoints:
            with session.guard():
                self._cursor.execute(self._sql, values)
        else:
            self._cursor.execute(self._sql, values)
        return self._cursor.rowcount


class DatabaseSession:
    """Used by one thread at a time: ``with session:`` takes the lock and turns driver errors into ``StoreError``.

    A connection that breaks is an error for whoever was using it; the next ``with session:`` connects anew. What had
    been appended and not yet committed has gone with it, and ``group`` says so to whoever appends or commits next.
    """

    def __init__(self, backend: Backend, busy_timeout_s: float) -> None:
        self.backend = backend
        self.busy_timeout_s = busy_timeout_s
        self.connections = 0
        """Counts connections: what was prepared on an earlier one is of no use any more."""
        self.statements: dict[str, Statement] = {}
        """Those that were prepared, by name."""
        self._lock = threading.RLock()
        self._depth = 0
        self._guarded = False
        self._apart = False
        self._group_open = False
        self._group_lost = False
        self._closed = False
        self._engine = backend.engine(busy_timeout_s)
        try:
            self.connection = self._engine.connect()
        except Exception as error:
            self._explain(error)
            raise

    def __enter__(self) -> DatabaseSession:
        self._lock.acquire()
        self._depth += 1
        try:
            if self._depth == 1 and self._is_broken():
                self._connect_anew()
        except BaseException as error:
            self._depth -= 1
            self._lock.release()
            self._explain(error)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        self._lock.release()
        if error is not None:
            self._explain(error)

    def _explain(self, error: BaseException) -> None:
        """Raises what the user can make something of, where ``error`` comes from the database."""
        if isinstance(error, DynoError):
            return
        if isinstance(error, (SQLAlchemyError, *self.backend.errors)):
            raise self.backend.explain(error) from error
        if isinstance(error, (JSONDecodeError, UnicodeDecodeError)):
            from agentdyno.store.database.damage import damaged

            raise damaged(error, self.backend.where) from error
        if isinstance(error, (OverflowError, UnicodeEncodeError)):
            raise StoreError(f"a value cannot be stored: {error}", where=self.backend.where) from error

    def _is_broken(self) -> bool:
        return not self._closed and self.backend.is_broken(self.connection)

    def _connect_anew(self) -> None:
        if self._group_open:
            self._group_open, self._group_lost = False, True
        self._guarded = False
        connection = self._engine.connect()
        with contextlib.suppress(Exception):  # there is nothing at the other end to say goodbye to
            self.connection.close()
        self.connection = connection
        self.connections += 1

    @contextlib.contextmanager
    def group(self) -> Iterator[None]:
        """For whoever appends rows or makes them permanent: fails, once, where earlier ones are lost."""
        if self._group_lost:
            self._group_lost = False
            raise self._lost_group()
        try:
            yield
        except BaseException:
            if self._is_broken():
                self._group_open = False  # this error says it
            raise

    def _lost_group(self) -> StoreError:
        remedy = "Resume the run: everything committed before is kept."
        return StoreError("what was written last is lost", where=self.backend.where, remedy=remedy)

    def execute(
        self, statement: Executable, rows: Row | Sequence[Row] | None = None
    ) -> CursorResult[*tuple[Any, ...]]:  # a row's columns have whatever types its select names
        return self.connection.execute(statement, rows)

    def prepare(self, name: str, insert: Insert, columns: Sequence[str]) -> Statement:
        """Compiles ``insert`` and keeps it in ``statements`` by this name."""
        self.statements[name] = Statement(insert, columns, self)
        return self.statements[name]

    def in_transaction(self) -> bool:
        return self.backend.in_transaction(self.connection)

    def begin(self) -> None:
        """Starts a write, waiting for another writer if there is one; nothing if one is open already."""
        if not self.in_transaction():
            self.backend.delimit(self.connection, self.backend.begin_write)
            self._guarded = False
            self._group_open = not self._apart

    def commit(self) -> None:
        if not self.in_transaction():
            return
        if self.backend.has_failed(self.connection):
            self.connection.exec_driver_sql("ROLLBACK")
            self._group_open = False
            raise self._lost_group()
        self.backend.delimit(self.connection, "COMMIT")
        self._group_open = False
        self.backend.require_place()

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
        self._apart = True
        try:
            self.begin()
            yield
            self.commit()
            self.backend.require_place(at_once=True)
        except BaseException:
            if self.in_transaction():
                self.connection.exec_driver_sql("ROLLBACK")
            raise
        finally:
            self._apart = False
            if durable:
                self.backend.set_durable(self.connection, False)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Several reads that see the same moment, an open write of this session included."""
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
        """Commits what is open and lets go of the database; more than once is fine. Never connects anew."""
        with self._lock:
            if self._closed:
                return
            lost = self._group_lost or (self._group_open and self._is_broken())
            self._closed = True
            with self:
                try:
                    self.commit()
                    if lost:
                        raise self._lost_group()
                finally:
                    self.statements.clear()
                    self.connection.close()
                    self._engine.dispose()
