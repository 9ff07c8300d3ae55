"""Questions about executions that name no agent read an index, not the whole table."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event

from agentdyno.store import Execution, Store
from agentdyno.store.rows import ExecutionFilter

from ..suite_builders import MONDAY, SUITE

ROWS = 4_000
BENCHMARKS = 40
WIDE = replace(
    SUITE,
    benchmarks=tuple(replace(SUITE.benchmarks[0], benchmark_id=f"part-{number}") for number in range(BENCHMARKS)),
)
"""As many benchmarks as a project comes to have, so that one of them is a small part of all rows."""


@pytest.fixture
def filled(store: Store) -> Store:
    """Enough rows that reading all of them is the worse plan."""
    store.boards.add_suite(WIDE, now_ms=MONDAY)
    store.boards.add_executions(
        Execution(
            f"agent-{number // BENCHMARKS % 10}",
            "1",
            WIDE.digest,
            f"part-{number % BENCHMARKS}",
            MONDAY + number,
            accuracy=number % 997 / 1000,
            speed=number % 31 / 31,
        )
        for number in range(ROWS)
    )
    with store.session as session:
        session.connection.exec_driver_sql("ANALYZE")
    return store


def plan_of(store: Store, statement: str, parameters: Any = ()) -> str:
    """What the database says it will do; of the table of executions alone."""
    with store.session as session:
        sqlite = session.connection.dialect.name == "sqlite"
        asked = f"{'EXPLAIN QUERY PLAN' if sqlite else 'EXPLAIN'} {statement}"
        rows = session.connection.exec_driver_sql(asked, parameters).all()
    return "\n".join(str(row[-1]) for row in rows)


def uses(store: Store, statement: str, index: str, parameters: Any = ()) -> None:
    plan = plan_of(store, statement, parameters)
    assert index in plan, plan
    assert "SCAN e\n" not in f"{plan}\n", plan
    assert "Seq Scan on executions" not in plan, plan


def reads_one_benchmark(store: Store, statement: str, parameters: Any = ()) -> None:
    """SQLite may go from agent to agent where those are few; it reads no row of another benchmark either."""
    plan = plan_of(store, statement, parameters)
    searched = re.search(r"SEARCH (e|executions) USING INDEX ix_executions_\w+ \(.*benchmark=\?", plan)
    assert searched or "ix_executions_benchmark_created_at" in plan, plan
    assert "Seq Scan on executions" not in plan, plan


def test_a_question_by_scores_uses_the_index_of_scores(filled: Store) -> None:
    for where in ("accuracy_score >= 0.99", "accuracy_score > 0.98 AND speed_score > 0.9", "accuracy_score = 0.5"):
        uses(filled, f"SELECT id FROM benchmark_executions WHERE {where}", "ix_executions_accuracy_speed")
    best = "SELECT id FROM benchmark_executions WHERE accuracy_score > 0.9 ORDER BY accuracy_score DESC LIMIT 5"
    uses(filled, best, "ix_executions_accuracy_speed")


def test_a_question_by_suite_and_benchmark_uses_the_index_of_benchmarks(filled: Store) -> None:
    with filled.session as session:
        ids = session.connection.exec_driver_sql(
            "SELECT DISTINCT s.uid, b.uid FROM benchmarks b JOIN suites s ON s.id = b.suite "
            "WHERE b.benchmark_id = 'part-7'"
        ).one()
    suite, benchmark = (str(uuid.UUID(bytes=bytes(value))) for value in ids)
    where = f"suite_id = '{suite}' AND benchmark_id = '{benchmark}'"
    asked = f"SELECT id, accuracy_score FROM benchmark_executions WHERE {where}"
    with filled.session as session:
        assert len(session.connection.exec_driver_sql(asked).all()) == ROWS // BENCHMARKS
    reads_one_benchmark(filled, asked)
    uses(filled, "SELECT id FROM executions WHERE benchmark = 7", "ix_executions_benchmark_created_at")


def test_the_executions_of_a_benchmark_are_listed_by_its_index(filled: Store) -> None:
    seen: list[tuple[str, Any]] = []
    with filled.session as session:
        connection = session.connection

        @event.listens_for(connection, "before_cursor_execute")
        def note(_c: object, _k: object, statement: str, parameters: Any, _x: object, _many: bool) -> None:
            seen.append((statement, parameters))

        found = filled.boards.executions(ExecutionFilter(benchmark="part-7"))
        event.remove(connection, "before_cursor_execute", note)
    assert len(found) == ROWS // BENCHMARKS
    ((statement, parameters),) = [item for item in seen if "FROM executions" in item[0]]
    reads_one_benchmark(filled, statement, parameters)
