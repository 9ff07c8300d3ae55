"""Where agents come from, what they are called among the others, and for how long runs stood still."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Where old agents came from is not known: they are called as before until a run tells."""
    op.add_column("agents", sa.Column("identity", WORDS))
    op.add_column("agents", sa.Column("label", WORDS))
    op.execute("UPDATE agents SET label = name")
    op.create_index("ix_agents_label", "agents", ["label"])
    op.add_column("runs", sa.Column("paused_ms", sa.BigInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("runs", "paused_ms")
    op.drop_index("ix_agents_label", "agents")
    op.drop_column("agents", "label")
    op.drop_column("agents", "identity")
