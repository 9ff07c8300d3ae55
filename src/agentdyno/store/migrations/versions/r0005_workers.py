"""The workers that are there, and what they offer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
VERBATIM = sa.JSON(none_as_null=True)


def upgrade() -> None:
    op.create_table(
        "workers",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("agents", VERBATIM),
        sa.Column("suites", VERBATIM),
        sa.PrimaryKeyConstraint("id", name="pk_workers"),
        sa.UniqueConstraint("name", name="uq_workers_name"),
    )


def downgrade() -> None:
    op.drop_table("workers")
