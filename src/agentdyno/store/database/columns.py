"""What SQLite and PostgreSQL share: column types, names of constraints, revisions, inserts that may meet a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import JSON, BigInteger, Dialect, Insert, Integer, MetaData, Select, Table, Text
from sqlalchemy import text as sql
from sqlalchemy.types import TypeDecorator, TypeEngine

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0010", "0011", "0012")
HEAD = REVISIONS[-1]
VERSION_TABLE = "agentdyno_version"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

KEY = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite numbers rows by itself only where the type is exactly INTEGER."""

VERBATIM = JSON(none_as_null=True)
"""JSON that comes back as it was. PostgreSQL keeps it as text: JSONB refuses NUL and unpaired surrogates, sorts keys
and rewrites numbers."""

ONLY_WHERE = "only_where"
"""What an index keeps of its condition for PostgreSQL, whose dialect is slow to load (``postgres.prepare_new``)."""

_ESCAPE = "\x10"
_NUL = _ESCAPE + "0"


class Words(TypeDecorator[str]):
    """Text of any kind, in the order of its code points on every database.

    PostgreSQL has no NUL in a text: there it is written as two characters, and the first of these as two of itself.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        return Text(collation="C") if dialect.name == "postgresql" else Text()

    def bind_processor(self, dialect: Dialect) -> Callable[[str | None], str | None] | None:
        return escape if dialect.name == "postgresql" else None

    def result_processor(self, dialect: Dialect, _coltype: object) -> Callable[[str | None], str | None] | None:
        return unescape if dialect.name == "postgresql" else None


def escape(text: str | None) -> str | None:
    """A text as PostgreSQL can hold it; almost always itself."""
    if text is None or not ("\x00" in text or _ESCAPE in text):
        return text
    return text.replace(_ESCAPE, _ESCAPE * 2).replace("\x00", _NUL)


def unescape(text: str | None) -> str | None:
    """The inverse of ``escape``."""
    if text is None or _ESCAPE not in text:
        return text
    parts = text.split(_ESCAPE * 2)
    return _ESCAPE.join(part.replace(_NUL, "\x00") for part in parts)


class Upserts:
    """Inserts that meet a row which is there already: SQLite and PostgreSQL say it alike.

    ``key`` names the columns of a unique constraint.
    """

    def __init__(self, insert: Callable[[Table], Any]) -> None:  # an ``Insert`` of the one dialect or the other
        self._insert = insert

    def insert_unless_present(self, table: Table, key: Sequence[str]) -> Insert:
        statement: Insert = self._insert(table).on_conflict_do_nothing(index_elements=list(key))
        return statement

    def insert_or_replace(self, table: Table, key: Sequence[str], replaceable: str) -> Insert:
        statement = self._insert(table)
        replaced = {
            column.name: statement.excluded[column.name]
            for column in table.columns
            if column.name not in key and not column.primary_key
        }
        upsert: Insert = statement.on_conflict_do_update(
            index_elements=list(key), set_=replaced, where=sql(replaceable)
        )
        return upsert

    def insert_or_add(
        self, table: Table, key: Sequence[str], source: Select[*tuple[Any, ...]] | None = None
    ) -> Insert:
        """Adds every column outside ``key`` to what is there; rows come from ``source`` where it is given."""
        columns = [column.name for column in table.columns]
        statement = self._insert(table)
        if source is not None:
            statement = statement.from_select(columns, source)
        added = {name: table.c[name] + statement.excluded[name] for name in columns if name not in key}
        upsert: Insert = statement.on_conflict_do_update(index_elements=list(key), set_=added)
        return upsert
