"""The first schema: runs, arms, samples, artifacts, calibrations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
VERBATIM = sa.JSON(none_as_null=True)
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    _documents()
    _runs()
    _samples()
    _artifacts()
    _calibrations()


def downgrade() -> None:
    for table in ("calibrations", "artifacts", "samples", "arms", "runs", "specs", "environments"):
        op.drop_table(table)


def _documents() -> None:
    op.create_table(
        "environments",
        sa.Column("id", KEY, nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("machine_id", WORDS, nullable=False),
        sa.Column("document", VERBATIM, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_environments"),
        sa.UniqueConstraint("digest", name="uq_environments_digest"),
    )
    op.create_index("ix_environments_machine_id", "environments", ["machine_id"])
    op.create_table(
        "specs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("document", VERBATIM, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_specs"),
        sa.UniqueConstraint("digest", name="uq_specs_digest"),
    )


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run_id", sa.LargeBinary(16), nullable=False),
        sa.Column("kind", WORDS, nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("status", WORDS, nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger()),
        sa.Column("spec", KEY, nullable=False),
        sa.Column("environment", KEY, nullable=False),
        sa.Column("vcs", VERBATIM),
        sa.Column("tags", VERBATIM),
        sa.Column("notes", WORDS, nullable=False),
        sa.Column("warnings", VERBATIM),
        sa.Column("overhead_s", sa.Double()),
        sa.Column("stopped_because", WORDS),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.UniqueConstraint("run_id", name="uq_runs_run_id"),
        sa.ForeignKeyConstraint(["spec"], ["specs.id"], name="fk_runs_spec_specs"),
        sa.ForeignKeyConstraint(["environment"], ["environments.id"], name="fk_runs_environment_environments"),
    )
    op.create_index("ix_runs_started_at", "runs", ["started_at"])
    op.create_table(
        "arms",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run", KEY, nullable=False),
        sa.Column("arm_id", WORDS, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("experiment", WORDS, nullable=False),
        sa.Column("params", VERBATIM),
        sa.Column("benchmark", WORDS),
        sa.Column("agent", WORDS),
        sa.Column("side", WORDS),
        sa.Column("planned", sa.Integer(), nullable=False),
        sa.Column("observed", VERBATIM),
        sa.Column("metrics", VERBATIM),
        sa.Column("scores", VERBATIM),
        sa.Column("statuses", VERBATIM),
        sa.PrimaryKeyConstraint("id", name="pk_arms"),
        sa.UniqueConstraint("run", "arm_id", name="uq_arms_run_arm_id"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_arms_run_runs", ondelete="CASCADE"),
    )


def _samples() -> None:
    op.create_table(
        "samples",
        sa.Column("id", KEY, nullable=False),
        sa.Column("arm", KEY, nullable=False),
        sa.Column("phase", WORDS, nullable=False),
        sa.Column("iteration", sa.BigInteger(), nullable=False),
        sa.Column("case_id", WORDS, nullable=False),
        sa.Column("instrument", WORDS, nullable=False),
        sa.Column("status", WORDS, nullable=False),
        sa.Column("started_at_ms", sa.BigInteger(), nullable=False),
        sa.Column("duration_s", sa.Double()),
        sa.Column("cpu_s", sa.Double()),
        sa.Column("readings", VERBATIM),
        sa.Column("inner_loops", sa.BigInteger(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("process", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("scores", VERBATIM),
        sa.Column("usage", VERBATIM),
        sa.Column("output", VERBATIM),
        sa.Column("details", VERBATIM),
        sa.Column("failure", VERBATIM),
        sa.PrimaryKeyConstraint("id", name="pk_samples"),
        sa.UniqueConstraint(
            "arm",
            "phase",
            "iteration",
            "case_id",
            "instrument",
            name="uq_samples_arm_phase_iteration_case_id_instrument",
        ),
        sa.ForeignKeyConstraint(["arm"], ["arms.id"], name="fk_samples_arm_arms", ondelete="CASCADE"),
    )


def _artifacts() -> None:
    op.create_table(
        "artifacts",
        sa.Column("id", KEY, nullable=False),
        sa.Column("run", KEY, nullable=False),
        sa.Column("arm", KEY),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("path", WORDS, nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("media_type", WORDS, nullable=False),
        sa.Column("content", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("id", name="pk_artifacts"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_artifacts_run_runs", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["arm"], ["arms.id"], name="fk_artifacts_arm_arms", ondelete="CASCADE"),
    )
    op.create_index("ix_artifacts_run", "artifacts", ["run"])


def _calibrations() -> None:
    op.create_table(
        "calibrations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("machine_id", WORDS, nullable=False),
        sa.Column("measured_at", sa.BigInteger(), nullable=False),
        sa.Column("comparisons", sa.Integer(), nullable=False),
        sa.Column("samples_per_side", sa.Integer(), nullable=False),
        sa.Column("noise_floor", sa.Double(), nullable=False),
        sa.Column("false_alarms", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_calibrations"),
    )
    op.create_index("ix_calibrations_machine_id_measured_at", "calibrations", ["machine_id", "measured_at"])
