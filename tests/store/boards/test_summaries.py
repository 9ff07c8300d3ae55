from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.model import CaseFigures, RunStatus, Status
from agentdyno.model.identity import new_run_id
from agentdyno.store import Execution, MatrixRow, Store
from agentdyno.store.boards.schema import agg_day
from agentdyno.store.runs.schema import metadata

from ...properties import examples
from ..builders import run_id
from ..suite_builders import DAY_MS, MONDAY, SUITE, answer, arm_of, arm_result, run_suite, suite_header

FIRST_SUM = [column.name for column in agg_day.columns].index("attempts")
WRITER = Path(__file__).parents[1] / "suite_writer.py"
SCORES = st.none() | st.floats(0, 1) | st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 1e-13])
COUNTS = st.none() | st.integers(0, 500)
EXECUTIONS = st.builds(
    Execution,
    st.sampled_from(["a", "b"]),
    st.sampled_from(["1", "2"]),
    st.just(SUITE.digest),
    st.sampled_from(["sums", "talks"]),
    st.integers(0, 3).map(lambda day: MONDAY + day * DAY_MS) | st.integers(MONDAY, MONDAY + 3 * DAY_MS),
    st.sampled_from(["success", "success", "partial", "failed"]),
    workspace=st.sampled_from(["default", "team"]),
    accuracy=SCORES,
    speed=SCORES,
    overall=SCORES | st.floats(allow_nan=False),
    cost_usd=st.none() | st.floats(0, 1e3) | st.floats(allow_nan=False),
    tokens_used=st.none() | st.integers(0, 2**40),
    duration_s=st.none() | st.floats(0, 1e5),
    scored=COUNTS,
    case_mean=SCORES,
    case_variance=SCORES,
    passed=COUNTS,
    samples=COUNTS,
    simulated=st.booleans() | st.just(False),
    accuracy_error=SCORES,
)


@dataclass(frozen=True)
class Ending:
    """One end of a run: how many of three planned samples each of two arms has by then, and how good it was."""

    samples: tuple[int, int]
    accuracy: float | None
    case_mean: float | None
    day: int
    simulated: bool


ENDINGS = st.builds(
    Ending, st.tuples(st.integers(0, 3), st.integers(0, 3)), SCORES, SCORES, st.integers(0, 3), st.booleans()
)
Step = list[Execution] | tuple[str, str, list[Ending]]
AGENTS = st.sampled_from(["a@1", "b@2"])
WORKSPACES = st.sampled_from(["default", "team"])
HISTORIES = st.lists(
    st.lists(EXECUTIONS, max_size=6) | st.tuples(AGENTS, WORKSPACES, st.lists(ENDINGS, min_size=1, max_size=3)),
    max_size=5,
)


def emptied(store: Store) -> Store:
    with store.session as session:
        for table in reversed(metadata.sorted_tables):
            session.connection.exec_driver_sql(f"DELETE FROM {table.name}")
    return store


def summaries(store: Store) -> dict[str, list[tuple[object, ...]]]:
    with store.session as session:
        return {
            table: sorted(tuple(row) for row in session.connection.exec_driver_sql(f"SELECT * FROM {table}"))
            for table in ("latest", "agg_day")
        }


def play(store: Store, agent: str, workspace: str, endings: list[Ending]) -> None:
    """A run that ends and is taken up again, as often as there are endings."""
    header = suite_header(new_run_id(), workspace=workspace)
    arms = [arm_of(benchmark, agent) for benchmark in ("sums", "talks")]
    store.runs.begin(header, arms, {arm.arm_id: 3 for arm in arms})
    recorded = [0, 0]
    for ending in endings:
        results = []
        for place, arm in enumerate(arms):
            while recorded[place] < ending.samples[place]:
                sample = answer(arm.arm_id, "one", recorded[place], status=Status.OK)
                store.runs.append(header.run_id, replace(sample, details={"simulated": ending.simulated}))
                recorded[place] += 1
            figures = CaseFigures(3, recorded[place], ending.case_mean, ending.case_mean, 1, recorded[place])
            results.append(arm_result(arm, accuracy=ending.accuracy, planned=3, case_figures=figures))
        finished_at = MONDAY + ending.day * DAY_MS
        store.runs.finish(replace(header, status=RunStatus.PARTIAL, finished_at=finished_at, arms=tuple(results)))
        store.runs.reopen(header.run_id)


@examples(40)
@given(HISTORIES)
def test_building_anew_gives_what_was_kept_in_step(shared: Store, history: list[Step]) -> None:
    store = emptied(shared)
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    for step in history:
        if isinstance(step, list):
            store.boards.add_executions(step)
        else:
            play(store, *step)
    kept = summaries(store)
    assert all(isinstance(value, int) for row in kept["agg_day"] for value in row[FIRST_SUM:])
    store.boards.rebuild_summaries()
    assert summaries(store) == kept
    check_against_executions(store)


def check_against_executions(store: Store) -> None:
    """What boards show is what the executions themselves say."""
    rows = [row for row in store.boards.executions(limit=None) if not row.simulated]
    cells = {(row.agent, row.agent_version, row.benchmark) for row in rows if row.agent in "ab"}
    shown = store.boards.matrix_rows()
    assert {(row.agent, row.agent_version, row.benchmark) for row in shown} >= cells
    for cell in shown:
        # Runs make agents that are configured otherwise than imported ones, under the same name.
        own = [row for row in rows if (row.agent, row.agent_version, row.benchmark) == key_of(cell)]
        assert max(row.created_at for row in own) >= cell.attempt_at
        assert cell.success_at is None or cell.success_at in {r.created_at for r in own if r.status == "success"}
    board = store.boards.leaderboard_rows(days=10, now_ms=MONDAY + 5 * DAY_MS)
    assert sum(row.attempts for row in board) == len(rows)
    assert sum(row.n for row in board) == sum(row.status == "success" for row in rows)
    known = [row.accuracy for row in rows if row.status == "success" and row.accuracy is not None]
    total = math.fsum((row.accuracy or 0.0) * row.known[0] for row in board)
    assert total == pytest.approx(math.fsum(known), abs=1e-9)


def key_of(cell: MatrixRow) -> tuple[str, str, str]:
    return cell.agent, cell.agent_version, cell.benchmark


def execution(agent: str, day: int, **changes: object) -> Execution:
    made = Execution(agent, "1", SUITE.digest, "sums", MONDAY + day * DAY_MS)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_the_matrix_tells_the_last_success_and_the_last_attempt_apart(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    store.boards.add_executions(
        [
            execution("a", 1, accuracy=0.5, case_mean=0.5, case_variance=0.1, scored=9),
            execution("a", 2, accuracy=0.1, status="partial"),
            execution("a", 0, accuracy=0.9),
            execution("b", 0, accuracy=0.2, status="failed"),
        ]
    )
    first, second = store.boards.matrix_rows(suite="daily-work")
    assert (first.agent, first.accuracy, first.scored, first.case_variance) == ("a", 0.5, 9, 0.1)
    assert (first.success_at, first.attempt_at) == (MONDAY + DAY_MS, MONDAY + 2 * DAY_MS)
    assert first.attempt_status == "partial"
    assert (second.agent, second.accuracy, second.success_at, second.attempt_status) == ("b", None, None, "failed")
    assert second.execution_uid is None
    assert store.boards.matrix_rows(category="speed") == []
    assert len(store.boards.matrix_rows(category="accuracy")) == 2


def test_the_leaderboard_averages_what_is_known_over_the_asked_days(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    store.boards.add_executions(
        [
            execution("a", 0, accuracy=0.9, workspace="team"),
            execution("a", 1, accuracy=0.25, speed=0.5, cost_usd=0.5, scored=2, case_mean=0.25, case_variance=0.125),
            execution("a", 2, accuracy=0.75, cost_usd=None, scored=2, case_mean=0.75, case_variance=0.125),
            execution("a", 2, accuracy=None),
            execution("a", 2, accuracy=0.0, status="partial"),
            execution("a", 2, accuracy=1.0, simulated=True),
        ]
    )
    (row,) = store.boards.leaderboard_rows(days=2, now_ms=MONDAY + 2 * DAY_MS)
    assert (row.attempts, row.n, row.benchmarks, row.last_success_at) == (4, 3, 1, MONDAY + 2 * DAY_MS)
    assert (row.accuracy, row.speed, row.efficiency, row.cost_usd) == (0.5, 0.5, None, 0.5)
    assert (row.scored, row.case_mean) == (4, 0.5)
    # Cases 0, 0.5 and 0.5, 1: their variance about the common mean.
    assert row.case_variance == pytest.approx(0.5 / 3)
    (all_days,) = store.boards.leaderboard_rows(days=3, now_ms=MONDAY + 2 * DAY_MS, category="accuracy")
    assert all_days.accuracy == pytest.approx((0.9 + 0.25 + 0.75) / 3)
    assert store.boards.leaderboard_rows(days=3, now_ms=MONDAY + 2 * DAY_MS, category="speed") == []
    assert store.boards.leaderboard_rows(days=3, now_ms=MONDAY + 9 * DAY_MS) == []


def test_every_change_counts_one_generation_and_reading_none(store: Store) -> None:
    assert store.boards.generation() == 0
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    store.boards.add_executions([execution("a", 0)])
    run_suite(store, suite_header(run_id(1)), {"quick@1": 0.5})
    store.boards.matrix_rows()
    assert store.boards.generation() == 2
    store.boards.rebuild_summaries()
    assert store.boards.generation() == 3


def test_nonsensical_figures_do_not_make_a_sum_overflow(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    odd = execution("a", 0, accuracy=1e300, cost_usd=-1e300, tokens_used=2**62, duration_s=1e300)
    store.boards.add_executions([odd] * 50)
    before = summaries(store)
    store.boards.rebuild_summaries()
    assert summaries(store) == before
    assert all(isinstance(value, int) for value in before["agg_day"][0][FIRST_SUM:])


def test_processes_that_end_runs_at_the_same_time_lose_nothing(store_url: str) -> None:
    Store.open(store_url).close()
    command = [sys.executable, str(WRITER), store_url]
    writers = [
        subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(3)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        with writer:
            writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    with Store.open(store_url) as store:
        kept = summaries(store)
        (accuracy, _speed) = store.boards.leaderboard_rows(days=1, now_ms=MONDAY)
        assert (accuracy.n, accuracy.known[0]) == (30, 30)
        assert store.boards.generation() == 30
        store.boards.rebuild_summaries()
        assert summaries(store) == kept
