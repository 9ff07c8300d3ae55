"""What a service keeps: jobs, keys, the audit log, acknowledged alerts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
VERBATIM = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Tables of their own: nothing that is there already is touched."""
    _jobs()
    _api_keys()
    op.create_table(
        "audit",
        sa.Column("id", KEY, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        *(_words(name) for name in ("who", "action", "subject")),
        sa.Column("details", VERBATIM),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_table(
        "acknowledgements",
        sa.Column("id", KEY, nullable=False),
        _words("alert_id"),
        _words("who"),
        sa.Column("at", sa.BigInteger(), nullable=False),
        _words("note"),
        sa.PrimaryKeyConstraint("id", name="pk_acknowledgements"),
        sa.UniqueConstraint("alert_id", name="uq_acknowledgements_alert_id"),
    )


def downgrade() -> None:
    for table in ("acknowledgements", "audit", "api_keys", "jobs"):
        op.drop_table(table)


def _words(name: str) -> sa.Column[str]:
    return sa.Column(name, WORDS, nullable=False)


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", KEY, nullable=False),
        *(_words(name) for name in ("job_id", "agent", "agent_digest", "suite_id", "suite_digest")),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        _words("status"),
        sa.Column("configuration", VERBATIM),
        sa.Column("options", VERBATIM),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        _words("workspace"),
        _words("created_by"),
        sa.Column("idempotency_key", WORDS),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("attempt", "lost", "failures", "max_failures")),
        _words("worker"),
        *(sa.Column(name, sa.BigInteger()) for name in ("lease_until", "started_at", "finished_at")),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        _words("run_id"),
        sa.Column("progress", VERBATIM),
        _words("error"),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
        sa.UniqueConstraint("job_id", name="uq_jobs_job_id"),
        sa.UniqueConstraint("created_by", "idempotency_key", name="uq_jobs_created_by_idempotency_key"),
    )
    op.create_index("ix_jobs_status_priority_created_at", "jobs", ["status", "priority", "created_at"])
    op.create_index("ix_jobs_created_at_job_id", "jobs", ["created_at", "job_id"])


def _api_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", KEY, nullable=False),
        *(_words(name) for name in ("key_id", "name", "scope", "prefix")),
        sa.Column("secret_digest", sa.LargeBinary(32), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("key_id", name="uq_api_keys_key_id"),
    )
    live = sa.text("revoked_at IS NULL")
    op.create_index("ix_api_keys_prefix", "api_keys", ["prefix"])
    op.create_index("ix_api_keys_name", "api_keys", ["name"], unique=True, sqlite_where=live, postgresql_where=live)
