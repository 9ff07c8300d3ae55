"""The revision of a store's schema: read, created, brought up to date. Alembic is loaded for the last only."""

from __future__ import annotations

from sqlalchemy import Column, MetaData, PrimaryKeyConstraint, String, Table, inspect, select

from agentdyno.errors import StoreError
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.schema import HEAD, REVISIONS, VERSION_TABLE, metadata

SUMMARIES_SINCE = "0007"
"""The first revision with the summaries of today."""

_version = Table(
    VERSION_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)


def current(session: DatabaseSession) -> str | None:
    """The revision of the schema, ``None`` for an empty database; a database of someone else's is an error."""
    inspector = inspect(session.connection)
    if inspector.has_table(VERSION_TABLE):
        found = session.execute(select(_version.c.version_num)).scalar()
        if found is not None:
            return str(found)
    tables = inspector.get_table_names()
    if not tables:
        return None
    raise StoreError(
        f"this database is not an agentdyno store (it holds {', '.join(sorted(tables)[:5])})",
        where=session.backend.where,
        remedy="Name another store with --store or DYNO_STORE.",
    )


def read(session: DatabaseSession) -> str:
    """The revision of a store that is known to be one; the cheapest question that reaches the database."""
    return str(session.execute(select(_version.c.version_num)).scalar() or "")


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


def create(session: DatabaseSession) -> None:
    """The tables of the newest revision, unless another process has made them in the meantime."""
    session.backend.prepare_new(session.connection, session.busy_timeout_s)
    with session.transaction(durable=True):
        session.backend.lock_schema(session.connection)
        if current(session) is not None:
            return
        metadata.create_all(session.connection, checkfirst=False)
        _version.create(session.connection, checkfirst=False)
        session.execute(_version.insert(), {"version_num": HEAD})


def _summaries_anew(session: DatabaseSession) -> None:
    """Targets and summaries of a store that kept them in another way, by the code that keeps them now."""
    from agentdyno.store.boards.summaries import rebuild
    from agentdyno.store.boards.targets import settle_old_targets

    settle_old_targets(session)
    rebuild(session)


def upgrade(session: DatabaseSession) -> tuple[str | None, str]:
    """Runs the missing migrations in one transaction; the revisions before and after."""
    before = current(session)
    if before is not None and before not in REVISIONS:
        require_current(before, session.backend.where)
    if before == HEAD:
        return before, HEAD
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "agentdyno.store:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = session.connection
    session.backend.prepare_new(session.connection, session.busy_timeout_s)
    session.backend.prepare_migration(session.connection)
    with session.transaction(durable=True):
        session.backend.lock_schema(session.connection)
        command.upgrade(config, "head")
        if before is not None and before < SUMMARIES_SINCE:
            _summaries_anew(session)
    return before, HEAD
