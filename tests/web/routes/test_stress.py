"""``/api/stress``: load runs as reports."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from uuid import UUID

import pytest

from agentdyno.model import Arm, RunResult, RunStatus
from agentdyno.model.codec import to_plain
from agentdyno.model.job import Scope
from agentdyno.model.load import Objective, Stage
from tests.load.queueing import QueueModel
from tests.load.stress_runs import arm_of, own_load, result_of, windows_from
from tests.suites import Room

from .asking import Client, Seeded, client_of, refused

SLO = (Objective("error_rate", 0.01),)


@pytest.fixture(scope="module")
def windows() -> RunResult:
    """A target that serves 50 a second, asked 20 a second for three seconds."""
    found, params = windows_from(
        own_load(Stage("steady", 3.0, rate=20.0)), QueueModel(slots=1, service_s=0.02), slo=SLO
    )
    return result_of([arm_of("custom", found, params)], SLO)


def name(number: int) -> str:
    return str(UUID(int=number))


def stored(room: Room, result: RunResult, number: int, agent: str, status: RunStatus = RunStatus.COMPLETE) -> None:
    """The load run as it is after it was measured and closed."""
    run_id = name(number)
    samples = tuple(dataclasses.replace(item, arm_id=f"arm-{number}") for item in result.arms[0].samples)
    arm = dataclasses.replace(
        result.arms[0],
        arm_id=f"arm-{number}",
        agent=agent,
        params={**result.arms[0].params, "target": agent},
        samples=samples,
    )
    header = dataclasses.replace(result, run_id=run_id, status=RunStatus.RUNNING, finished_at=None, arms=())
    plan = Arm(arm.arm_id, arm.name, arm.experiment, arm.params, agent=agent)
    room.store.runs.begin(header, (plan,), {arm.arm_id: 0})
    for sample in samples:
        room.store.runs.append(run_id, sample)
    room.store.runs.commit()
    if status is not RunStatus.RUNNING:
        closed = dataclasses.replace(header, status=status, finished_at=number, arms=(arm,))
        room.store.runs.finish(closed, folder=Path(room.folder))


def agents(client: Client, **query: object) -> list[str]:
    return [item["agent_id"] for item in client.ok("/api/stress", **query)["items"]]


def test_there_is_nothing_where_no_load_was_run(seeded: Seeded) -> None:
    assert seeded.client.ok("/api/stress") == {"items": []}


def test_a_load_run_is_a_report_with_windows_over_time(room: Room, windows: RunResult) -> None:
    stored(room, windows, 1, "sage@1")
    (report,) = client_of(room).ok("/api/stress")["items"]
    assert (report["agent_id"], report["run_id"], report["finished_at"]) == ("sage@1", name(1), 1)
    assert report["objectives"] == to_plain(SLO)
    (scenario,) = report["scenarios"]
    assert scenario["scenario"] == "custom"
    assert scenario["broke"] is False
    assert scenario["outcomes"] == {"ok": scenario["asked"]}
    assert len(scenario["over_time"]) == len(windows.arms[0].samples)
    assert sum(point["asked_per_s"] * point["duration_s"] for point in scenario["over_time"]) == pytest.approx(
        scenario["asked"]
    )
    assert report["resilience_score"] is None


def test_reports_come_newest_first_of_one_target_and_no_more_than_asked_for(room: Room, windows: RunResult) -> None:
    for number, agent in enumerate(("sage@1", "other", "sage@1", "sage@2"), start=1):
        stored(room, dataclasses.replace(windows, started_at=number), number, agent)
    client = client_of(room)
    assert agents(client) == ["sage@2", "sage@1", "other", "sage@1"]
    assert [item["run_id"] for item in client.ok("/api/stress", agent_id="sage@1")["items"]] == [name(3), name(1)]
    assert agents(client, limit=1) == ["sage@2"]
    assert agents(client, agent_id="nobody") == []


def test_a_run_that_still_goes_on_is_not_shown_and_one_cut_short_is(room: Room, windows: RunResult) -> None:
    stored(room, windows, 1, "going", RunStatus.RUNNING)
    stored(room, windows, 2, "cut", RunStatus.PARTIAL)
    assert agents(client_of(room)) == ["cut"]


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 21}, {"limit": "x"}, {"agent_id": "a" * 10_000}])
def test_a_question_that_makes_no_sense_is_refused(seeded: Seeded, query: dict[str, object]) -> None:
    refused(seeded.client.send("GET", "/api/stress", params=query), 422)


def test_a_key_that_may_read_is_enough(room: Room) -> None:
    assert client_of(room, Scope.READ).ok("/api/stress") == {"items": []}
