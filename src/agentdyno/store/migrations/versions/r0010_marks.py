"""Marks that people gave to answers, and calibrations of judges."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0008"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
VERBATIM = sa.JSON(none_as_null=True)
MARK_KEY = ("run_id", "benchmark", "case_id", "agent", "iteration", "who")


def upgrade() -> None:
    op.create_table(
        "marks",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", WORDS, nullable=False),
        sa.Column("benchmark", WORDS, nullable=False),
        sa.Column("case_id", WORDS, nullable=False),
        sa.Column("agent", WORDS, nullable=False),
        sa.Column("iteration", sa.Integer(), nullable=False),
        sa.Column("who", WORDS, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("is_right", sa.Boolean(), nullable=False),
        sa.Column("note", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_marks"),
        sa.UniqueConstraint(*MARK_KEY, name=f"uq_marks_{'_'.join(MARK_KEY)}"),
    )
    op.create_table(
        "judge_calibrations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("fingerprint", WORDS, nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("document", VERBATIM, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_judge_calibrations"),
        sa.UniqueConstraint("fingerprint", name="uq_judge_calibrations_fingerprint"),
    )


def downgrade() -> None:
    op.drop_table("judge_calibrations")
    op.drop_table("marks")
