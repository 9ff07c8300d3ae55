"""Marks that people gave to answers, and calibrations of judges. Times are UTC milliseconds."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Integer, Table, UniqueConstraint

from agentdyno.store.database.columns import KEY, VERBATIM, Words, metadata

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
