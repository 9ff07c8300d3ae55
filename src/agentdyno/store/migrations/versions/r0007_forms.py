"""Forms of runs, targets that stay, how scores move together; summaries by suite and form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from alembic import op

from agentdyno.store.boards.view import CREATE_VIEW, CREATE_VIEW_0002

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
VERBATIM = sa.JSON(none_as_null=True)
SCORES = ("accuracy", "speed", "efficiency", "cost", "reliability", "overall")
ERRORS = tuple(f"{name}_error" for name in SCORES[:5])
SUMMED = (*SCORES, "cost_usd")
SUMS = (
    "attempts",
    "n",
    *(f"sum_{name}" for name in SUMMED),
    *(f"n_{name}" for name in SUMMED),
    "passed",
    "samples",
    "scored",
    "case_sum",
    "case_squares",
)


def upgrade() -> None:
    """Old runs do not say whether they were whole; that they were cut short is known from why they stopped.

    The summaries are made anew afterwards, by the code that keeps them.
    """
    op.add_column("runs", sa.Column("form", VERBATIM))
    op.add_column("arms", sa.Column("spread", VERBATIM))
    op.add_column("suites", sa.Column("part_of", WORDS))
    op.add_column("executions", sa.Column("form", WORDS, nullable=False, server_default="unknown"))
    op.add_column("executions", sa.Column("stale", sa.SmallInteger(), nullable=False, server_default="0"))
    op.add_column("executions", sa.Column("spread", sa.LargeBinary()))
    op.execute(
        "UPDATE executions SET form = (SELECT CASE WHEN r.stopped_because = 'interrupted' THEN 'cancelled' ELSE "
        "'capped' END FROM runs r WHERE r.id = executions.run) WHERE EXISTS (SELECT 1 FROM runs r WHERE "
        "r.id = executions.run AND r.status = 'partial' AND r.stopped_because IS NOT NULL "
        "AND r.stopped_because NOT LIKE '%arms failed too often')"
    )
    op.create_table(
        "targets",
        sa.Column("benchmark", KEY, nullable=False),
        sa.Column("metric", WORDS, nullable=False),
        sa.Column("target", sa.Double(), nullable=False),
        sa.Column("bound", sa.Double(), nullable=False),
        sa.Column("agent", WORDS, nullable=False),
        sa.Column("run_id", WORDS, nullable=False),
        sa.Column("set_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("benchmark", "metric", name="pk_targets"),
        sa.ForeignKeyConstraint(["benchmark"], ["benchmarks.id"], name="fk_targets_benchmark_benchmarks"),
    )
    op.execute("DROP VIEW benchmark_executions")
    for table in ("latest", "agg_day"):
        op.drop_table(table)
    _latest(("agent", "benchmark", "whole"), sa.Column("spread", sa.LargeBinary()))
    _agg_day(("suite", "category", "agent", "day", "workspace", "form"))
    _create_view(CREATE_VIEW)


def _create_view(statement: Mapping[str, str]) -> None:
    connection = op.get_bind()
    connection.exec_driver_sql(statement[connection.dialect.name])


def downgrade() -> None:
    """What is whole stays in the summaries, as if there were nothing else."""
    whole = "FROM executions WHERE form IN ('full', 'unknown')"
    op.execute(f"CREATE TABLE kept_latest AS SELECT * FROM latest WHERE whole = 1 AND attempt IN (SELECT id {whole})")
    sums = ", ".join(f"CAST(SUM({name}) AS BIGINT) AS {name}" for name in SUMS)
    key = "category, agent, day, workspace"
    op.execute(
        f"CREATE TABLE kept_days AS SELECT {key}, {sums} FROM agg_day "
        f"WHERE form IN ('full', 'unknown') GROUP BY {key}"
    )
    op.execute("DROP VIEW benchmark_executions")
    for table in ("targets", "latest", "agg_day"):
        op.drop_table(table)
    _latest(("agent", "benchmark"))
    _agg_day(("category", "agent", "day", "workspace"))
    names = ", ".join(name for name in _LATEST if name != "whole")
    op.execute(f"INSERT INTO latest ({names}) SELECT {names} FROM kept_latest")
    op.execute(f"INSERT INTO agg_day ({key}, {', '.join(SUMS)}) SELECT {key}, {', '.join(SUMS)} FROM kept_days")
    for table in ("kept_latest", "kept_days"):
        op.drop_table(table)
    for name in ("spread", "stale", "form"):
        op.drop_column("executions", name)
    op.drop_column("suites", "part_of")
    op.drop_column("arms", "spread")
    op.drop_column("runs", "form")
    _create_view(CREATE_VIEW_0002)


_LATEST = (
    "agent",
    "benchmark",
    "category",
    "attempt",
    "attempt_at",
    "attempt_status",
    "success",
    "success_at",
    "success_uid",
    *SUMMED,
    "duration_s",
    "tokens_used",
    "scored",
    "case_mean",
    "case_variance",
    *ERRORS,
)


def _latest(key: Sequence[str], *further: sa.Column[bytes]) -> None:
    whole = [sa.Column("whole", sa.SmallInteger(), nullable=False)] if "whole" in key else []
    op.create_table(
        "latest",
        sa.Column("agent", KEY, nullable=False),
        sa.Column("benchmark", KEY, nullable=False),
        *whole,
        sa.Column("category", WORDS, nullable=False),
        sa.Column("attempt", KEY, nullable=False),
        sa.Column("attempt_at", sa.BigInteger(), nullable=False),
        sa.Column("attempt_status", WORDS, nullable=False),
        sa.Column("success", KEY),
        sa.Column("success_at", sa.BigInteger()),
        sa.Column("success_uid", sa.LargeBinary(16)),
        *(sa.Column(name, sa.Double()) for name in (*SUMMED, "duration_s")),
        sa.Column("tokens_used", sa.BigInteger()),
        sa.Column("scored", sa.Integer()),
        *(sa.Column(name, sa.Double()) for name in ("case_mean", "case_variance", *ERRORS)),
        *further,
        sa.PrimaryKeyConstraint(*key, name="pk_latest"),
        sa.ForeignKeyConstraint(["agent"], ["agents.id"], name="fk_latest_agent_agents"),
        sa.ForeignKeyConstraint(["benchmark"], ["benchmarks.id"], name="fk_latest_benchmark_benchmarks"),
        sa.ForeignKeyConstraint(["attempt"], ["executions.id"], name="fk_latest_attempt_executions"),
        sa.ForeignKeyConstraint(["success"], ["executions.id"], name="fk_latest_success_executions"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_latest_benchmark", "latest", ["benchmark"])


def _agg_day(key: Sequence[str]) -> None:
    types = {"category": WORDS, "form": WORDS}
    keys = ("agent", "workspace", *(["suite"] if "suite" in key else []))
    op.create_table(
        "agg_day",
        *(sa.Column(name, sa.Integer() if name == "day" else types.get(name, KEY), nullable=False) for name in key),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in SUMS),
        sa.PrimaryKeyConstraint(*key, name="pk_agg_day"),
        *(sa.ForeignKeyConstraint([name], [f"{name}s.id"], name=f"fk_agg_day_{name}_{name}s") for name in keys),
        sqlite_with_rowid=False,
    )
