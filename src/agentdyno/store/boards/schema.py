"""Agents, suites, and what each execution of a benchmark by an agent came to; and the summaries that boards read.

An execution is one arm of one run of a suite. ``executions`` is narrow on purpose: what many rows share (environment,
configuration, agent, benchmark) is kept once beside it. The view ``benchmark_executions`` shows the whole.

``executions.form`` says what its run was (``model.form``); ``suites.part_of`` is set for a version that is a part of
another, as ``--limit`` makes one. ``stale`` executions have scores that were made with other targets than those in
force and cannot be worked out again: boards leave these scores out.

Summaries change in the transaction that changes an execution, and only then. Sums are whole numbers (see
``summaries``), so that adding, taking away and building anew give the same. Simulated executions are not in them.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    UniqueConstraint,
    event,
)

from agentdyno.store.boards.view import CREATE_VIEW
from agentdyno.store.database.columns import KEY, ONLY_WHERE, VERBATIM, Words, metadata

SCORES = ("accuracy", "speed", "efficiency", "cost", "reliability", "overall")
"""The five dimensions and their weighted mean, each in 0..1."""

SUMMED = (*SCORES, "cost_usd")
"""What ``agg_day`` adds up, each with the number of executions where it is known."""

NUMBERS = (
    *SCORES,
    "tokens_used",
    "api_calls",
    "memory_peak_bytes",
    "cpu_s",
    "duration_s",
    "correctness",
    "completeness",
    "relevance",
    "cost_usd",
    "cases",
    "scored",
    "case_mean",
    "case_variance",
    "passed",
    "samples",
    "attempts",
)
"""The columns of ``executions`` with a figure, unknown where null; ``rows.Execution`` has them in this order."""

ERRORS = tuple(f"{name}_error" for name in SCORES[:5])
"""Standard errors of the five scores, null where too few cases tell."""

SHOWN = (*SCORES, "cost_usd", "duration_s", "tokens_used", "scored", "case_mean", "case_variance", *ERRORS, "spread")
"""What ``latest`` repeats of a success, so that a board reads one small table."""

agents = Table(
    "agents",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("uid", LargeBinary(16), nullable=False, unique=True),
    Column("name", Words(), nullable=False),
    Column("version", Words(), nullable=False),
    Column("digest", Words(), nullable=False),
    Column("uses", Words(), nullable=False),
    Column("config", VERBATIM),
    Column("created_at", BigInteger, nullable=False),
    Column("identity", Words()),
    Column("label", Words(), index=True),
    UniqueConstraint("name", "version", "digest"),
)

suites = Table(
    "suites",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("uid", LargeBinary(16), nullable=False, unique=True),
    Column("suite_id", Words(), nullable=False, index=True),
    Column("name", Words(), nullable=False),
    Column("version", Words(), nullable=False),
    Column("digest", Words(), nullable=False, unique=True),
    Column("category", Words(), nullable=False),
    Column("document", VERBATIM, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("part_of", Words()),
)

benchmarks = Table(
    "benchmarks",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("uid", LargeBinary(16), nullable=False, unique=True),
    Column("suite", ForeignKey("suites.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("benchmark_id", Words(), nullable=False),
    Column("name", Words(), nullable=False),
    Column("category", Words(), nullable=False),
    Column("test_type", Words(), nullable=False),
    Column("complexity", Words(), nullable=False),
    Column("cases", Integer, nullable=False),
    Column("baseline_agent", Words()),
    Column("baseline_accuracy", Double),
    UniqueConstraint("suite", "benchmark_id"),
)

workspaces = Table(
    "workspaces",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("uid", LargeBinary(16), nullable=False, unique=True),
    Column("name", Words(), nullable=False, unique=True),
)

configurations = Table(
    "configurations",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("digest", LargeBinary(32), nullable=False, unique=True),
    Column("document", VERBATIM, nullable=False),
)

executions = Table(
    "executions",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("uid", LargeBinary(16), nullable=False, unique=True),
    Column("run", ForeignKey("runs.id", ondelete="CASCADE")),
    Column("arm", ForeignKey("arms.id", ondelete="CASCADE")),
    Column("agent", ForeignKey("agents.id"), nullable=False),
    Column("benchmark", ForeignKey("benchmarks.id"), nullable=False),
    Column("workspace", ForeignKey("workspaces.id"), nullable=False),
    Column("environment", ForeignKey("environments.id")),
    Column("configuration", ForeignKey("configurations.id")),
    Column("started_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("status", Words(), nullable=False),
    Column("error_details", Words()),
    *(Column(name, Double) for name in SCORES),
    Column("tokens_used", BigInteger),
    Column("api_calls", BigInteger),
    Column("memory_peak_bytes", BigInteger),
    Column("cpu_s", Double),
    Column("duration_s", Double),
    Column("correctness", Double),
    Column("completeness", Double),
    Column("relevance", Double),
    Column("cost_usd", Double),
    Column("cases", Integer),
    Column("scored", Integer),
    Column("case_mean", Double),
    Column("case_variance", Double),
    Column("passed", Integer),
    Column("samples", Integer),
    Column("attempts", Integer),
    Column("simulated", SmallInteger, nullable=False),
    *(Column(name, Double) for name in ERRORS),
    Column("form", Words(), nullable=False, server_default="unknown"),
    Column("stale", SmallInteger, nullable=False, server_default="0"),
    Column("spread", LargeBinary),
)
for _columns in (("agent", "benchmark", "created_at"), ("benchmark", "created_at"), ("accuracy", "speed")):
    Index(f"ix_executions_{'_'.join(_columns)}", *(executions.c[name] for name in _columns))
for _name, _unique in (("arm", True), ("run", False)):
    _present = executions.c[_name].is_not(None)  # imported rows have neither and cost these indexes nothing
    Index(
        f"ix_executions_{_name}",
        executions.c[_name],
        unique=_unique,
        sqlite_where=_present,
        info={ONLY_WHERE: _present},
    )

latest = Table(
    "latest",
    metadata,
    Column("agent", ForeignKey("agents.id"), nullable=False),
    Column("benchmark", ForeignKey("benchmarks.id"), nullable=False, index=True),
    Column("whole", SmallInteger, nullable=False),
    Column("category", Words(), nullable=False),
    Column("attempt", ForeignKey("executions.id"), nullable=False),
    Column("attempt_at", BigInteger, nullable=False),
    Column("attempt_status", Words(), nullable=False),
    Column("success", ForeignKey("executions.id")),
    Column("success_at", BigInteger),
    Column("success_uid", LargeBinary(16)),
    *(Column(name, executions.c[name].type) for name in SHOWN),
    PrimaryKeyConstraint("agent", "benchmark", "whole"),
    sqlite_with_rowid=False,
)

agg_day = Table(
    "agg_day",
    metadata,
    Column("suite", ForeignKey("suites.id"), nullable=False),
    Column("category", Words(), nullable=False),
    Column("agent", ForeignKey("agents.id"), nullable=False),
    Column("day", Integer, nullable=False),
    Column("workspace", ForeignKey("workspaces.id"), nullable=False),
    Column("form", Words(), nullable=False),
    Column("attempts", BigInteger, nullable=False),
    Column("n", BigInteger, nullable=False),
    *(Column(f"sum_{name}", BigInteger, nullable=False) for name in SUMMED),
    *(Column(f"n_{name}", BigInteger, nullable=False) for name in SUMMED),
    Column("passed", BigInteger, nullable=False),
    Column("samples", BigInteger, nullable=False),
    Column("scored", BigInteger, nullable=False),
    Column("case_sum", BigInteger, nullable=False),
    Column("case_squares", BigInteger, nullable=False),
    PrimaryKeyConstraint("suite", "category", "agent", "day", "workspace", "form"),
    sqlite_with_rowid=False,
)

counters = Table(
    "counters",
    metadata,
    Column("name", Words(), nullable=False),
    Column("value", BigInteger, nullable=False),
    PrimaryKeyConstraint("name"),
)

targets = Table(
    "targets",
    metadata,
    Column("benchmark", ForeignKey("benchmarks.id"), nullable=False),
    Column("metric", Words(), nullable=False),
    Column("target", Double, nullable=False),
    Column("bound", Double, nullable=False),
    Column("agent", Words(), nullable=False),
    Column("run_id", Words(), nullable=False),
    Column("set_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("benchmark", "metric"),
)

baselines = Table(
    "baselines",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("workspace", Words(), nullable=False),
    Column("agent", Words(), nullable=False),
    Column("suite_id", Words(), nullable=False),
    Column("version", Words(), nullable=False),
    Column("run_id", Words(), nullable=False),
    Column("set_at", BigInteger, nullable=False),
    Column("note", Words(), nullable=False),
    UniqueConstraint("workspace", "agent", "suite_id"),
)


@event.listens_for(metadata, "after_create")
def _create_view(_target: object, connection: Connection, **_options: object) -> None:
    connection.exec_driver_sql(CREATE_VIEW[connection.dialect.name])
