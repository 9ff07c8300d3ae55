"""Thresholds by metric."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.findings.engine.severity import ANY_METRIC, threshold_of
from agentdyno.findings.history.ask import Histories
from agentdyno.findings.history.judge_thresholds import known_thresholds, project_thresholds, thresholds_from
from agentdyno.specs.workspace.load import read_workspace
from agentdyno.store import Store
from tests.suites import Room
from tests.web.routes.asking import client_of, fields
from tests.workbench.answering import Answerer, ids, run


def test_a_number_is_for_every_metric_and_a_name_for_its_own() -> None:
    found = thresholds_from(["0.2", "accuracy=0.05", "cost_usd = 1"])
    assert found == {ANY_METRIC: 0.2, "accuracy": 0.05, "cost_usd": 1.0}
    assert threshold_of(found, "speed") == 0.2
    assert threshold_of(found, "pass_rate") == 0.05, "it tells about accuracy"
    assert threshold_of(found, "cost", "cost_usd") == 1.0
    assert thresholds_from([]) == known_thresholds(0.1) == {ANY_METRIC: 0.1}
    assert known_thresholds({"accuracy": 0.05}) == {ANY_METRIC: 0.1, "accuracy": 0.05}


@pytest.mark.parametrize("text", ["acuracy=0.1", "accuracy=", "accuracy=x", "0", "-1", "nan", "accuracy=11", "=0.1"])
def test_what_is_no_threshold_is_refused(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        thresholds_from([text])
    assert caught.value.remedy


def test_the_project_says_it_for_good_and_a_question_goes_first() -> None:
    project = project_thresholds({"all": 0.2, "accuracy": 0.05})
    assert thresholds_from([], project=project) == {ANY_METRIC: 0.2, "accuracy": 0.05}
    assert thresholds_from(["accuracy=0.5"], project=project) == {ANY_METRIC: 0.2, "accuracy": 0.5}
    assert thresholds_from(["0.3"], project=project) == {ANY_METRIC: 0.3}
    assert known_thresholds(None, project_thresholds({"speed": 1})) == {ANY_METRIC: 0.1, "speed": 1.0}


def test_dyno_yaml_has_thresholds_that_history_uses(tmp_path: Path) -> None:
    room = Room(tmp_path, Store.open(tmp_path / "dyno.db"))
    run(room, Answerer("a", "1.0"), count=24)
    run(room, Answerer("a", "1.1", wrong=ids(0, 10)), count=24)
    file = tmp_path / "dyno.yaml"
    file.write_text("thresholds: {accuracy: 0.5, reliability: 0.5}\n")
    workspace = read_workspace(file)
    report = Histories(room.store, thresholds=workspace.thresholds).regressions("a")
    assert not {"accuracy", "reliability"} & {item.metric for item in report.regressions}
    client = client_of(room)
    path = "/benchmarks/agents/a/regressions"
    told = client.ok(path)
    assert "accuracy" not in [item["metric"] for item in told["regressions"]]
    assert "accuracy" in [item["metric"] for item in client.ok(path, threshold=0.1)["regressions"]]
    client.app.state.services.close()
    room.store.close()


def test_a_suite_has_thresholds_that_go_before_those_of_dyno_yaml(tmp_path: Path) -> None:
    room = Room(tmp_path, Store.open(tmp_path / "dyno.db"))
    run(room, Answerer("a", "1.0"), count=24)
    second = run(
        room, Answerer("a", "1.1", wrong=ids(0, 10)), count=24, thresholds={"accuracy": 0.5, "reliability": 0.5}
    )
    first = room.store.boards.load_suite("room")
    assert second.suite is not None
    assert second.suite.digest == first.digest, "a threshold is no part of a version"
    asked = Histories(room.store, thresholds={"accuracy": 0.05, "speed": 0.3})
    assert asked.thresholds_of("a") == {"accuracy": 0.5, "reliability": 0.5, "speed": 0.3}
    assert "accuracy" not in [item.metric for item in asked.regressions("a").regressions]
    assert "accuracy" in [item.metric for item in asked.regressions("a", threshold=0.1).regressions]
    client = client_of(room)
    path = "/benchmarks/agents/a/regressions"
    assert "accuracy" not in [item["metric"] for item in client.ok(path)["regressions"]]
    assert "accuracy" in [item["metric"] for item in client.ok(path, thresholds=["accuracy=0.1"])["regressions"]]
    client.app.state.services.close()
    run(room, Answerer("a", "1.1", wrong=ids(0, 10)), count=24, thresholds={"all": 0.2})
    assert asked.thresholds_of("a") == {ANY_METRIC: 0.2}, "a number for all of the suite leaves none to the project"
    room.store.close()


def test_a_threshold_of_a_suite_that_is_none_is_refused_where_it_stands(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"thresholds: .*acuracy") as caught:
        Room(tmp_path, Store.open(tmp_path / "dyno.db")).suite(thresholds={"acuracy": 0.5})
    assert "accuracy" in (caught.value.remedy or "")


def test_a_threshold_of_dyno_yaml_that_is_none_is_refused_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "dyno.yaml").write_text("thresholds: {acuracy: 0.5}\n")
    with pytest.raises(SpecError, match=r"dyno\.yaml: thresholds: .*acuracy") as caught:
        read_workspace(tmp_path / "dyno.yaml")
    assert "accuracy" in (caught.value.remedy or "")


def test_a_drop_within_its_own_threshold_is_no_regression(tmp_path: Path) -> None:
    room = Room(tmp_path, Store.open(tmp_path / "dyno.db"))
    run(room, Answerer("a", "1.0"), count=24)
    run(room, Answerer("a", "1.1", wrong=ids(0, 10)), count=24)
    asked = Histories(room.store)

    def accuracy(threshold: dict[str, float] | float) -> list[float]:
        report = asked.regressions("a", threshold=threshold)
        return [item.threshold for item in report.regressions if item.metric == "accuracy" and not item.benchmark]

    assert accuracy(0.1) == [0.1]
    assert accuracy({"accuracy": 0.05}) == [0.05]
    assert accuracy({"accuracy": 0.5}) == []
    client = client_of(room)
    path = "/benchmarks/agents/a/regressions"
    told = client.ok(path, thresholds=["accuracy=0.5", "reliability=0.05"])
    assert "accuracy" not in [item["metric"] for item in told["regressions"]]
    assert "near" in client.problem(path, 422, thresholds=["acuracy=0.5"])
    assert fields(client.problem(path, 422, thresholds=["acuracy=0.5"])) == ["query.thresholds"]
    client.app.state.services.close()
    room.store.close()
