"""Everything that is true of PostgreSQL only: sessions, locks, error codes, COPY, ``pg_dump``.

Needs psycopg 3, which is an extra.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sqlalchemy import (
    URL,
    BigInteger,
    Connection,
    Double,
    Engine,
    LargeBinary,
    NullPool,
    SmallInteger,
    Table,
    create_engine,
    event,
    text,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError, ResourceClosedError

from agentdyno.errors import StoreError
from agentdyno.extras import install_extra
from agentdyno.store.database.backups import claimed, dump
from agentdyno.store.database.columns import ONLY_WHERE, Upserts, escape, metadata
from agentdyno.store.database.postgres_errors import explained, unreachable
from agentdyno.store.runs.codec import dumps

if TYPE_CHECKING:
    import psycopg

    from agentdyno.store.database.rescue import Rescued

CONNECT_TIMEOUT_S = 10
_SCHEMA_LOCK = 0x64796E6F
"""The number of the advisory lock that makers of tables hold."""
_SECRETS = ("password", "sslpassword", "passfile")


class PostgresBackend(Upserts):
    """A store in a database on a server, which must exist; its tables are made where there are none."""

    begin_write = "BEGIN"
    begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    savepoints = True

    def __init__(self, url: URL) -> None:
        super().__init__(insert)
        try:
            import psycopg
        except ImportError as error:
            raise StoreError(
                f"a store in PostgreSQL needs psycopg, which is not installed here ({error})",
                remedy=install_extra("postgres"),
            ) from None
        self.errors: tuple[type[Exception], ...] = (psycopg.Error,)
        self._url = url.set(drivername="postgresql+psycopg")
        masked = {key: "***" if key in _SECRETS else value for key, value in url.query.items()}
        self.url = url.set(drivername="postgresql", query=masked).render_as_string(hide_password=True)
        open_query = {key: value for key, value in url.query.items() if key not in _SECRETS}
        self.where = URL.create(
            "postgresql", host=url.host, port=url.port, database=url.database, query=open_query
        ).render_as_string()
        self._secrets = [str(secret) for secret in (url.password, *map(url.query.get, _SECRETS)) if secret]
        self._connected = False

    def exists(self) -> bool:
        """Only connecting tells."""
        return True

    def make_room(self) -> None:
        """A database is created by who administers the server."""

    def engine(self, busy_timeout_s: float) -> Engine:
        asked = {} if "connect_timeout" in self._url.query else {"connect_timeout": CONNECT_TIMEOUT_S}
        engine = create_engine(
            self._url,
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            json_serializer=dumps,
            connect_args={
                **asked,
                "autocommit": True,
                "client_encoding": "UTF8",
                "fallback_application_name": "agentdyno",
            },
        )

        def configure(driver: psycopg.Connection[tuple[object, ...]], _record: object) -> None:
            driver.execute(f"SET lock_timeout = {max(1, ceil(busy_timeout_s * 1000))}")
            driver.execute("SET synchronous_commit = off")
            self._connected = True

        event.listen(engine, "connect", configure)
        return engine

    def prepare_new(self, connection: Connection, busy_timeout_s: float) -> None:  # noqa: ARG002
        """Nothing stays with the database; the indexes of some rows learn which rows."""
        for table in metadata.tables.values():
            for index in table.indexes:
                if ONLY_WHERE in index.info:
                    index.dialect_options["postgresql"]["where"] = index.info[ONLY_WHERE]

    def prepare_migration(self, connection: Connection) -> None:
        """A table is altered in place."""

    def lock_schema(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_SCHEMA_LOCK})")

    def delimit(self, connection: Connection, sql: str) -> None:
        """By way of SQLAlchemy, which takes note of a connection that turns out to be broken."""
        connection.exec_driver_sql(sql)

    def in_transaction(self, connection: Connection) -> bool:
        from psycopg.pq import TransactionStatus

        if connection.invalidated:
            return False
        status = _driver(connection).info.transaction_status
        return status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN)

    def is_broken(self, connection: Connection) -> bool:
        return connection.invalidated or _driver(connection).closed

    def require_place(self, *, at_once: bool = False) -> None:
        """A server knows where its files are."""

    def copy_open(self, connection: Connection, path: Path) -> None:  # noqa: ARG002
        self.backup(path)

    def has_failed(self, connection: Connection) -> bool:
        from psycopg.pq import TransactionStatus

        return _driver(connection).info.transaction_status is TransactionStatus.INERROR

    def set_durable(self, connection: Connection, durable: bool) -> None:
        if not connection.invalidated:
            connection.exec_driver_sql(f"SET synchronous_commit = {'on' if durable else 'off'}")

    def adapted(self, row: Mapping[str, object]) -> Mapping[str, object]:
        return {name: escape(value) if isinstance(value, str) else value for name, value in row.items()}

    def insert_many(
        self, connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[Sequence[object]]
    ) -> None:
        """Binary COPY, which needs every value in exactly the type of its column."""
        types = [_copied_type(table, name) for name in columns]
        texts = [position for position, kind in enumerate(types) if kind == "text"]
        statement = f"COPY {table.name} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)"
        with _driver(connection).cursor() as cursor, cursor.copy(statement.encode()) as copy:
            copy.set_types(types)
            for row in _escaped(rows, texts):
                copy.write_row(row)

    def settle(self, connection: Connection, tables: Sequence[Table]) -> None:
        """Updated rows stay as dead ones until they are swept, which the server would do late for small tables."""
        names = ", ".join(table.name for table in tables)
        with contextlib.suppress(DBAPIError):  # what was written is committed, swept or not
            connection.exec_driver_sql(f"VACUUM (SKIP_LOCKED, ANALYZE) {names}")

    def explain(self, error: BaseException) -> StoreError:
        if isinstance(error, ResourceClosedError) or "the cursor is closed" in str(error):
            return StoreError("the store is closed", where=self.where)
        original = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        message = self._without_secrets(str(original))
        if not self._connected:
            return unreachable(message, self._url, self.where)
        return explained(getattr(original, "sqlstate", None) or "", message, self.where)

    def problems(self) -> list[str]:
        """A server watches over its own files."""
        return []

    def rescue(self, path: Path) -> Rescued:  # noqa: ARG002
        raise StoreError(
            "a store in PostgreSQL is not rescued from here: its server watches over its own files",
            where=self.where,
            remedy="Restore a copy made by `dyno store backup`, or use the server's own means.",
        )

    def backup(self, path: Path) -> None:
        with claimed(path):
            dump(self._url, path, self._without_secrets)

    def vacuum(self, connection: Connection) -> tuple[int, int]:
        """The tables and indexes of the store; a whole database has some megabytes of its own besides."""
        before = _size_bytes(connection)
        connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {', '.join(metadata.tables)}")
        return before, _size_bytes(connection)

    def _without_secrets(self, message: str) -> str:
        for secret in self._secrets:
            message = message.replace(secret, "***")
        return message


def _driver(connection: Connection) -> psycopg.Connection[tuple[object, ...]]:
    return cast("psycopg.Connection[tuple[object, ...]]", connection.connection.dbapi_connection)


def _size_bytes(connection: Connection) -> int:
    sizes = " + ".join(f"pg_total_relation_size('{name}')" for name in metadata.tables)
    return int(connection.execute(text(f"SELECT {sizes}")).scalar_one())


def _copied_type(table: Table, name: str) -> str:
    kind = table.c[name].type
    if isinstance(kind, LargeBinary):
        return "bytea"
    if isinstance(kind, Double):
        return "float8"
    if isinstance(kind, SmallInteger):
        return "int2"
    if isinstance(kind, BigInteger):
        return "int8"
    return "int4" if kind.python_type is int else "text"


def _escaped(rows: Iterable[Sequence[object]], texts: Sequence[int]) -> Iterator[Sequence[object]]:
    """Almost every row is handed on as it is."""
    for row in rows:
        if any(escape(cast("str | None", row[position])) is not row[position] for position in texts):
            yield [escape(value) if isinstance(value, str) else value for value in row]
        else:
            yield row
