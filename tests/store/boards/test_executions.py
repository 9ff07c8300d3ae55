from __future__ import annotations

import json
import math
import uuid
from dataclasses import replace
from typing import Any

import pytest

from agentdyno.errors import StoreError
from agentdyno.model import Failure, FailureKind, Phase, RunStatus, Status
from agentdyno.model.suite import RunForm
from agentdyno.store import Execution, ExecutionFilter, Store
from agentdyno.store.boards.schema import ERRORS, NUMBERS

from ..builders import ENVIRONMENT, FIRST_ID, run_id
from ..suite_builders import (
    AGENTS,
    DAY_MS,
    MONDAY,
    SUITE,
    answer,
    arm_of,
    arm_result,
    begin_suite,
    run_suite,
    suite_header,
)

DIGEST = SUITE.digest
FIGURES = {name: 3 + place for place, name in enumerate(NUMBERS)}
FULL = replace(
    Execution("imported\x00", "2.0", DIGEST, "sums", MONDAY, "partial", MONDAY - 10, MONDAY - 5, "else\x10where"),
    error_details="two\x00 lines\nof it ö",
    category="accuracy",
    uid=str(uuid.UUID(int=7)),
    **FIGURES,  # type: ignore[arg-type]
    **{name: 0.125 * place for place, name in enumerate(ERRORS)},  # type: ignore[arg-type]
)


def query(store: Store, sql: str) -> list[dict[str, Any]]:
    with store.session as session:
        return [dict(row._mapping) for row in session.connection.exec_driver_sql(sql)]


def test_a_run_of_a_suite_comes_back_as_it_was(store_url: str) -> None:
    header = suite_header(workspace="team")
    with Store.open(store_url) as store:
        arms = begin_suite(store, header)
        assert store.runs.load(FIRST_ID, samples=False).suite == SUITE
        kept = [answer(arm.arm_id, "one") for arm in arms]
        for sample in kept:
            store.runs.append(FIRST_ID, sample)
        result = replace(
            header,
            status=RunStatus.COMPLETE,
            finished_at=MONDAY + 9,
            arms=tuple(
                replace(arm_result(arm), samples_total=1, samples=(sample,))
                for arm, sample in zip(arms, kept, strict=True)
            ),
        )
        store.runs.finish(result)
    with Store.open(store_url, must_exist=True) as store:
        assert store.runs.load(FIRST_ID) == result


def test_runs_that_share_a_suite_store_its_cases_once_and_keep_what_differs(store: Store) -> None:
    other = replace(SUITE, concurrency=8, agents=(), description="again")
    assert other.digest == DIGEST
    begin_suite(store, suite_header(run_id(1)))
    begin_suite(store, suite_header(run_id(2), suite=other))
    assert query(store, "SELECT count(*) AS n FROM suites") == [{"n": 1}]
    assert store.runs.load(run_id(1)).suite == SUITE
    assert store.runs.load(run_id(2)).suite == other
    assert [(row.suite_id, row.digest, row.benchmarks, row.cases) for row in store.boards.suites()] == [
        ("daily-work", DIGEST, 2, 3)
    ]
    assert store.boards.load_suite(DIGEST) == store.boards.load_suite("daily-work") == SUITE


def test_an_unknown_suite_names_the_known_ones(store: Store) -> None:
    begin_suite(store, suite_header())
    with pytest.raises(StoreError, match=r"no suite 'daily-wrk'[\s\S]*daily-work"):
        store.boards.load_suite("daily-wrk")


def test_each_arm_leaves_one_execution_with_all_its_figures(store: Store) -> None:
    run_suite(store, suite_header(workspace="team"), dict.fromkeys(AGENTS, 0.5))
    found = store.boards.executions(ExecutionFilter(agent="quick", benchmark="sums"))
    assert len(store.boards.executions()) == 4
    assert found == [
        Execution(
            "quick",
            "1",
            DIGEST,
            "sums",
            created_at=MONDAY + 1_000,
            status="success",
            started_at=MONDAY,
            finished_at=MONDAY + 250,
            workspace="team",
            accuracy=0.5,
            speed=0.25,
            efficiency=None,
            cost=0.75,
            reliability=1.0,
            overall=0.6,
            tokens_used=30,
            api_calls=4,
            memory_peak_bytes=None,
            cpu_s=0.1,
            duration_s=2.0,
            correctness=1.0,
            completeness=None,
            relevance=None,
            cost_usd=0.002,
            cases=2,
            scored=2,
            case_mean=0.5,
            case_variance=0.125,
            passed=1,
            samples=2,
            attempts=1,
            simulated=False,
            error_details=None,
            category="accuracy",
            uid=found[0].uid,
            run_id=FIRST_ID,
            arm_id="arm sums · quick@1",
        )
    ]
    assert uuid.UUID(found[0].uid).version == 7
    (slow,) = store.boards.executions(ExecutionFilter(agent="slow@home", benchmark="talks"))
    assert (slow.agent_version, slow.category) == ("abc", "speed")


def test_an_execution_says_whether_everything_planned_was_recorded(store: Store) -> None:
    header = suite_header()
    arms = begin_suite(store, header, planned=2)
    whole, half, bare, cut = arms
    for epoch in range(2):
        store.runs.append(FIRST_ID, answer(whole.arm_id, "one", epoch, status=Status.ERROR, score=None))
    store.runs.append(FIRST_ID, answer(half.arm_id, "one"))
    store.runs.append(FIRST_ID, answer(cut.arm_id, "one", status=Status.CANCELLED))
    store.runs.append(FIRST_ID, answer(cut.arm_id, "two", status=Status.TIMEOUT))
    store.runs.finish(replace(header, finished_at=MONDAY, arms=tuple(arm_result(arm, planned=2) for arm in arms)))
    statuses = {row.arm_id: row.status for row in store.boards.executions()}
    assert [statuses[arm.arm_id] for arm in (whole, half, bare, cut)] == ["success", "partial", "failed", "failed"]


def test_the_commonest_failures_are_the_error_details(store: Store) -> None:
    header = suite_header()
    arm, *_ = begin_suite(store, header)
    for epoch, message in enumerate(["late \udcff", "refused", "refused"]):
        failure = Failure(FailureKind.HTTP_ERROR, message)
        store.runs.append(
            FIRST_ID, replace(answer(arm.arm_id, "one", epoch, score=None, status=Status.ERROR), failure=failure)
        )
    store.runs.finish(replace(header, arms=(arm_result(arm),)))
    (row,) = store.boards.executions()
    assert row.error_details == "2 × http_error: refused\n1 × http_error: late \\udcff"


def test_a_resumed_run_updates_its_executions_and_adds_none(store: Store) -> None:
    header = suite_header()
    arms = begin_suite(store, header, planned=2)
    for arm in arms:
        store.runs.append(FIRST_ID, answer(arm.arm_id, "one"))
    partial = tuple(arm_result(arm, accuracy=0.25, planned=2) for arm in arms)
    store.runs.finish(replace(header, status=RunStatus.PARTIAL, finished_at=MONDAY + 1, arms=partial))
    before = {row.arm_id: row for row in store.boards.executions()}
    assert {row.status for row in before.values()} == {"partial"}
    assert [row.success_at for row in store.boards.matrix_rows()] == [None] * 4
    store.runs.reopen(FIRST_ID)
    for arm in arms:
        store.runs.append(FIRST_ID, answer(arm.arm_id, "two"))
    whole = tuple(arm_result(arm, accuracy=0.75, planned=2) for arm in arms)
    store.runs.finish(replace(header, status=RunStatus.COMPLETE, finished_at=MONDAY + DAY_MS, arms=whole))
    after = {row.arm_id: row for row in store.boards.executions()}
    assert {key: row.uid for key, row in after.items()} == {key: row.uid for key, row in before.items()}
    assert {(row.status, row.accuracy) for row in after.values()} == {("success", 0.75)}
    assert [row.accuracy for row in store.boards.matrix_rows()] == [0.75] * 4
    board = store.boards.leaderboard_rows(days=30, now_ms=MONDAY + DAY_MS)
    assert [(row.attempts, row.n, row.accuracy) for row in board] == [(1, 1, 0.75)] * 4


def test_figures_that_are_no_number_are_unknown(store: Store) -> None:
    header = suite_header()
    arm, *_ = begin_suite(store, header)
    odd = arm_result(arm, accuracy=math.nan, totals={"cost_usd": math.inf, "total_tokens": math.nan})
    store.runs.finish(replace(header, arms=(odd,)))
    (row,) = store.boards.executions()
    assert (row.accuracy, row.case_mean, row.cost_usd, row.tokens_used) == (None, None, None, None)


def test_only_runs_of_suites_leave_executions(store: Store) -> None:
    header = suite_header()
    (arm, *_) = begin_suite(store, header)
    stray = arm_result(arm, benchmark="never planned")
    store.runs.finish(replace(header, arms=(stray,)))
    assert store.boards.executions() == []
    assert store.boards.generation() == 0


@pytest.mark.parametrize("mark", ["sample", "metric"])
def test_simulated_executions_are_kept_and_never_shown_on_a_board(store: Store, mark: str) -> None:
    from agentdyno.model import Provenance

    from ..builders import SUMMARY

    header = suite_header()
    arms = begin_suite(store, header, ("quick@1",))
    metrics = {"duration_s": replace(SUMMARY, provenance=Provenance.SIMULATED)} if mark == "metric" else {}
    for arm in arms:
        details = {"simulated": mark == "sample", "events": []}
        store.runs.append(FIRST_ID, replace(answer(arm.arm_id, "one"), details=details))
    store.runs.finish(replace(header, arms=tuple(arm_result(arm, metrics=metrics) for arm in arms)))
    assert [row.simulated for row in store.boards.executions()] == [True, True]
    assert len(store.boards.executions(ExecutionFilter(simulated=False))) == 0
    assert store.boards.matrix_rows() == []
    assert store.boards.leaderboard_rows(days=30, now_ms=MONDAY) == []
    assert query(store, "SELECT percentile_rank AS p FROM benchmark_executions") == [{"p": None}, {"p": None}]


def test_executions_from_outside_come_back_as_they_were(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    assert store.boards.add_executions([FULL]) == 1
    assert store.boards.executions() == [FULL]
    assert {name for name in (*NUMBERS, *ERRORS) if getattr(FULL, name) is None} == set()


def test_unknown_figures_from_outside_stay_unknown(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    bare = Execution("a", "", DIGEST, "talks", MONDAY)
    store.boards.add_executions(
        iter([bare, replace(bare, accuracy=math.nan, cost_usd=-math.inf, created_at=MONDAY - 1)])
    )
    first, second = store.boards.executions()
    assert first == replace(bare, uid=first.uid, category="speed", started_at=MONDAY, finished_at=MONDAY)
    assert (second.accuracy, second.cost_usd) == (None, None)


@pytest.mark.parametrize("error", [math.nan, math.inf, -0.1, 1e200])
def test_a_standard_error_that_cannot_be_one_is_unknown(store: Store, error: float) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    store.boards.add_executions([replace(FULL, status="success", speed_error=error, accuracy_error=1e-300)])
    (row,) = store.boards.executions()
    assert (row.speed_error, row.accuracy_error, row.cost_error) == (None, 0.0, FULL.cost_error)
    assert store.boards.leaderboard_rows(days=1, now_ms=FULL.created_at)


def test_standard_errors_of_a_run_reach_its_executions(store: Store) -> None:
    header = suite_header()
    arm, *_ = begin_suite(store, header, ("quick@1",))
    store.runs.append(FIRST_ID, answer(arm.arm_id, "one"))
    errors = {"accuracy": 0.125, "speed": math.nan, "reliability": 0.0, "overall": 0.5}
    store.runs.finish(replace(header, arms=(arm_result(arm, score_errors=errors),)))
    (row,) = store.boards.executions()
    assert [getattr(row, name) for name in ERRORS] == [0.125, None, None, None, 0.0]
    kept = store.runs.load(FIRST_ID).arms[0].score_errors
    assert kept == {"accuracy": 0.125, "reliability": 0.0, "overall": 0.5}
    (shown,) = store.boards.matrix_rows()
    assert [getattr(shown, name) for name in ERRORS] == [0.125, None, None, None, 0.0]


def test_executions_of_an_unknown_benchmark_are_refused_and_none_is_added(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    rows = [Execution("a", "1", DIGEST, "sums", MONDAY), Execution("a", "1", DIGEST, "nowhere", MONDAY)]
    with pytest.raises(StoreError, match=r"no benchmark 'nowhere'[\s\S]*Add the suite"):
        store.boards.add_executions(rows)
    with pytest.raises(RuntimeError, match="half way"):
        store.boards.add_executions(broken(rows[0]))
    assert store.boards.executions() == []
    assert store.boards.agents() == []
    assert store.boards.generation() == 0


def broken(row: Execution) -> Any:
    yield row
    raise RuntimeError("half way")


def test_executions_are_found_by_what_they_are(store: Store) -> None:
    run_suite(store, suite_header(workspace="team"), dict.fromkeys(AGENTS, 0.5))
    store.boards.add_executions([FULL])
    counts = {
        ExecutionFilter(agent="quick"): 2,
        ExecutionFilter(agent_version="abc"): 2,
        ExecutionFilter(suite=DIGEST): 5,
        ExecutionFilter(suite="daily-work", benchmark="talks"): 2,
        ExecutionFilter(suite="other"): 0,
        ExecutionFilter(category="accuracy"): 3,
        ExecutionFilter(workspace="team"): 4,
        ExecutionFilter(status="partial"): 1,
        ExecutionFilter(since=MONDAY + 1): 4,
        ExecutionFilter(run_id=FIRST_ID): 4,
    }
    assert {wanted: len(store.boards.executions(wanted)) for wanted in counts} == counts
    assert [row.agent for row in store.boards.executions(limit=1, wanted=ExecutionFilter(status="partial"))] == [
        FULL.agent
    ]
    assert len(store.boards.executions(limit=3)) == 3


def test_agents_are_listed_with_when_they_last_tried_and_succeeded(store: Store) -> None:
    run_suite(store, suite_header(), {"quick@1": 0.5})
    store.boards.add_executions([replace(FULL, agent="quick", agent_version="1", created_at=MONDAY + DAY_MS)])
    (row,) = store.boards.agents()
    assert (row.name, row.version, row.uses) == ("quick", "1", "agent.py@quick")
    assert (row.last_attempt_at, row.last_success_at) == (MONDAY + DAY_MS, MONDAY + 1_000)
    assert uuid.UUID(row.uid).version == 5


def test_an_agent_that_never_succeeded_or_was_only_simulated_has_no_time_of_success(store: Store) -> None:
    store.boards.add_suite(SUITE, now_ms=MONDAY)
    bare = Execution("a", "1", DIGEST, "sums", MONDAY)
    store.boards.add_executions(
        [
            replace(bare, status="failed"),
            replace(bare, agent="b", simulated=True),
            replace(bare, agent="c"),
            replace(bare, agent="c", benchmark="talks", created_at=MONDAY - 1),
            replace(bare, agent="c", agent_version="2", status="partial", created_at=MONDAY + 1),
        ]
    )
    assert [(row.name, row.version, row.last_attempt_at, row.last_success_at) for row in store.boards.agents()] == [
        ("a", "1", MONDAY, None),
        ("b", "1", None, None),
        ("c", "2", MONDAY + 1, None),
        ("c", "1", MONDAY, MONDAY),
    ]


def test_names_derive_the_same_uuids_in_every_store(store: Store, tmp_path: Any) -> None:
    run_suite(store, suite_header(workspace="team"), {"quick@1": 0.5})
    with Store.open(tmp_path / "other.db") as other:
        run_suite(other, suite_header(run_id(5), workspace="team"), {"quick@1": 0.25})
        assert [row.uid for row in other.boards.agents()] == [row.uid for row in store.boards.agents()]
        assert [row.uid for row in other.boards.suites()] == [row.uid for row in store.boards.suites()]


def test_another_configuration_makes_another_agent(store: Store) -> None:
    changed = replace(SUITE, agents=(replace(SUITE.agents[0], config={"temperature": 1}),))
    run_suite(store, suite_header(run_id(1)), {"quick@1": 0.5})
    run_suite(store, suite_header(run_id(2), suite=changed), {"quick@1": 0.5})
    assert [(row.name, row.version) for row in store.boards.agents()] == [("quick", "1"), ("quick", "1")]
    assert len(store.boards.matrix_rows()) == 4


def test_the_run_before_is_the_newest_other_whole_one_that_succeeded(store: Store) -> None:
    for number in (1, 2):
        run_suite(store, suite_header(run_id(number)), {"quick@1": 0.5}, finished_at=MONDAY + number)
    run_suite(store, suite_header(run_id(3)), {"quick@1": 0.5}, finished_at=MONDAY + 99, samples=0)
    quick = replace(suite_header(run_id(4)), form=RunForm(DIGEST, 3, 3, 1, 5, quick=True))
    run_suite(store, quick, {"quick@1": 0.5}, finished_at=MONDAY + 100)
    arm_id = arm_of("sums", "quick@1").arm_id
    assert store.runs.whole_before("quick@1", DIGEST, "sums") == [(run_id(2), arm_id)]
    assert store.runs.whole_before("quick@1", DIGEST, "sums", run_id(2)) == [(run_id(1), arm_id)]
    assert store.runs.whole_before("quick@1", DIGEST, "sums", most=5) == [(run_id(2), arm_id), (run_id(1), arm_id)]
    assert store.runs.whole_before("quick@2", DIGEST, "sums") == []
    assert store.runs.whole_before("quick@1", "other", "sums") == []


def test_what_an_agent_was_told_and_observed_is_its_model_configuration(store: Store) -> None:
    run_suite(store, suite_header(), {"quick@1": 0.5})
    (row, _) = query(store, "SELECT model_configuration AS c, execution_environment AS e FROM benchmark_executions")
    configuration, environment = (value if isinstance(value, dict) else json.loads(value) for value in row.values())
    assert configuration == {
        "uses": "agent.py@quick",
        "config": {"temperature": 0},
        "observed": {"model": "m-1"},
    }
    assert environment["cpu_model"] == ENVIRONMENT.cpu_model


def test_warm_ups_are_no_part_of_an_execution(store: Store) -> None:
    header = suite_header()
    arm, *_ = begin_suite(store, header)
    store.runs.append(FIRST_ID, replace(answer(arm.arm_id, "one"), phase=Phase.WARMUP))
    store.runs.finish(replace(header, arms=(arm_result(arm),)))
    assert [(row.status, row.attempts) for row in store.boards.executions()] == [("failed", None)]
