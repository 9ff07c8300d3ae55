from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from alembic import op
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, NullPool, create_engine, inspect, make_url
from sqlalchemy.schema import CreateTable

from agentdyno.errors import StoreError
from agentdyno.store import Store
from agentdyno.store.schema import HEAD, REVISIONS, VERSION_TABLE, metadata

from .builders import begin, sample


def engine_of(path: Path) -> Engine:
    return create_engine(f"sqlite:///{path}", poolclass=NullPool)


def migrated(path: Path) -> Path:
    path.touch()
    assert Store.migrate(path) == (None, HEAD)
    return path


def described(path: Path) -> dict[str, Any]:
    """Everything that SQLite reports about the tables, in a form that can be compared."""
    inspector = inspect(engine_of(path))
    return {
        table: (
            [{**column, "type": str(column["type"])} for column in inspector.get_columns(table)],
            inspector.get_pk_constraint(table),
            sorted(inspector.get_indexes(table), key=str),
            sorted(inspector.get_unique_constraints(table), key=str),
            sorted(inspector.get_foreign_keys(table), key=str),
        )
        for table in sorted(inspector.get_table_names())
    }


def test_the_known_revisions_are_the_shipped_migrations_in_order() -> None:
    config = Config()
    config.set_main_option("script_location", "agentdyno.store:migrations")
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert tuple(reversed([script.revision for script in scripts.walk_revisions()])) == REVISIONS
    assert scripts.get_current_head() == HEAD


def test_migrating_an_empty_database_gives_what_creating_a_store_gives(tmp_path: Path) -> None:
    created = tmp_path / "created.db"
    Store.open(created).close()
    assert described(migrated(tmp_path / "migrated.db")) == described(created)


def test_the_migrations_and_the_schema_in_code_do_not_drift_apart(tmp_path: Path) -> None:
    with engine_of(migrated(tmp_path / "migrated.db")).connect() as connection:
        options = {"compare_type": True, "compare_server_default": True, "version_table": VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []


def test_a_migrated_store_works(tmp_path: Path) -> None:
    with Store.open(migrated(tmp_path / "migrated.db"), must_exist=True) as store:
        run = begin(store)
        store.append(run, sample(0))
        assert store.load_run(run).arms[0].samples == (sample(0),)
        with store._link as link:
            assert link.connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_migrating_a_store_that_is_up_to_date_changes_nothing(path: Path) -> None:
    with Store.open(path) as store:
        run = begin(store)
    assert Store.migrate(path) == (HEAD, HEAD)
    with Store.open(path) as store:
        assert store.load_run(run).name == "sorting"


def test_a_migration_that_fails_half_way_leaves_the_database_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("half way")

    path.touch()
    monkeypatch.setattr(op, "create_index", fail)
    with pytest.raises(RuntimeError, match="half way"):
        Store.migrate(path)
    assert described(path) == {}


def test_there_must_be_something_to_migrate(path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store here"):
        Store.migrate(path)
    assert not path.exists()


def test_every_table_can_be_written_in_the_sql_of_postgresql() -> None:
    dialect = make_url("postgresql://").get_dialect()()
    written = {table.name: str(CreateTable(table).compile(dialect=dialect)) for table in metadata.sorted_tables}
    assert "run_id BYTEA" in written["runs"]
    assert "readings JSONB" in written["samples"]
    assert "output JSON" in written["samples"]
    assert "id BIGSERIAL" in written["samples"]
