"""The tables, in types that SQLite and PostgreSQL share.

Rows refer to each other by small integers; a run is known outside by its 16-byte UUIDv7. Times are UTC
milliseconds. An environment and a spec are stored once, however many runs share them. A nullable JSON column is
null where the value is empty.

A change here needs a migration in ``migrations/versions`` and its revision at the end of ``REVISIONS``.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB

REVISIONS = ("0001",)
HEAD = REVISIONS[-1]
VERSION_TABLE = "agentdyno_version"

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

KEY = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite numbers rows by itself only where the type is exactly INTEGER."""

FIGURES = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
"""JSON of ours, which PostgreSQL may search."""

VERBATIM = JSON(none_as_null=True)
"""JSON that came from outside. JSONB refuses NUL and unpaired surrogates, so PostgreSQL keeps this as text."""

environments = Table(
    "environments",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("digest", LargeBinary(32), nullable=False, unique=True),
    Column("machine_id", Text, nullable=False, index=True),
    Column("document", VERBATIM, nullable=False),
)

specs = Table(
    "specs",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("digest", LargeBinary(32), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("document", VERBATIM, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("run_id", LargeBinary(16), nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("started_at", BigInteger, nullable=False, index=True),
    Column("finished_at", BigInteger),
    Column("spec", ForeignKey("specs.id"), nullable=False),
    Column("environment", ForeignKey("environments.id"), nullable=False),
    Column("vcs", VERBATIM),
    Column("tags", VERBATIM),
    Column("notes", Text, nullable=False),
    Column("warnings", VERBATIM),
    Column("overhead_s", Double),
    Column("stopped_because", Text),
)

arms = Table(
    "arms",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("run", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    Column("arm_id", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("name", Text, nullable=False),
    Column("experiment", Text, nullable=False),
    Column("params", VERBATIM),
    Column("benchmark", Text),
    Column("agent", Text),
    Column("side", Text),
    Column("planned", Integer, nullable=False),
    Column("observed", VERBATIM),
    Column("metrics", FIGURES),
    Column("scores", FIGURES),
    Column("statuses", FIGURES),
    UniqueConstraint("run", "arm_id"),
)

samples = Table(
    "samples",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("arm", ForeignKey("arms.id", ondelete="CASCADE"), nullable=False),
    Column("phase", Text, nullable=False),
    Column("iteration", BigInteger, nullable=False),
    Column("case_id", Text, nullable=False),
    Column("instrument", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("started_at_ms", BigInteger, nullable=False),
    Column("duration_s", Double),
    Column("cpu_s", Double),
    Column("readings", FIGURES),
    Column("inner_loops", BigInteger, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("process", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("scores", FIGURES),
    Column("usage", FIGURES),
    Column("output", VERBATIM),
    Column("details", VERBATIM),
    Column("failure", VERBATIM),
    UniqueConstraint("arm", "phase", "iteration", "case_id", "instrument"),
)

artifacts = Table(
    "artifacts",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("run", ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("arm", ForeignKey("arms.id", ondelete="CASCADE")),
    Column("name", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("content", LargeBinary),
)

calibrations = Table(
    "calibrations",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("machine_id", Text, nullable=False),
    Column("measured_at", BigInteger, nullable=False),
    Column("comparisons", Integer, nullable=False),
    Column("samples_per_side", Integer, nullable=False),
    Column("noise_floor", Double, nullable=False),
    Column("false_alarms", Integer, nullable=False),
)
Index("ix_calibrations_machine_id_measured_at", calibrations.c.machine_id, calibrations.c.measured_at)
