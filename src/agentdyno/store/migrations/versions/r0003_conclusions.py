"""Standard errors of scores, baselines, where a run came from, and indexes for the history of an experiment."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
VERBATIM = sa.JSON(none_as_null=True)
ERRORS = ("accuracy_error", "speed_error", "efficiency_error", "cost_error", "reliability_error")


def upgrade() -> None:
    """Columns are added in place, which takes as long for a million executions as for one."""
    for table in ("executions", "latest"):
        for name in ERRORS:
            op.add_column(table, sa.Column(name, sa.Double()))
    op.add_column("arms", sa.Column("score_errors", VERBATIM))
    op.add_column("runs", sa.Column("origin", VERBATIM))
    for name in ("experiment", "name"):
        op.create_index(f"ix_arms_{name}", "arms", [name])
    op.create_table(
        "baselines",
        sa.Column("id", KEY, nullable=False),
        *(sa.Column(name, WORDS, nullable=False) for name in ("workspace", "agent", "suite_id", "version", "run_id")),
        sa.Column("set_at", sa.BigInteger(), nullable=False),
        sa.Column("note", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_baselines"),
        sa.UniqueConstraint("workspace", "agent", "suite_id", name="uq_baselines_workspace_agent_suite_id"),
    )


def downgrade() -> None:
    op.drop_table("baselines")
    for name in ("experiment", "name"):
        op.drop_index(f"ix_arms_{name}", "arms")
    op.drop_column("runs", "origin")
    op.drop_column("arms", "score_errors")
    for table in ("latest", "executions"):
        for name in reversed(ERRORS):
            op.drop_column(table, name)
