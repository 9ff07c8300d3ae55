"""What a service keeps besides results: jobs, the keys of its callers, who did what, alerts that were seen and sent.

Times are UTC milliseconds.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, Table, UniqueConstraint, text

from agentdyno.store.database.columns import KEY, ONLY_WHERE, VERBATIM, Words, metadata

jobs = Table(
    "jobs",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("job_id", Words(), nullable=False, unique=True),
    Column("agent", Words(), nullable=False),
    Column("agent_digest", Words(), nullable=False),
    Column("suite_id", Words(), nullable=False),
    Column("suite_digest", Words(), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("status", Words(), nullable=False),
    Column("configuration", VERBATIM),
    Column("options", VERBATIM),
    Column("priority", BigInteger, nullable=False),
    Column("workspace", Words(), nullable=False),
    Column("created_by", Words(), nullable=False),
    Column("idempotency_key", Words()),
    Column("attempt", Integer, nullable=False),
    Column("lost", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("max_failures", Integer, nullable=False),
    Column("worker", Words(), nullable=False),
    Column("lease_until", BigInteger),
    Column("started_at", BigInteger),
    Column("finished_at", BigInteger),
    Column("cancel_requested", Boolean, nullable=False),
    Column("run_id", Words(), nullable=False),
    Column("progress", VERBATIM),
    Column("error", Words(), nullable=False),
    UniqueConstraint("created_by", "idempotency_key"),
    Index("ix_jobs_status_priority_created_at", "status", "priority", "created_at"),
    Index("ix_jobs_created_at_job_id", "created_at", "job_id"),
)
"""``idempotency_key`` is null where none was given, so that any number of such jobs may be there."""

workers = Table(
    "workers",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("name", Words(), nullable=False, unique=True),
    Column("seen_at", BigInteger, nullable=False),
    Column("agents", VERBATIM),
    Column("suites", VERBATIM),
)
"""``agents`` and ``suites`` are lists of digests."""

_live = text("revoked_at IS NULL")

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("key_id", Words(), nullable=False, unique=True),
    Column("name", Words(), nullable=False),
    Column("scope", Words(), nullable=False),
    Column("prefix", Words(), nullable=False, index=True),
    Column("secret_digest", LargeBinary(32), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("last_used_at", BigInteger),
    Column("revoked_at", BigInteger),
    Index("ix_api_keys_name", "name", unique=True, sqlite_where=_live, info={ONLY_WHERE: _live}),
)

audit = Table(
    "audit",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("who", Words(), nullable=False),
    Column("action", Words(), nullable=False),
    Column("subject", Words(), nullable=False),
    Column("details", VERBATIM),
)

acknowledgements = Table(
    "acknowledgements",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("alert_id", Words(), nullable=False, unique=True),
    Column("who", Words(), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("note", Words(), nullable=False),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("delivery_id", Words(), nullable=False, unique=True),
    Column("workspace", Words(), nullable=False),
    Column("channel", Words(), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("due_at", BigInteger, nullable=False),
    Column("message", VERBATIM),
    Column("alert_ids", VERBATIM),
    Column("status", Words(), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("lease_until", BigInteger),
    Column("finished_at", BigInteger),
    Column("error", Words(), nullable=False),
    Index("ix_deliveries_status_due_at", "status", "due_at"),
)
"""Messages about alerts to places outside. ``alert_ids`` is a list."""

told_alerts = Table(
    "told_alerts",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("workspace", Words(), nullable=False),
    Column("channel", Words(), nullable=False),
    Column("alert_id", Words(), nullable=False),
    Column("delivery_id", Words(), nullable=False, index=True),
    UniqueConstraint("workspace", "channel", "alert_id"),
)
"""Which message tells a place of an alert: one, whoever noticed it."""
