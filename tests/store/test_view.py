from __future__ import annotations

import datetime
import uuid
from dataclasses import replace
from typing import Any

import pytest

from agentdyno.model import BaselineScores, MetricSummary
from agentdyno.store import Execution, Store

from .builders import SUMMARY, run_id
from .suite_builders import MONDAY, SUITE, run_suite, suite_header

# The table of the requirement, column by column.
COLUMNS = [
    "id",
    "suite_id",
    "benchmark_id",
    "agent_id",
    "agent_version",
    "workspace_id",
    "execution_environment",
    "model_configuration",
    "start_time",
    "end_time",
    "total_duration_ms",
    "accuracy_score",
    "speed_score",
    "efficiency_score",
    "cost_score",
    "reliability_score",
    "tokens_used",
    "api_calls_made",
    "memory_peak_mb",
    "cpu_usage_percent",
    "output_correctness",
    "output_completeness",
    "output_relevance",
    "percentile_rank",
    "deviation_from_baseline",
    "status",
    "error_details",
    "created_at",
]


def view(store: Store, where: str = "1 = 1") -> list[dict[str, Any]]:
    sql = f"SELECT * FROM benchmark_executions WHERE {where} ORDER BY created_at, agent_version, id"
    with store.session as session:
        return [dict(row._mapping) for row in session.connection.exec_driver_sql(sql)]


def execution(agent: str, accuracy: float | None, at: int = 0, **changes: Any) -> Execution:
    return Execution(agent, agent, SUITE.digest, "sums", MONDAY + at, accuracy=accuracy, **changes)


def test_the_view_has_every_column_of_the_requirement(store: Store) -> None:
    with store.session as session:
        found = session.connection.exec_driver_sql("SELECT * FROM benchmark_executions")
        assert list(found.keys()) == COLUMNS


def test_the_view_shows_milliseconds_mebibytes_and_percent(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    store.boards.add_executions(
        [
            execution(
                "a",
                0.5,
                duration_s=2.0004,
                cpu_s=0.50010,
                memory_peak_bytes=3 * 1024 * 1024 // 2,
                started_at=MONDAY - 1,
                finished_at=MONDAY + 7,
                tokens_used=12,
                api_calls=3,
                relevance=0.25,
            )
        ]
    )
    (row,) = view(store)
    assert (row["total_duration_ms"], row["memory_peak_mb"], row["cpu_usage_percent"]) == (2000, 1.5, 25.0)
    assert (row["tokens_used"], row["api_calls_made"], row["output_relevance"]) == (12, 3, 0.25)
    assert (row["accuracy_score"], row["speed_score"], row["status"]) == (0.5, None, "success")


def test_times_and_ids_read_the_same_on_every_database(store: Store) -> None:
    run_suite(store, suite_header(), {"quick@1": 0.5}, finished_at=MONDAY + 7)
    row = view(store)[0]
    if store.url.startswith("sqlite"):
        assert row["start_time"] == "2023-11-14T22:13:20.000Z"
        assert row["created_at"] == "2023-11-14T22:13:20.007Z"
    else:
        assert row["start_time"] == datetime.datetime(2023, 11, 14, 22, 13, 20)
        assert row["created_at"] == datetime.datetime(2023, 11, 14, 22, 13, 20, 7_000)
        assert isinstance(row["id"], uuid.UUID)
    versions = [uuid.UUID(str(row[name])).version for name in [*COLUMNS[:4], "workspace_id"]]
    assert versions == [7, 5, 5, 5, 5]
    assert str(row["id"]) in {execution.uid for execution in store.boards.executions()}
    assert str(row["agent_id"]) == store.boards.agents()[0].uid
    assert str(row["suite_id"]) == store.boards.suites()[0].uid


def test_the_percentile_rank_counts_the_other_agents_latest_successes(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    store.boards.add_executions(
        [
            execution("a", 0.9, 0),  # its own later success does not count against it
            execution("a", 0.2, 1),
            execution("b", 0.4, 2),
            execution("c", 0.4, 3),
            execution("d", 0.8, 4),
            execution("e", 1.0, 5, simulated=True),
            execution("f", 1.0, 6, status="partial"),
            execution("g", None, 7),
        ]
    )
    ranks = [(row["agent_version"], row["percentile_rank"]) for row in view(store)]
    third = pytest.approx(100 / 3)
    assert ranks == [
        ("a", 100.0),
        ("a", 0.0),
        ("b", third),
        ("c", third),
        ("d", 100.0),
        ("e", None),
        ("f", None),
        ("g", None),
    ]


def test_an_agent_alone_has_no_rank(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    store.boards.add_executions([execution("a", 0.9), execution("a", 0.8, 1)])
    assert [row["percentile_rank"] for row in view(store)] == [None, None]


def test_the_deviation_is_relative_to_the_declared_baseline(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    store.boards.add_executions([execution("a", 0.6), execution("b", 1.0, 1), execution("c", None, 2)])
    deviations = [row["deviation_from_baseline"] for row in view(store)]
    assert deviations == [pytest.approx(-0.25), pytest.approx(0.25), None]


@pytest.mark.parametrize("named", ["quick", "quick@quick"])
def test_without_a_declared_score_the_first_success_of_the_baseline_agent_counts(store: Store, named: str) -> None:
    suite = replace(SUITE, baseline_scores=(BaselineScores(named, {"speed": 1.0}),))
    store.boards.add_suite(suite, now_ms=MONDAY)
    store.boards.add_executions(
        [
            execution("quick", 0.1, 0, status="partial"),
            execution("quick", 0.5, 1),
            execution("quick", 0.8, 2),
            execution("other", 0.25, 3),
        ]
    )
    assert [row["deviation_from_baseline"] for row in view(store)] == [None, 0.0, pytest.approx(0.6), -0.5]


def test_a_later_declaration_of_the_baseline_counts_and_without_one_there_is_no_deviation(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    store.boards.add_executions([execution("a", 0.6)])
    store.boards.add_suite(replace(SUITE, baseline_scores=(BaselineScores("x", {"accuracy": 0.3}),)), now_ms=MONDAY)
    assert view(store)[0]["deviation_from_baseline"] == pytest.approx(1.0)
    store.boards.add_suite(replace(SUITE, baseline_scores=()), now_ms=MONDAY)
    assert view(store)[0]["deviation_from_baseline"] is None
    store.boards.add_suite(replace(SUITE, baseline_scores=(BaselineScores("x", {"accuracy": 0.0}),)), now_ms=MONDAY)
    assert view(store)[0]["deviation_from_baseline"] is None


def test_the_peak_of_memory_is_the_largest_that_was_measured(store: Store) -> None:
    from agentdyno.model import RunStatus

    from .suite_builders import answer, arm_result, begin_suite

    header = suite_header(run_id(4))
    arm, *_ = begin_suite(store, header)
    store.runs.append(header.run_id, answer(arm.arm_id, "one"))
    peak: MetricSummary = replace(SUMMARY, unit="bytes", maximum=2.0 * 1024 * 1024)
    done = arm_result(arm, metrics={"peak_rss_bytes": peak})
    store.runs.finish(replace(header, status=RunStatus.COMPLETE, arms=(done,)))
    assert [row["memory_peak_mb"] for row in view(store)] == [2.0]
