"""Agents, suites and executions, their summaries, and the view ``benchmark_executions``."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from agentdyno.store.boards.view import CREATE_VIEW_0002

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
VERBATIM = sa.JSON(none_as_null=True)
SUMMED = (
    "accuracy",
    "speed",
    "efficiency",
    "cost",
    "reliability",
    "overall",
    "cost_usd",
)


def upgrade() -> None:
    _agents()
    _suites()
    _runs()
    _executions()
    _latest()
    _agg_day()
    op.create_table(
        "counters",
        sa.Column("name", WORDS, nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_counters"),
    )
    connection = op.get_bind()
    connection.exec_driver_sql(CREATE_VIEW_0002[connection.dialect.name])


def downgrade() -> None:
    op.execute("DROP VIEW benchmark_executions")
    for index in ("ix_executions_run", "ix_executions_arm"):
        op.drop_index(index, "executions")
    for table in ("agg_day", "latest", "counters", "executions", "configurations", "workspaces"):
        op.drop_table(table)
    with op.batch_alter_table("arms") as arms:
        arms.drop_column("totals")
        arms.drop_column("case_figures")
    with op.batch_alter_table("runs") as runs:
        runs.drop_constraint("fk_runs_suite_suites", type_="foreignkey")
        for column in ("workspace", "targets", "pricing", "suite_settings", "suite"):
            runs.drop_column(column)
    for table in ("benchmarks", "suites", "agents"):
        op.drop_table(table)


def _agents() -> None:
    op.create_table(
        "agents",
        sa.Column("id", KEY, nullable=False),
        sa.Column("uid", sa.LargeBinary(16), nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("version", WORDS, nullable=False),
        sa.Column("digest", WORDS, nullable=False),
        sa.Column("uses", WORDS, nullable=False),
        sa.Column("config", VERBATIM),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_agents"),
        sa.UniqueConstraint("uid", name="uq_agents_uid"),
        sa.UniqueConstraint("name", "version", "digest", name="uq_agents_name_version_digest"),
    )
    op.create_table(
        "workspaces",
        sa.Column("id", KEY, nullable=False),
        sa.Column("uid", sa.LargeBinary(16), nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_workspaces"),
        sa.UniqueConstraint("uid", name="uq_workspaces_uid"),
        sa.UniqueConstraint("name", name="uq_workspaces_name"),
    )
    op.create_table(
        "configurations",
        sa.Column("id", KEY, nullable=False),
        sa.Column("digest", sa.LargeBinary(32), nullable=False),
        sa.Column("document", VERBATIM, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_configurations"),
        sa.UniqueConstraint("digest", name="uq_configurations_digest"),
    )


def _suites() -> None:
    op.create_table(
        "suites",
        sa.Column("id", KEY, nullable=False),
        sa.Column("uid", sa.LargeBinary(16), nullable=False),
        sa.Column("suite_id", WORDS, nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("version", WORDS, nullable=False),
        sa.Column("digest", WORDS, nullable=False),
        sa.Column("category", WORDS, nullable=False),
        sa.Column("document", VERBATIM, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_suites"),
        sa.UniqueConstraint("uid", name="uq_suites_uid"),
        sa.UniqueConstraint("digest", name="uq_suites_digest"),
    )
    op.create_index("ix_suites_suite_id", "suites", ["suite_id"])
    op.create_table(
        "benchmarks",
        sa.Column("id", KEY, nullable=False),
        sa.Column("uid", sa.LargeBinary(16), nullable=False),
        sa.Column("suite", KEY, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", WORDS, nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column("category", WORDS, nullable=False),
        sa.Column("test_type", WORDS, nullable=False),
        sa.Column("complexity", WORDS, nullable=False),
        sa.Column("cases", sa.Integer(), nullable=False),
        sa.Column("baseline_agent", WORDS),
        sa.Column("baseline_accuracy", sa.Double()),
        sa.PrimaryKeyConstraint("id", name="pk_benchmarks"),
        sa.UniqueConstraint("uid", name="uq_benchmarks_uid"),
        sa.UniqueConstraint("suite", "benchmark_id", name="uq_benchmarks_suite_benchmark_id"),
        sa.ForeignKeyConstraint(["suite"], ["suites.id"], name="fk_benchmarks_suite_suites"),
    )


def _runs() -> None:
    with op.batch_alter_table("runs") as runs:
        runs.add_column(sa.Column("suite", KEY))
        runs.add_column(sa.Column("suite_settings", VERBATIM))
        runs.add_column(sa.Column("pricing", VERBATIM))
        runs.add_column(sa.Column("targets", VERBATIM))
        runs.add_column(sa.Column("workspace", WORDS, nullable=False, server_default="default"))
        runs.create_foreign_key("fk_runs_suite_suites", "suites", ["suite"], ["id"])
    with op.batch_alter_table("arms") as arms:
        arms.add_column(sa.Column("case_figures", VERBATIM))
        arms.add_column(sa.Column("totals", VERBATIM))


def _executions() -> None:
    op.create_table(
        "executions",
        sa.Column("id", KEY, nullable=False),
        sa.Column("uid", sa.LargeBinary(16), nullable=False),
        sa.Column("run", KEY),
        sa.Column("arm", KEY),
        sa.Column("agent", KEY, nullable=False),
        sa.Column("benchmark", KEY, nullable=False),
        sa.Column("workspace", KEY, nullable=False),
        sa.Column("environment", KEY),
        sa.Column("configuration", KEY),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("status", WORDS, nullable=False),
        sa.Column("error_details", WORDS),
        *(sa.Column(name, sa.Double()) for name in SUMMED[:6]),
        sa.Column("tokens_used", sa.BigInteger()),
        sa.Column("api_calls", sa.BigInteger()),
        sa.Column("memory_peak_bytes", sa.BigInteger()),
        *(sa.Column(name, sa.Double()) for name in ("cpu_s", "duration_s")),
        *(sa.Column(name, sa.Double()) for name in ("correctness", "completeness", "relevance", "cost_usd")),
        *(sa.Column(name, sa.Integer()) for name in ("cases", "scored")),
        *(sa.Column(name, sa.Double()) for name in ("case_mean", "case_variance")),
        *(sa.Column(name, sa.Integer()) for name in ("passed", "samples", "attempts")),
        sa.Column("simulated", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_executions"),
        sa.UniqueConstraint("uid", name="uq_executions_uid"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_executions_run_runs", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["arm"], ["arms.id"], name="fk_executions_arm_arms", ondelete="CASCADE"),
        *(
            sa.ForeignKeyConstraint([name], [f"{name}s.id"], name=f"fk_executions_{name}_{name}s")
            for name in ("agent", "benchmark", "workspace", "environment", "configuration")
        ),
    )
    op.create_index("ix_executions_agent_benchmark_created_at", "executions", ["agent", "benchmark", "created_at"])
    for name, unique in (("arm", True), ("run", False)):
        present = sa.text(f"{name} IS NOT NULL")
        op.create_index(
            f"ix_executions_{name}",
            "executions",
            [name],
            unique=unique,
            sqlite_where=present,
            postgresql_where=present,
        )


def _latest() -> None:
    op.create_table(
        "latest",
        sa.Column("agent", KEY, nullable=False),
        sa.Column("benchmark", KEY, nullable=False),
        sa.Column("category", WORDS, nullable=False),
        sa.Column("attempt", KEY, nullable=False),
        sa.Column("attempt_at", sa.BigInteger(), nullable=False),
        sa.Column("attempt_status", WORDS, nullable=False),
        sa.Column("success", KEY),
        sa.Column("success_at", sa.BigInteger()),
        sa.Column("success_uid", sa.LargeBinary(16)),
        *(sa.Column(name, sa.Double()) for name in (*SUMMED[:6], "cost_usd", "duration_s")),
        sa.Column("tokens_used", sa.BigInteger()),
        sa.Column("scored", sa.Integer()),
        *(sa.Column(name, sa.Double()) for name in ("case_mean", "case_variance")),
        sa.PrimaryKeyConstraint("agent", "benchmark", name="pk_latest"),
        sa.ForeignKeyConstraint(["agent"], ["agents.id"], name="fk_latest_agent_agents"),
        sa.ForeignKeyConstraint(["benchmark"], ["benchmarks.id"], name="fk_latest_benchmark_benchmarks"),
        sa.ForeignKeyConstraint(["attempt"], ["executions.id"], name="fk_latest_attempt_executions"),
        sa.ForeignKeyConstraint(["success"], ["executions.id"], name="fk_latest_success_executions"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_latest_benchmark", "latest", ["benchmark"])


def _agg_day() -> None:
    op.create_table(
        "agg_day",
        sa.Column("category", WORDS, nullable=False),
        sa.Column("agent", KEY, nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("workspace", KEY, nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("attempts", "n")),
        *(sa.Column(f"sum_{name}", sa.BigInteger(), nullable=False) for name in SUMMED),
        *(sa.Column(f"n_{name}", sa.BigInteger(), nullable=False) for name in SUMMED),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("passed", "samples", "scored", "case_sum", "case_squares")
        ),
        sa.PrimaryKeyConstraint("category", "agent", "day", "workspace", name="pk_agg_day"),
        sa.ForeignKeyConstraint(["agent"], ["agents.id"], name="fk_agg_day_agent_agents"),
        sa.ForeignKeyConstraint(["workspace"], ["workspaces.id"], name="fk_agg_day_workspace_workspaces"),
        sqlite_with_rowid=False,
    )
