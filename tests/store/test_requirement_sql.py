"""The SQL of the requirement, word for word, on PostgreSQL: its table, its matrix and its leaderboard.

Its tables ``agents`` and ``benchmark_suites`` have UUIDs as keys; two views give it ours so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, NullPool, create_engine, make_url

from agentdyno.findings.board.ask import Boards
from agentdyno.store import Execution, Store

from .suite_builders import SUITE
from .test_view import COLUMNS

GIVEN = Path(__file__).parent.parent / "given_documents" / "agent_platform"
SCORES = {"strong": 0.9, "middling": 0.6, "weak": 0.3}
OURS = """
CREATE SCHEMA asked;
CREATE VIEW asked.agents AS SELECT CAST(encode(uid, 'hex') AS uuid) AS id, name FROM public.agents;
CREATE VIEW asked.benchmark_suites AS SELECT CAST(encode(uid, 'hex') AS uuid) AS id, category FROM public.suites;
SET search_path TO asked, public
"""


@pytest.fixture
def connection(postgres_url: str) -> Iterator[Connection]:
    engine = create_engine(make_url(postgres_url), poolclass=NullPool)
    with engine.connect() as opened:
        yield opened


def test_the_table_has_the_columns_of_our_view(connection: Connection) -> None:
    connection.exec_driver_sql((GIVEN / "executions.sql.txt").read_text())
    found = connection.exec_driver_sql("SELECT * FROM benchmark_executions")
    assert list(found.keys()) == COLUMNS


def test_its_matrix_and_leaderboard_run_on_our_view_and_agree_with_our_boards(
    postgres_url: str, connection: Connection
) -> None:
    now = time.time_ns() // 1_000_000
    with Store.open(postgres_url) as store:
        store.boards.add_suite(SUITE, now_ms=now)
        store.boards.add_executions(
            replace(
                Execution(name, "1", SUITE.digest, item.benchmark_id, now, accuracy=score, speed=score),
                efficiency=score,
                cost=score,
                reliability=score,
            )
            for name, score in SCORES.items()
            for item in SUITE.benchmarks
        )
        ours = Boards(store).leaderboard(metric="accuracy")
    for statement in OURS.split(";"):
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql((GIVEN / "matrix.sql.txt").read_text())
    connection.exec_driver_sql((GIVEN / "leaderboard.sql.txt").read_text())
    ranks = connection.exec_driver_sql(
        "SELECT a.name, m.avg_accuracy, m.accuracy_rank "
        "FROM agent_comparison_matrix m JOIN agents a ON a.id = m.agent_id ORDER BY m.accuracy_rank"
    ).all()
    assert [tuple(row) for row in ranks] == [("strong", 0.9, 1), ("middling", 0.6, 2), ("weak", 0.3, 3)]
    board = connection.exec_driver_sql(
        "SELECT agent_name, benchmark_category, scores_and_ranks, best_ranking FROM benchmark_leaderboard"
    ).all()
    assert [row[0] for row in board] == [entry.name for entry in ours.entries]
    assert {row[1] for row in board} == {SUITE.category.value}
    for row, entry in zip(board, ours.entries, strict=True):
        assert row[2]["accuracy"]["score"] == pytest.approx(entry.scores["accuracy"].score)
        assert row[2]["accuracy"]["rank"] == entry.scores["accuracy"].rank
        assert row[3] == entry.best_ranking
