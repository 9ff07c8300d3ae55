"""The revision of a store's schema: read, created, brought up to date. Alembic is loaded for the last only."""

from __future__ import annotations

from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, String, Table, inspect, select

from agentdyno.errors import StoreError
from agentdyno.store.database.session import Link
from agentdyno.store.runs.schema import HEAD, REVISIONS, VERSION_TABLE, metadata

_version = Table(
    VERSION_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)


def current(link: Link) -> str | None:
    """The revision of the schema, ``None`` for an empty database; a database of someone else's is an error."""
    inspector = inspect(link.connection)
    if inspector.has_table(VERSION_TABLE):
        found = link.execute(select(_version.c.version_num)).scalar()
        if found is not None:
            return str(found)
    tables = inspector.get_table_names()
    if not tables:
        return None
    raise StoreError(
        f"this database is not an agentdyno store (it holds {', '.join(sorted(tables)[:5])})",
        where=link.backend.where,
        remedy="Name another store with --store or DYNO_STORE.",
    )


def read(link: Link) -> str:
    """The revision of a store that is known to be one; the cheapest question that reaches the database."""
    return str(link.execute(select(_version.c.version_num)).scalar() or "")


def require_current(revision: str, where: str) -> None:
    """Refuses a store that this version of agentdyno cannot read as it is."""
    if revision == HEAD:
        return
    if revision in REVISIONS:
        raise StoreError(
            f"the store has schema revision {revision}, this agentdyno uses {HEAD}",
            where=where,
            remedy="Bring it up to date with `dyno store migrate`; `dyno store backup` keeps a copy of the old one.",
        )
    raise StoreError(
        f"the store has schema revision {revision}, which is newer than this agentdyno knows ({HEAD})",
        where=where,
        remedy="Upgrade agentdyno.",
    )


def create(link: Link) -> None:
    """The tables of the newest revision, unless another process has made them in the meantime."""
    link.backend.prepare_new(link.connection, link.busy_timeout_s)
    with link.transaction(durable=True):
        link.backend.lock_schema(link.connection)
        if current(link) is not None:
            return
        metadata.create_all(link.connection, checkfirst=False)
        _version.create(link.connection, checkfirst=False)
        link.execute(_version.insert(), {"version_num": HEAD})


def upgrade(link: Link) -> tuple[str | None, str]:
    """Runs the missing migrations in one transaction; the revisions before and after."""
    before = current(link)
    if before is not None and before not in REVISIONS:
        require_current(before, link.backend.where)
    if before == HEAD:
        return before, HEAD
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "agentdyno.store:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = link.connection
    link.backend.prepare_new(link.connection, link.busy_timeout_s)
    link.backend.prepare_migration(link.connection)
    with link.transaction(durable=True):
        link.backend.lock_schema(link.connection)
        command.upgrade(config, "head")
    return before, HEAD
