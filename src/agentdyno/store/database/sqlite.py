"""Everything that is true of SQLite only: pragmas, locks, error codes, online backup."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, NullPool, Table, create_engine, event, text
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError, OperationalError, ResourceClosedError

from agentdyno.errors import StoreError, StoreGone
from agentdyno.store.database.columns import Upserts
from agentdyno.store.location import keep_out_of_git
from agentdyno.store.runs.codec import dumps, loads

if TYPE_CHECKING:
    from agentdyno.store.database.rescue import Rescued

_LOCK_RETRY_S = 0.005
_BULK_CACHE_KIB = 64 * 1024
_PLACE_EVERY_S = 0.5
"""Seconds between two looks at whether the file still has its name."""

_EXPLAINED = (
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        "the store is locked: another process is writing to it and did not finish in time",
        "Wait for the other dyno to finish its write and try again; if none is running, "
        "look for a program that has the file open.",
    ),
    (
        ("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"),
        "the store is read-only",
        "Make the file and its folder writable, or name another store with --store or DYNO_STORE.",
    ),
    (
        ("SQLITE_CANTOPEN",),
        "the store cannot be opened",
        "Check that the path is a file in a folder that you may write to, "
        "or name another store with --store or DYNO_STORE.",
    ),
    (
        ("SQLITE_NOTADB",),
        "this file is not a SQLite database",
        "Name another store with --store or DYNO_STORE, or move the file away.",
    ),
    (
        ("SQLITE_CORRUPT",),
        "the store is damaged",
        "`dyno store check` says what is, and `dyno store rescue NEW.db` copies what can be read; or restore a copy "
        "made by `dyno store backup`.",
    ),
    (
        ("SQLITE_FULL",),
        "the disk is full",
        "Free some space and resume the run; everything committed so far is kept.",
    ),
    (
        ("SQLITE_IOERR",),
        "reading or writing the store failed",
        "Check the disk and its free space; everything committed so far is kept.",
    ),
    (
        ("SQLITE_TOOBIG",),
        "a value is too large to be stored",
        "Keep large outputs as artifacts of the run.",
    ),
)


class SqliteBackend(Upserts):
    """A store in one file, in write-ahead-log mode so that readers and one writer do not wait for each other."""

    begin_write = "BEGIN IMMEDIATE"
    begin_read = "BEGIN"
    errors: tuple[type[Exception], ...] = (sqlite3.Error, sqlite3.Warning)
    savepoints = False

    def __init__(self, url: URL) -> None:
        super().__init__(insert)
        database = url.database or ""
        if database in ("", ":memory:") or url.query.get("mode") == "memory":
            raise StoreError(
                "a store needs a file", remedy="Give a path, or a URL such as sqlite:///path/to/dyno.db."
            )
        self._is_uri = database.startswith("file:")
        self._path = Path(database.removeprefix("file:")).absolute()
        self._url = url
        self.url = url.render_as_string(hide_password=True)
        self.where = str(self._path)
        self._opened: tuple[int, int] | None = None
        self._looked_at = 0.0

    def exists(self) -> bool:
        return self._path.exists()

    def make_room(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            keep_out_of_git(self._path.parent)
        except OSError as error:
            raise StoreError(
                f"the folder of the store cannot be created: {error.strerror}",
                where=str(self._path.parent),
                remedy="Name another store with --store or DYNO_STORE.",
            ) from None

    def engine(self, busy_timeout_s: float) -> Engine:
        reading = {"creator": lambda: _reader(self._path, busy_timeout_s)} if self._is_read_only() else {}
        engine = create_engine(
            self._url,
            **reading,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            json_serializer=dumps,
            json_deserializer=loads,
            connect_args={"timeout": busy_timeout_s, "check_same_thread": False},
        )
        event.listen(engine, "connect", _configure)
        event.listen(engine, "connect", lambda *_: self._note_place())
        event.listen(engine, "handle_error", _keep_connected)
        return engine

    def _is_read_only(self) -> bool:
        """Whether nobody here can write to it: the file, or its folder, which the write-ahead log lives in."""
        return self._path.is_file() and not all(os.access(item, os.W_OK) for item in (self._path, self._path.parent))

    def _note_place(self) -> None:
        self._opened, self._looked_at = _identity(self._path), time.monotonic()

    def require_place(self, *, at_once: bool = False) -> None:
        """SQLite goes on writing into a file that was deleted or replaced, where nobody will find it."""
        now = time.monotonic()
        if not at_once and now - self._looked_at < _PLACE_EVERY_S:
            return
        self._looked_at = now
        known = self._opened is not None or not self._is_uri  # an address may spell its file in another way
        if known and (self._opened is None or _identity(self._path) != self._opened):
            raise StoreGone(
                "the store was deleted or replaced while it was written to",
                where=self.where,
                remedy="Put it back, or a copy that `dyno store backup` made; then give the command again.",
            )

    def copy_open(self, connection: Connection, path: Path) -> None:
        from agentdyno.store.database.backups import claimed

        with claimed(path), contextlib.closing(sqlite3.connect(path)) as target:
            _driver(connection).backup(target)

    def prepare_new(self, connection: Connection, busy_timeout_s: float) -> None:
        """Switching to a write-ahead log fails at once, whatever the timeout, while someone else switches."""
        deadline = time.monotonic() + busy_timeout_s
        while True:
            try:
                connection.execute(text("PRAGMA journal_mode = WAL"))
                return
            except OperationalError as error:
                if not _code(error).startswith("SQLITE_BUSY") or time.monotonic() >= deadline:
                    raise
                time.sleep(_LOCK_RETRY_S)

    def prepare_migration(self, connection: Connection) -> None:
        """A table is altered by replacing it, which must not take the rows that refer to it along."""
        connection.execute(text("PRAGMA foreign_keys = OFF"))

    def lock_schema(self, connection: Connection) -> None:
        """A write has the whole file to itself already."""

    def delimit(self, connection: Connection, sql: str) -> None:
        """On the driver's own connection: SQLAlchemy's way to it takes longer than the statement."""
        _driver(connection).execute(sql)

    def in_transaction(self, connection: Connection) -> bool:
        return _driver(connection).in_transaction

    def is_broken(self, connection: Connection) -> bool:  # noqa: ARG002
        """There is nobody at the other end."""
        return False

    def has_failed(self, connection: Connection) -> bool:  # noqa: ARG002
        return False

    def set_durable(self, connection: Connection, durable: bool) -> None:
        _driver(connection).execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")

    def adapted(self, row: Mapping[str, object]) -> Mapping[str, object]:
        return row

    def insert_many(
        self, connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[Sequence[object]]
    ) -> None:
        marks = ", ".join("?" * len(columns))
        driver = _driver(connection)
        driver.execute(f"PRAGMA cache_size = -{_BULK_CACHE_KIB}")  # indexes of many rows do not fit the usual 2 MB
        driver.executemany(f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks})", rows)

    def settle(self, connection: Connection, tables: Sequence[Table]) -> None:
        """Rows that were updated leave nothing behind."""

    def explain(self, error: BaseException) -> StoreError:
        if isinstance(error, ResourceClosedError) or "closed database" in str(error):
            return StoreError("the store is closed", where=self.where)
        code = _code(error)
        for prefixes, message, remedy in _EXPLAINED:
            if code.startswith(prefixes):
                return StoreError(message, where=self.where, remedy=remedy)
        original = error.orig if isinstance(error, DBAPIError) else error
        if "no such table" in str(original) or "no such column" in str(original):
            remedy = "Restore a copy made by `dyno store backup`, or move the file away to start a new store."
            return StoreError(f"the store is damaged: {original}", where=self.where, remedy=remedy)
        return StoreError(f"the database refused: {original}", where=self.where)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """For what opens the file beside a session, which would make errors of it ours."""
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"the store cannot be read: {error.strerror}",
                where=self.where,
                remedy="Name the file of a store with --store or DYNO_STORE.",
            ) from None
        except UnicodeDecodeError as error:
            from agentdyno.store.database.damage import damaged

            raise damaged(error, self.where) from error
        except self.errors as error:
            raise self.explain(error) from error

    def backup(self, path: Path) -> None:
        """A connection of its own sees what is committed, in one read transaction that stops no writer."""
        from agentdyno.store.database.backups import claimed

        with (
            claimed(path),
            contextlib.closing(
                _reader(self._path, 0.0) if self._is_read_only() else sqlite3.connect(self._path)
            ) as source,
            contextlib.closing(sqlite3.connect(path)) as target,
        ):
            source.backup(target)
            if problems := _problems(target):
                raise StoreError(
                    f"the store is damaged, and so is a copy of it: {problems[0]}",
                    where=self.where,
                    remedy="`dyno store rescue NEW.db` copies what can still be read. Or restore an earlier copy.",
                )

    def problems(self) -> list[str]:
        from agentdyno.store.database.rescue import UNREADABLE, states, undecodable, whole_file

        with (
            self._explained(),
            whole_file(self._path) as path,
            contextlib.closing(_reader(path, 0.0)) as driver,
        ):
            try:
                found = states(driver)
            except UNREADABLE as error:
                return [f"not even the list of its tables can be read: {error}"]
            lost = [
                f"{state.table}: {state.rows:,} rows can be read, those {gap} cannot"
                for state in found
                for gap in state.gaps
            ]
            if lost:
                return lost
            return [f"every row can be read, and yet: {problem}" for problem in _problems(driver)] + undecodable(
                driver
            )

    def rescue(self, path: Path) -> Rescued:
        from agentdyno.store.database.rescue import rescue, whole_file

        with (
            self._explained(),
            whole_file(self._path) as whole,
            contextlib.closing(_reader(whole, 0.0)) as driver,
        ):
            return rescue(driver, path, self.where)

    def vacuum(self, connection: Connection) -> tuple[int, int]:
        before = self._size_bytes()
        driver = _driver(connection)
        driver.execute("VACUUM")
        driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return before, self._size_bytes()

    def _size_bytes(self) -> int:
        return sum(part.stat().st_size for part in (self._path, Path(f"{self._path}-wal")) if part.exists())


def _problems(driver: sqlite3.Connection) -> list[str]:
    """What SQLite finds wrong with a whole file; nothing for one that is sound."""
    try:
        found = [str(text) for (text,) in driver.execute("PRAGMA integrity_check(20)") if text != "ok"]
        orphans = driver.execute("PRAGMA foreign_key_check").fetchall()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        return [str(error)]
    return found + [f"a row of {table} belongs to none of {parent}" for table, _, parent, _ in orphans[:20]]


def _reader(path: Path, busy_timeout_s: float) -> sqlite3.Connection:
    """A connection that only reads. Without its write-ahead log, which needs a folder to be written to, a store is
    read as it lies there: nobody can change it."""
    place = f"file:{quote(str(path))}?mode=ro"
    driver = sqlite3.connect(place, uri=True, timeout=busy_timeout_s, check_same_thread=False)
    try:
        driver.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        driver.close()
        driver = sqlite3.connect(f"{place}&immutable=1", uri=True, timeout=busy_timeout_s, check_same_thread=False)
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        pass  # it is damaged, which whoever reads it finds out
    return driver


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode; ``None`` where there is no such file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _configure(driver: sqlite3.Connection, _record: object) -> None:
    driver.execute("PRAGMA synchronous = NORMAL")
    driver.execute("PRAGMA foreign_keys = ON")


def _keep_connected(context: ExceptionContext) -> None:
    """Somebody pressed Ctrl-C while a statement was executed: there is no other end that this could have confused,
    and what was appended and not yet committed would go with the connection."""
    if not isinstance(context.original_exception, Exception):
        context.is_disconnect = False


def _driver(connection: Connection) -> sqlite3.Connection:
    return cast(sqlite3.Connection, connection.connection.dbapi_connection)


def _code(error: BaseException) -> str:
    """The name of SQLite's result code, such as ``SQLITE_BUSY_SNAPSHOT``; empty when there is none."""
    original = error.orig if isinstance(error, DBAPIError) else error
    return getattr(original, "sqlite_errorname", None) or ""
