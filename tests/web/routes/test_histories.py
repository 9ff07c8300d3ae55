"""Histories and regressions over HTTP."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from agentdyno.model import Arm, ArmResult
from tests.suites import Room
from tests.workbench.answering import Answerer, ids, run

from .asking import Seeded, client_of, fields


def test_a_history_has_a_point_per_run(seeded: Seeded) -> None:
    found = seeded.client.ok("/api/history", subject="steady", metric="accuracy", suite_id="room")
    assert (found["subject"], found["metric"], found["suite"]) == ("steady", "accuracy", "room")
    points = [(point["version"], point["value"], point["run_id"]) for point in found["points"]]
    assert points == [("1.0", 1.0, seeded.first), ("2.0", pytest.approx(0.6), seeded.second)]
    assert seeded.client.ok("/api/history", subject="weak")["metric"] == "overall"


def test_a_history_may_be_of_one_benchmark_and_one_version(seeded: Seeded) -> None:
    found = seeded.client.ok(
        "/api/history", subject="steady@2.0", metric="accuracy", suite_id="pair", benchmark="sums"
    )
    assert [(point["value"], found["benchmark"]) for point in found["points"]] == [(1.0, "sums")]
    uid = next(row.uid for row in seeded.room.store.boards.agents() if (row.name, row.version) == ("weak", "1.0"))
    assert seeded.client.ok("/api/history", subject=uid, metric="accuracy")["points"][0]["value"] == 0.5


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ({"subject": "steady", "metric": "beauty"}, 422, ["query.metric"]),
        ({"subject": "steady", "days": 0}, 422, ["query.days"]),
        ({}, 422, ["query.subject"]),
        ({"subject": "steady", "suite_id": "rom"}, 404, ["suite_id"]),
        ({"subject": "steady", "benchmark": "rom"}, 404, []),
        ({"subject": "stedy"}, 404, []),
    ],
)
def test_a_question_that_has_no_answer_says_why(
    seeded: Seeded, query: dict[str, object], status: int, field: list[str]
) -> None:
    problem = seeded.client.problem("/api/history", status, **query)
    assert fields(problem) == field
    if field in ([], ["suite_id"]):
        assert problem["near"]


def test_the_metrics_with_a_history_are_known(seeded: Seeded) -> None:
    for asked in ({}, {"subject": "steady"}):
        names = seeded.client.ok("/api/metrics-known", **asked)["items"]
        assert {"overall", "accuracy", "duration_s", "cost_usd", "pass_rate"} <= set(names)
    assert seeded.client.problem("/api/metrics-known", 404, subject="stedy")["near"] == ["steady"]


def test_what_became_worse_is_told_with_its_cases(room: Room) -> None:
    run(room, Answerer("a", "1.0"), count=24)
    run(room, Answerer("a", "1.1", wrong=ids(0, 16)), count=24)
    client = client_of(room)
    found = client.ok("/benchmarks/agents/a/regressions")
    assert (found["agent"], found["baseline"], found["current"]) == ("a", "a@1.0", "a@1.1")
    worst = next(item for item in found["regressions"] if item["metric"] == "accuracy")
    assert (worst["detector"], worst["baseline"], worst["current"]) == ("version", 1.0, pytest.approx(8 / 24))
    assert worst["amount"] == pytest.approx(16 / 24)
    assert [key["case_id"] for key in worst["impact"]["cases"]][:2] == ["c00", "c01"]
    named = client.ok("/benchmarks/agents/a@1.1/regressions", baseline_version="1.0", threshold=0.2)
    assert {item["threshold"] for item in named["regressions"]} == {0.2}
    client.app.state.services.close()


def test_a_new_baseline_gives_a_new_report(room: Room) -> None:
    from agentdyno.findings.baseline.ask import set_baseline

    for version in ("1.0", "1.1", "1.2"):
        run(room, Answerer("a", version))
    client = client_of(room)
    assert client.ok("/benchmarks/agents/a/regressions")["baseline"] == "a@1.1"
    set_baseline(room.store, "a@1.0")
    assert client.ok("/benchmarks/agents/a/regressions")["baseline"] == "a@1.0"
    client.app.state.services.close()


def test_regressions_of_what_is_not_there_are_not_found(seeded: Seeded) -> None:
    assert seeded.client.problem("/benchmarks/agents/stedy/regressions", 404)["near"] == ["steady"]
    problem = seeded.client.problem("/benchmarks/agents/steady/regressions", 404, baseline_version="7.0")
    assert fields(problem) == ["baseline_version"]
    for threshold in ("0", "nan", "inf", "-1"):
        problem = seeded.client.problem("/benchmarks/agents/steady/regressions", 422, threshold=threshold)
        assert fields(problem) == ["query.threshold"]


def test_whose_history_can_be_asked_for_is_listed_with_labels_that_differ(room: Room) -> None:
    suite_run = run(room, Answerer("steady"), count=2)
    summary = suite_run.arms[0].metrics["duration_s"]
    of_load = {"target": "http://local/v1", "normal_rate": 20.0, "width": 0.25}
    made: list[tuple[str, str, dict[str, object]]] = [
        ("sort", "sort", {"size": 9}),
        ("sort size=10", "sort", {"size": 10}),
        ("high_load", "high_load", of_load),
    ]
    for number, (name, of, params) in enumerate(made, 1):
        arm = ArmResult("arm", name, of, params, metrics={"duration_s": summary}, planned=1)
        told = replace(
            suite_run, run_id=str(UUID(int=number)), kind="experiment", suite=None, form=None, arms=(arm,), targets={}
        )
        room.store.runs.begin(told, [Arm("arm", name, of, params)], {"arm": 1})
        room.store.runs.finish(told)
    client = client_of(room)
    found = client.ok("/api/history-subjects")
    assert found["agents"] == ["steady"]
    load, experiment = found["experiments"]
    assert [arm["label"] for arm in load["arms"]] == ["high_load (target=http://local/v1)"]
    assert [arm["label"] for arm in experiment["arms"]] == ["sort (size=9)", "sort size=10"]
    for arm in (*load["arms"], *experiment["arms"]):
        assert len(client.ok("/api/history", subject=arm["name"])["points"]) == 1
        assert "duration_s" in client.ok("/api/metrics-known", subject=arm["name"])["items"]
    client.app.state.services.close()
