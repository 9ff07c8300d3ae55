"""Inserts that meet a row which is there already: SQLite and PostgreSQL say it alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Insert, Select, Table, text


class Upserts:
    """``key`` names the columns of a unique constraint."""

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
            index_elements=list(key), set_=replaced, where=text(replaceable)
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
