"""What the store asks of a database beyond standard SQL, and the choice of one by URL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import Connection, Engine, Insert, Select, Table, make_url
from sqlalchemy.exc import ArgumentError

from agentdyno.errors import StoreError
from agentdyno.store.location import is_url, path_url

if TYPE_CHECKING:
    from agentdyno.store.database.rescue import Rescued


class Backend(Protocol):
    """One kind of database. ``where`` names the database in messages, without any password.

    With ``savepoints``, a statement that fails takes its whole transaction along unless a savepoint was set.
    """

    url: str
    where: str
    begin_write: str
    begin_read: str
    errors: tuple[type[Exception], ...]
    savepoints: bool

    def exists(self) -> bool:
        """Whether there is anything at the address; false is certain, true may still be a foreign database."""

    def make_room(self) -> None:
        """Creates what must be there before the database can be (the folder of a file)."""

    def engine(self, busy_timeout_s: float) -> Engine:
        """An engine whose connections leave transactions to the caller and wait so many seconds for a lock."""

    def prepare_new(self, connection: Connection, busy_timeout_s: float) -> None:
        """Settings that stay with a database, made once before its tables."""

    def prepare_migration(self, connection: Connection) -> None:
        """Settings for the one connection that changes the schema."""

    def lock_schema(self, connection: Connection) -> None:
        """Within a transaction: waits until no other process is making or changing the tables."""

    def in_transaction(self, connection: Connection) -> bool: ...

    def delimit(self, connection: Connection, sql: str) -> None:
        """Begins or commits a write, which a run of many samples does for each of them."""

    def is_broken(self, connection: Connection) -> bool:
        """Whether the connection is gone for good, so that only a new one can help."""

    def require_place(self, *, at_once: bool = False) -> None:
        """Raises ``StoreGone`` where what is written goes into a file that has lost its name.

        Cheap: it looks now and then, unless ``at_once``.
        """

    def copy_open(self, connection: Connection, path: Path) -> None:
        """What an open connection sees, as a new file, even where the store itself has lost its name."""

    def has_failed(self, connection: Connection) -> bool:
        """Whether the open transaction can only be rolled back."""

    def set_durable(self, connection: Connection, durable: bool) -> None:
        """Whether the next commits survive a loss of power, or only the death of the process."""

    def insert_unless_present(self, table: Table, key: Sequence[str]) -> Insert: ...

    def insert_or_replace(self, table: Table, key: Sequence[str], replaceable: str) -> Insert:
        """Replaces the row with the same ``key`` where the SQL condition ``replaceable`` holds for it."""

    def insert_or_add(
        self, table: Table, key: Sequence[str], source: Select[*tuple[Any, ...]] | None = None
    ) -> Insert:
        """Adds every column outside ``key`` to the row with that key; rows come from ``source`` where given."""

    def adapted(self, row: Mapping[str, object]) -> Mapping[str, object]:
        """The values of a row as the driver takes them, for statements that go around SQLAlchemy."""

    def insert_many(
        self, connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[Sequence[object]]
    ) -> None:
        """The driver's fastest way in for many rows, which are taken one by one."""

    def settle(self, connection: Connection, tables: Sequence[Table]) -> None:
        """Outside a transaction, after many rows of ``tables`` were updated: keeps reading them fast."""

    def explain(self, error: BaseException) -> StoreError:
        """The failure in the user's words, with what to do."""

    def problems(self) -> list[str]:
        """What of the database's own files cannot be read, each in a sentence; reads all of them."""

    def rescue(self, path: Path) -> Rescued:
        """Writes what can be read of damaged files to a new store at ``path``."""

    def backup(self, path: Path) -> None: ...

    def vacuum(self, connection: Connection) -> tuple[int, int]:
        """Bytes on disk before and after giving free pages back."""


def backend_for(url: str | Path) -> Backend:
    """The backend for a URL or a bare path of an SQLite file."""
    text = str(url) if is_url(str(url)) else path_url(Path(url).expanduser())
    try:
        parsed = make_url(text)
        name = parsed.get_backend_name()
    except (ArgumentError, ValueError):
        raise StoreError("not a database URL", where=_CREDENTIALS.sub("://***@", text), remedy=_REMEDY) from None
    if name in ("postgresql", "postgres"):
        from agentdyno.store.database.postgres import PostgresBackend

        return PostgresBackend(parsed)
    if name != "sqlite":
        raise StoreError(f"stores in {name} are not supported by this version", remedy=_REMEDY)
    from agentdyno.store.database.sqlite import SqliteBackend

    return SqliteBackend(parsed)


_CREDENTIALS = re.compile("://.*@")
_REMEDY = "Give a path, or a URL such as sqlite:///path/to/dyno.db or postgresql://user@host/database."
