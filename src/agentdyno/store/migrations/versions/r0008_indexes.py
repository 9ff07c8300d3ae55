"""Indexes of executions by benchmark and by scores, for questions that name no agent."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

INDEXES = {
    "ix_executions_benchmark_created_at": ["benchmark", "created_at"],
    "ix_executions_accuracy_speed": ["accuracy", "speed"],
}


def upgrade() -> None:
    """No row changes."""
    for name, columns in INDEXES.items():
        op.create_index(name, "executions", columns)


def downgrade() -> None:
    """No row changes."""
    for name in INDEXES:
        op.drop_index(name, "executions")
