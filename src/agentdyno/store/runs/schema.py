"""Runs, their arms and samples, in types that SQLite and PostgreSQL share.

Rows refer to each other by small integers; a run is known outside by its 16-byte UUIDv7. Times are UTC
milliseconds. An environment, a spec and a suite's cases are stored once, however many runs share them. A nullable
JSON column is null where the value is empty. A trial may have several samples, told apart by ``part``; it is over
when one of them has ``ended``. That a trial has ended without any sample is a row whose phase begins with
``WITHOUT_SAMPLE``; it is no sample, and what asks for samples without naming their phase asks for ``IS_SAMPLE``.

A change here, in ``execution_schema`` or in ``service_schema`` needs a migration in ``migrations/versions`` and its
revision at the end of ``REVISIONS``.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    UniqueConstraint,
    true,
)

from agentdyno.model.plan import Phase
from agentdyno.store.boards import schema as execution_schema
from agentdyno.store.database.columns import HEAD, KEY, REVISIONS, VERBATIM, VERSION_TABLE, Words, metadata
from agentdyno.store.service import schema as service_schema

__all__ = [
    "HEAD",
    "IS_SAMPLE",
    "MARK_KEY",
    "REVISIONS",
    "VERSION_TABLE",
    "WITHOUT_SAMPLE",
    "arms",
    "artifacts",
    "calibrations",
    "environments",
    "execution_schema",
    "judge_calibrations",
    "marks",
    "metadata",
    "runs",
    "samples",
    "service_schema",
    "specs",
]

environments = Table(
    "environments",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("digest", LargeBinary(32), nullable=False, unique=True),
    Column("machine_id", Words(), nullable=False, index=True),
    Column("document", VERBATIM, nullable=False),
)

specs = Table(
    "specs",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("digest", LargeBinary(32), nullable=False, unique=True),
    Column("name", Words(), nullable=False),
    Column("document", VERBATIM, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("run_id", LargeBinary(16), nullable=False, unique=True),
    Column("kind", Words(), nullable=False),
    Column("name", Words(), nullable=False),
    Column("status", Words(), nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("started_at", BigInteger, nullable=False, index=True),
    Column("finished_at", BigInteger),
    Column("spec", ForeignKey("specs.id"), nullable=False),
    Column("environment", ForeignKey("environments.id"), nullable=False),
    Column("vcs", VERBATIM),
    Column("tags", VERBATIM),
    Column("notes", Words(), nullable=False),
    Column("warnings", VERBATIM),
    Column("overhead_s", Double),
    Column("stopped_because", Words()),
    Column("suite", ForeignKey("suites.id")),
    Column("suite_settings", VERBATIM),
    Column("pricing", VERBATIM),
    Column("targets", VERBATIM),
    Column("workspace", Words(), nullable=False, server_default="default"),
    Column("origin", VERBATIM),
    Column("form", VERBATIM),
    Column("paused_ms", BigInteger, nullable=False, server_default="0"),
)

arms = Table(
    "arms",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("run", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("arm_id", Words(), nullable=False),
    Column("position", Integer, nullable=False),
    Column("name", Words(), nullable=False, index=True),
    Column("experiment", Words(), nullable=False, index=True),
    Column("params", VERBATIM),
    Column("benchmark", Words()),
    Column("agent", Words()),
    Column("side", Words()),
    Column("planned", Integer, nullable=False),
    Column("observed", VERBATIM),
    Column("metrics", VERBATIM),
    Column("scores", VERBATIM),
    Column("statuses", VERBATIM),
    Column("case_figures", VERBATIM),
    Column("totals", VERBATIM),
    Column("score_errors", VERBATIM),
    Column("spread", VERBATIM),
    UniqueConstraint("run", "arm_id"),
)

samples = Table(
    "samples",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("arm", ForeignKey("arms.id", ondelete="CASCADE"), nullable=False),
    Column("phase", Words(), nullable=False),
    Column("iteration", BigInteger, nullable=False),
    Column("case_id", Words(), nullable=False),
    Column("instrument", Words(), nullable=False),
    Column("status", Words(), nullable=False),
    Column("started_at_ms", BigInteger, nullable=False),
    Column("duration_s", Double),
    Column("cpu_s", Double),
    Column("readings", VERBATIM),
    Column("inner_loops", BigInteger, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("process", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("scores", VERBATIM),
    Column("usage", VERBATIM),
    Column("output", VERBATIM),
    Column("details", VERBATIM),
    Column("failure", VERBATIM),
    Column("part", Integer, nullable=False, server_default="0"),
    Column("ended", Boolean, nullable=False, server_default=true()),
    UniqueConstraint("arm", "phase", "iteration", "case_id", "instrument", "part"),
)

WITHOUT_SAMPLE = "without sample: "
IS_SAMPLE = samples.c.phase.in_([phase.value for phase in Phase])

artifacts = Table(
    "artifacts",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("run", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("arm", ForeignKey("arms.id", ondelete="CASCADE")),
    Column("name", Words(), nullable=False),
    Column("path", Words(), nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("media_type", Words(), nullable=False),
    Column("content", LargeBinary),
)

calibrations = Table(
    "calibrations",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("machine_id", Words(), nullable=False),
    Column("measured_at", BigInteger, nullable=False),
    Column("comparisons", Integer, nullable=False),
    Column("samples_per_side", Integer, nullable=False),
    Column("noise_floor", Double, nullable=False),
    Column("false_alarms", Integer, nullable=False),
)
Index("ix_calibrations_machine_id_measured_at", calibrations.c.machine_id, calibrations.c.measured_at)

MARK_KEY = ("run_id", "benchmark", "case_id", "agent", "iteration", "who")

marks = Table(
    "marks",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("run_id", Words(), nullable=False),
    Column("benchmark", Words(), nullable=False),
    Column("case_id", Words(), nullable=False),
    Column("agent", Words(), nullable=False),
    Column("iteration", Integer, nullable=False),
    Column("who", Words(), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("is_right", Boolean, nullable=False),
    Column("note", Words(), nullable=False),
    UniqueConstraint(*MARK_KEY),
)
"""One mark a person and answer; marking again replaces it."""

judge_calibrations = Table(
    "judge_calibrations",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("fingerprint", Words(), nullable=False, unique=True),
    Column("made_at", BigInteger, nullable=False),
    Column("document", VERBATIM, nullable=False),
)
"""The newest of each judge with its prompt and rubric."""
