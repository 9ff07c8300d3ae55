from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.model import Arm, ArmResult, Direction, MetricSummary, Provenance, RunResult, RunStatus, Side, Vcs
from agentdyno.model.suite import RunForm
from agentdyno.store import ArmMetric, Execution, SeriesRow, Store

from ..builders import ENVIRONMENT, SUMMARY, header, run_id
from ..suite_builders import DAY_MS, MONDAY, SUITE, answer, begin_suite, run_suite, suite_header

OTHER = replace(SUITE, name="Other work", version="7", suite_id="other")
NEWER = replace(SUITE, version="2", benchmarks=(replace(SUITE.benchmarks[0], cases=()), SUITE.benchmarks[1]))


def execution(at: int, **changes: object) -> Execution:
    made = Execution("a", "1", SUITE.digest, "sums", MONDAY + at)
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.fixture
def filled(store: Store) -> Store:
    for suite in (SUITE, OTHER, NEWER):
        store.boards.add_suite(suite, now_ms=MONDAY)
    return store


def places(rows: list[SeriesRow]) -> list[tuple[int, str, str]]:
    return [(row.at - MONDAY, row.version, row.benchmark) for row in rows]


def test_a_series_has_all_versions_oldest_first_whatever_their_status(filled: Store) -> None:
    filled.boards.add_executions(
        [
            execution(5, agent_version="2", status="failed"),
            execution(1),
            execution(3, status="partial", agent_version="2"),
            execution(2, benchmark="talks"),
            execution(4, agent="b"),
            execution(6, simulated=True),
        ]
    )
    rows = filled.boards.series("a")
    assert places(rows) == [(1, "1", "sums"), (2, "1", "talks"), (3, "2", "sums"), (5, "2", "sums")]
    assert [row.status for row in rows] == ["success", "success", "partial", "failed"]
    assert [row.category for row in rows] == ["accuracy", "speed", "accuracy", "accuracy"]
    assert filled.boards.series("nobody") == []


def test_a_point_has_the_figures_of_its_execution(filled: Store) -> None:
    made = execution(
        1,
        accuracy=0.5,
        speed=0.25,
        efficiency=0.75,
        cost=0.1,
        reliability=0.2,
        overall=0.3,
        duration_s=2.5,
        cost_usd=0.01,
        tokens_used=12,
        cpu_s=1.5,
        memory_peak_bytes=1 << 40,
        passed=3,
        samples=6,
        attempts=7,
        scored=4,
        case_mean=0.5,
        case_variance=0.125,
    )
    filled.boards.add_executions([made])
    (row,) = filled.boards.series("a")
    names = row._fields[row._fields.index("status") : row._fields.index("proxied")]
    assert {name: getattr(row, name) for name in names} == {name: getattr(made, name) for name in names}
    assert (row.at, row.suite, row.run_id, row.machine_id, row.commit) == (MONDAY + 1, SUITE.digest, "", "", "")
    assert not row.proxied


def test_a_point_of_a_run_names_the_run_the_machine_and_the_commit(store: Store) -> None:
    started = replace(suite_header(run_id(3)), vcs=Vcs("abc123", "main", False))
    run_suite(store, started, {"quick@1": 0.5}, finished_at=MONDAY + 9)
    rows = store.boards.series("quick")
    assert [(row.run_id, row.at, row.accuracy) for row in rows] == [(run_id(3), MONDAY + 9, 0.5)] * 2
    assert {(row.machine_id, row.commit) for row in rows} == {(ENVIRONMENT.machine_id, "abc123")}


def test_a_point_says_whether_model_calls_passed_the_recording_proxy(store: Store) -> None:
    for number, proxied in ((3, False), (4, True)):
        form = RunForm(SUITE.digest, 3, 3, 5, 5, proxied=proxied)
        started = replace(suite_header(run_id(number)), form=form)
        run_suite(store, started, {"quick@1": 0.5}, finished_at=MONDAY + number)
    assert [row.proxied for row in store.boards.series("quick")] == [False, False, True, True]


def test_a_series_of_a_suite_or_a_benchmark_or_since_a_time(filled: Store) -> None:
    filled.boards.add_executions(
        [
            execution(1),
            execution(2, benchmark="talks"),
            execution(3, suite=OTHER.digest),
            execution(4, suite=NEWER.digest),
        ]
    )

    def times(**asked: object) -> list[int]:
        return [row.at - MONDAY for row in filled.boards.series("a", **asked)]  # type: ignore[arg-type]

    assert times(suite=SUITE.digest) == [1, 2]
    assert times(suite="daily-work") == [1, 2, 4]
    assert times(suite="other") == [3]
    assert times(suite="unheard of") == []
    assert times(benchmark="talks") == [2]
    assert times(suite="daily-work", benchmark="sums") == [1, 4]
    assert times(since=MONDAY + 3) == [3, 4]


def test_a_limited_series_keeps_the_newest_and_never_a_part_of_a_run(filled: Store) -> None:
    filled.boards.add_executions([execution(1)])
    for number in (1, 2, 3):
        run_suite(filled, suite_header(run_id(number)), {"a@1": 0.5}, finished_at=MONDAY + 10 * number)
    filled.boards.add_executions([execution(40), execution(50, simulated=True)])

    def times(limit: int | None) -> list[int]:
        return [row.at - MONDAY for row in filled.boards.series("a", limit=limit)]

    assert times(None) == times(8) == [1, 10, 10, 20, 20, 30, 30, 40]
    assert times(7) == [10, 10, 20, 20, 30, 30, 40]
    assert times(6) == [20, 20, 30, 30, 40]
    assert times(5) == [20, 20, 30, 30, 40]
    assert times(2) == [40]
    assert filled.boards.series("a", limit=0) == []
    # A run that is larger than the limit is better than nothing.
    assert [row.at - MONDAY for row in filled.boards.series("a", limit=1, suite=SUITE.digest)] == [40]
    filled.boards.add_executions([execution(60), execution(60)])
    assert times(1) == [60]


def test_simulated_executions_do_not_take_the_place_of_real_ones(filled: Store) -> None:
    filled.boards.add_executions(execution(at, simulated=at % 5 > 0) for at in range(50))
    assert [row.at - MONDAY for row in filled.boards.series("a", limit=4)] == [30, 35, 40, 45]
    assert [row.at - MONDAY for row in filled.boards.series("a", limit=10)] == list(range(0, 50, 5))
    assert len(filled.boards.series("a", limit=49)) == len(filled.boards.series("a", limit=None)) == 10
    filled.boards.add_executions([execution(60, agent="b", simulated=True)])
    assert filled.boards.series("b", limit=1) == []


def test_executions_of_an_agent_are_found_with_their_run_newest_first(filled: Store) -> None:
    run_suite(filled, suite_header(run_id(1)), {"quick@1": 0.5}, finished_at=MONDAY + 5)
    filled.boards.add_executions(
        [
            execution(9, agent="quick", agent_version="2", suite=OTHER.digest, status="failed"),
            execution(7, agent="quick", simulated=True),
            execution(8),
        ]
    )
    rows = filled.boards.agent_executions("quick")
    assert [row.created_at - MONDAY for row in rows] == [9, 7, 5, 5]
    assert rows[0] == ("2", OTHER.digest, "other", "sums", "", "", MONDAY + 9, "failed", False, "unknown")
    assert (rows[1].simulated, rows[1].run_id) == (True, "")
    assert {(row.run_id, row.arm_id, row.benchmark) for row in rows[2:]} == {
        (run_id(1), "arm sums · quick@1", "sums"),
        (run_id(1), "arm talks · quick@1", "talks"),
    }
    assert filled.boards.agent_executions("quick", "2") == rows[:1]
    assert filled.boards.agent_executions("quick", None, "daily-work") == rows[1:]
    assert filled.boards.agent_executions("quick", "1", SUITE.digest, limit=1) == rows[1:2]
    assert len(filled.boards.agent_executions("quick", limit=None)) == 4
    assert filled.boards.agent_executions("quick", "3") == []


def closed(store: Store, number: int, ended: int | None, *arms: Arm, vcs: Vcs | None = None) -> RunResult:
    begun = replace(header(run_id(number), started_at=MONDAY + number), vcs=vcs)
    store.runs.begin(begun, arms, {})
    summary = replace(SUMMARY, median=float(number), n=3 + number)
    found = tuple(
        ArmResult(
            arm.arm_id,
            arm.name,
            arm.experiment,
            arm.params,
            side=arm.side,
            metrics={"duration_s": summary, "result.rows": made_up(number)},
        )
        for arm in arms
    )
    result = replace(begun, status=RunStatus.COMPLETE, finished_at=ended, arms=found)
    store.runs.finish(result)
    return result


def made_up(number: int) -> MetricSummary:
    return MetricSummary("rows", Direction.HIGHER, Provenance.SIMULATED, 1, 2.0, 2.0 + number, 2.0, 2.0, None)


SORT = Arm("one", "sort size=10", "workload:Sort", {"size": 10})
DEEP = Arm("two", "sort size=100", "workload:Sort", {"size": 100}, side=Side.CANDIDATE)
SEARCH = Arm("three", "search", "workload:Search")


def test_arms_of_experiments_come_oldest_first_with_their_medians(store: Store) -> None:
    closed(store, 1, MONDAY + 50, SORT, DEEP, vcs=Vcs("abc", None, True))
    closed(store, 2, MONDAY + 40, SORT, SEARCH)
    rows = store.boards.arm_series()
    assert [(row.at - MONDAY, row.run_id, row.arm_id) for row in rows] == [
        (40, run_id(2), "one"),
        (40, run_id(2), "three"),
        (50, run_id(1), "one"),
        (50, run_id(1), "two"),
    ]
    last = rows[-1]
    assert (last.name, last.experiment, last.side, last.params) == (
        "sort size=100",
        "workload:Sort",
        "candidate",
        {"size": 100},
    )
    assert (last.machine_id, last.commit, rows[0].commit, rows[0].side) == (ENVIRONMENT.machine_id, "abc", "", "")
    assert last.metrics == {
        "duration_s": ArmMetric(1.0, 4, "s", Direction.LOWER, Provenance.MEASURED, 0.1, 0.3),
        "result.rows": ArmMetric(3.0, 1, "rows", Direction.HIGHER, Provenance.SIMULATED),
    }


def test_arms_are_found_by_experiment_and_by_name(store: Store) -> None:
    for number in (1, 2, 3):
        closed(store, number, MONDAY + 10 * number, SORT, DEEP, SEARCH)
    assert [row.arm_id for row in store.boards.arm_series("workload:Sort")] == ["one", "two"] * 3
    assert [row.run_id for row in store.boards.arm_series(arm_name="search")] == [run_id(1), run_id(2), run_id(3)]
    assert len(store.boards.arm_series("workload:Sort", "sort size=10")) == 3
    assert store.boards.arm_series("workload:Sort", "search") == []
    assert [row.run_id for row in store.boards.arm_series("workload:Search", limit=2)] == [run_id(2), run_id(3)]
    assert len(store.boards.arm_series(limit=None)) == 9


def test_runs_of_suites_and_open_runs_are_no_part_of_the_history_of_experiments(store: Store) -> None:
    started = suite_header(run_id(1))
    arm, *_ = begin_suite(store, started, ("quick@1",))
    store.runs.append(started.run_id, answer(arm.arm_id, "one"))
    store.runs.finish(
        replace(started, arms=(ArmResult(arm.arm_id, arm.name, "suite", metrics={"duration_s": SUMMARY}),))
    )
    store.runs.begin(header(run_id(2)), (SORT,), {})
    assert store.boards.arm_series() == []
    closed(store, 3, None, SORT)
    assert [row.at for row in store.boards.arm_series()] == [MONDAY + 3]


def test_a_series_spans_days_and_runs(filled: Store) -> None:
    filled.boards.add_executions(execution(day * DAY_MS, agent_version=str(day // 10)) for day in range(30))
    rows = filled.boards.series("a", since=MONDAY + 5 * DAY_MS, limit=10)
    assert [row.at for row in rows] == [MONDAY + day * DAY_MS for day in range(20, 30)]
    assert {row.version for row in rows} == {"2"}
