"""Trials of several samples: which part of its trial a sample is, and whether the trial was over with it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TRIAL = ("arm", "phase", "iteration", "case_id", "instrument")
OF_TRIAL = "uq_samples_arm_phase_iteration_case_id_instrument"
OF_PART = "uq_samples_arm_phase_iteration_case_id_instrument_part"


def upgrade() -> None:
    """Every sample that is there was its whole trial. SQLite copies the table, because its key changes."""
    with op.batch_alter_table("samples") as samples:
        samples.add_column(sa.Column("part", sa.Integer(), nullable=False, server_default="0"))
        samples.add_column(sa.Column("ended", sa.Boolean(), nullable=False, server_default=sa.true()))
        samples.drop_constraint(OF_TRIAL, type_="unique")
        samples.create_unique_constraint(OF_PART, [*TRIAL, "part"])


def downgrade() -> None:
    """Keeps the first part of each trial."""
    op.execute("DELETE FROM samples WHERE part > 0")
    with op.batch_alter_table("samples") as samples:
        samples.drop_constraint(OF_PART, type_="unique")
        samples.create_unique_constraint(OF_TRIAL, [*TRIAL])
        samples.drop_column("ended")
        samples.drop_column("part")
