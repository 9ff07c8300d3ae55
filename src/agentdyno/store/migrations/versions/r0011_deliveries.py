"""Messages about alerts that are sent to places outside, and which alerts a place was told of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
VERBATIM = sa.JSON(none_as_null=True)
TOLD_KEY = ("workspace", "channel", "alert_id")


def upgrade() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", KEY, nullable=False),
        sa.Column("delivery_id", WORDS, nullable=False),
        sa.Column("workspace", WORDS, nullable=False),
        sa.Column("channel", WORDS, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("message", VERBATIM),
        sa.Column("alert_ids", VERBATIM),
        sa.Column("status", WORDS, nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.BigInteger()),
        sa.Column("finished_at", sa.BigInteger()),
        sa.Column("error", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sa.UniqueConstraint("delivery_id", name="uq_deliveries_delivery_id"),
    )
    op.create_index("ix_deliveries_status_due_at", "deliveries", ["status", "due_at"])
    op.create_table(
        "told_alerts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("workspace", WORDS, nullable=False),
        sa.Column("channel", WORDS, nullable=False),
        sa.Column("alert_id", WORDS, nullable=False),
        sa.Column("delivery_id", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_told_alerts"),
        sa.UniqueConstraint(*TOLD_KEY, name=f"uq_told_alerts_{'_'.join(TOLD_KEY)}"),
    )
    op.create_index("ix_told_alerts_delivery_id", "told_alerts", ["delivery_id"])


def downgrade() -> None:
    op.drop_table("told_alerts")
    op.drop_table("deliveries")
