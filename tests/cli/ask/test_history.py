"""``dyno history`` over as few runs as people have: from given figures, so that nothing is measured."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.cli.main import main
from agentdyno.model import Arm, RunStatus
from agentdyno.model.identity import new_run_id
from agentdyno.store import Execution, Store

from ...given_results import STARTED, Factory
from ...store.suite_builders import DAY_MS, MONDAY, SUITE

NIGHTS_MS = (4.42, 3.23, 3.20, 3.22, 3.33, 3.21, 6.23, 6.28, 6.31, 6.32, 6.20, 6.30, 6.52, 6.43)
"""The first night the caches were cold; since the seventh everything takes twice as long."""
GROWING_USD = tuple(0.00105 * 1.05**night for night in range(20))


class Console:
    """``dyno`` in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def __call__(self, *arguments: str) -> str:
        self.monkeypatch.setattr(sys, "argv", ["dyno", *arguments])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        out, err = self.capsys.readouterr()
        assert (left.value.code, err) == (0, "")
        return out


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DYNO_STORE", raising=False)
    monkeypatch.setenv("COLUMNS", "140")
    with Store.open(tmp_path / ".dyno" / "dyno.db") as opened:
        opened.boards.add_suite(SUITE, now_ms=MONDAY)
        yield opened


@pytest.fixture
def dyno(store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Console:
    assert store.boards.suites()
    return Console(monkeypatch, capsys)


def nights(store: Store, seconds: Sequence[float] = (), usd: Sequence[float] = ()) -> None:
    """One execution a night of agent ``a``, ten cases that all pass, without a score for speed or cost."""
    plain = Execution("a", "1", SUITE.digest, "sums", MONDAY, accuracy=1.0, passed=10, samples=10)
    rows = [replace(plain, duration_s=10 * value) for value in seconds]
    rows += [replace(plain, cost_usd=10 * value) for value in usd]
    store.boards.add_executions(replace(row, created_at=MONDAY + n * DAY_MS) for n, row in enumerate(rows))


def experiment(store: Store, medians: Sequence[float]) -> None:
    factory = Factory()
    for night, median in enumerate(medians):
        arm = replace(factory.arm(durations=[median] * 7), samples=(), artifacts=())
        at = STARTED + night * DAY_MS
        made = factory.result([arm], run_id=new_run_id(), started_at=at, finished_at=at + 1_000)
        header = replace(made, arms=(), status=RunStatus.RUNNING, finished_at=None)
        store.runs.begin(header, [Arm(arm.arm_id, arm.name, arm.experiment, arm.params)], {arm.arm_id: 7})
        store.runs.finish(made)


def test_a_doubling_in_fourteen_runs_is_shown_with_where_the_series_stands(store: Store, dyno: Console) -> None:
    experiment(store, [value / 1_000 for value in NIGHTS_MS])
    text = dyno("history", "sort")
    assert "14 points, 1 change: 1 worse, 0 better." in text
    assert "3.23 ms → 6.30 ms" in text
    assert "; now 6.30 ms [6.20, 6.52]." in text
    found = json.loads(dyno("history", "sort", "--json"))
    (change,) = found["changes"]
    assert (change["index"], change["confirmed"], change["better"]) == (6, True, False)
    assert found["now"]["value"] == pytest.approx(0.006305)
    assert (found["now"]["points"], found["drift"]) == (8, None)


def test_an_arm_is_named_by_a_part_of_its_name_as_in_comparisons(store: Store, dyno: Console) -> None:
    factory = Factory()
    arms = [factory.arm("sort", [size / 1e5] * 7, {"size": size}) for size in (100, 200)]
    arms = [replace(arm, name=f"sort size={arm.params['size']}", samples=(), artifacts=()) for arm in arms]
    made = factory.result(arms, run_id=new_run_id(), started_at=STARTED, finished_at=STARTED + 1_000)
    header = replace(made, arms=(), status=RunStatus.RUNNING, finished_at=None)
    planned = [Arm(arm.arm_id, arm.name, arm.experiment, arm.params) for arm in arms]
    store.runs.begin(header, planned, {arm.arm_id: 7 for arm in arms})
    store.runs.finish(made)
    assert "now 2 ms" in dyno("history", "sort:size=200")
    assert "now 1 ms" in dyno("history", "sort:sort size=100")


def test_after_two_slow_runs_the_doubling_is_provisional(store: Store, dyno: Console) -> None:
    experiment(store, [value / 1_000 for value in NIGHTS_MS[:8]])
    text = dyno("history", "sort")
    assert "✗ worse, provisional" in text
    assert "; now 6.25 ms [5.49, 7.02], provisional." in text
    found = json.loads(dyno("history", "sort", "--json"))
    assert [item["confirmed"] for item in found["changes"]] == [False]
    assert found["now"]["confirmed"] is False


def test_a_doubling_of_an_agents_time_is_a_regression_also_without_a_target(store: Store, dyno: Console) -> None:
    nights(store, seconds=[value / 1_000 for value in NIGHTS_MS])
    assert "now 6.30 ms [6.20, 6.52]" in dyno("history", "a", "--metric", "duration_s")
    text = dyno("history", "a", "--regressions")
    assert "Do not release; go back to the baseline: duration_s, critical." in text
    found = json.loads(dyno("history", "a", "--regressions", "--json"))
    (worse,) = found["regressions"]
    assert (worse["metric"], worse["kind"], worse["confirmed"]) == ("duration_s", "step", True)
    assert worse["amount"] == pytest.approx(0.955, abs=0.001)
    assert found["health"] == 50


def test_two_slow_runs_of_an_agent_are_a_reason_to_run_again(store: Store, dyno: Console) -> None:
    nights(store, seconds=[value / 1_000 for value in NIGHTS_MS[:8]])
    text = dyno("history", "a", "--regressions")
    assert "Run again before deciding" in text
    assert "critical ?" in text


def test_a_cost_that_grows_by_a_twentieth_a_run_is_a_drift(store: Store, dyno: Console) -> None:
    nights(store, usd=GROWING_USD)
    text = dyno("history", "a", "--metric", "cost_usd")
    assert "20 points, 0 changes: 0 worse, 0 better. A drift: worse." in text
    assert "Drift: rises steadily over 20 points, $1.05 per 1,000 → $2.65 per 1,000, +153 %: worse." in text
    assert "No change of level" not in text
    assert "now $2.64 per 1,000 [$2.64, $2.65]" in text.replace(" per 1,000]", "]")
    found = json.loads(dyno("history", "a", "--regressions", "--json"))
    (worse,) = found["regressions"]
    assert (worse["metric"], worse["kind"]) == ("cost_usd", "drift")
    assert worse["amount"] == pytest.approx(1.05**19 - 1, abs=0.01)
    assert worse["p_value"] < 1e-7
    assert found["health"] < 100


def test_steady_runs_raise_nothing(store: Store, dyno: Console) -> None:
    nights(store, seconds=[3.23, 3.20, 3.22, 3.33, 3.21, 3.25, 3.19, 3.24])
    assert "No change of level beyond the noise." in dyno("history", "a", "--metric", "duration_s")
    assert "Nothing to do" in dyno("history", "a", "--regressions")
