"""What Alembic runs for every command. The connection, and the transaction around it, are the caller's.

A new revision is written by ``alembic.command.revision(config, autogenerate=True)`` with such a config; its number
goes to the end of ``REVISIONS`` in ``agentdyno.store.runs.schema``.
"""

from __future__ import annotations

from alembic import context

from agentdyno.store.runs.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
