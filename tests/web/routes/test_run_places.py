"""Where a run stands among others, and how it goes on, over HTTP."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import UUID

from agentdyno.findings.run.ask_progress import progress_points
from agentdyno.model import Arm, RunStatus, Status
from agentdyno.runs.ownership import is_executed
from agentdyno.runs.place import run_folder
from agentdyno.store.runs.pages import SampleMoment
from tests.suites import Room
from tests.workbench.answering import Answerer, run

from .asking import Seeded, check_documented, client_of


def test_a_run_knows_the_ones_before_and_after_of_its_name_alone(seeded: Seeded) -> None:
    first = seeded.client.ok(f"/api/runs/{seeded.first}/place")
    assert (first["previous_run_id"], first["next_run_id"]) == (None, seeded.second)
    second = seeded.client.ok(f"/api/runs/{seeded.second}/place")
    assert (second["previous_run_id"], second["next_run_id"]) == (seeded.first, None)
    check_documented(seeded.client, "get", "/api/runs/{run_id}/place", second)


def test_the_agents_of_a_run_are_judged_against_the_version_before(seeded: Seeded) -> None:
    found = {item["agent"]: item for item in seeded.client.ok(f"/api/runs/{seeded.second}/place")["verdicts"]}
    steady = found["steady@2.0"]
    assert (steady["baseline"], steady["baseline_run_id"]) == ("steady@1.0", seeded.first)
    assert {item["case_id"] for item in steady["broken"]} >= {"c00", "c01"}
    assert steady["summary"]
    first = {item["agent"]: item for item in seeded.client.ok(f"/api/runs/{seeded.first}/place")["verdicts"]}
    assert first["steady@1.0"]["verdict"] == "no-baseline"


def test_a_baseline_that_was_set_comes_before_the_version_before(room: Room) -> None:
    for version, wrong in (("1", []), ("2", ["c00"]), ("3", ["c00"])):
        last = run(room, Answerer("a", version, wrong=wrong), count=4, epochs=2)
    client = client_of(room)
    (verdict,) = client.ok(f"/api/runs/{last.run_id}/place")["verdicts"]
    assert verdict["baseline"] == "a@2"
    from agentdyno.findings.baseline.ask import set_baseline

    set_baseline(room.store, "a@1")
    (verdict,) = client.ok(f"/api/runs/{last.run_id}/place")["verdicts"]
    assert (verdict["baseline"], [item["case_id"] for item in verdict["broken"]]) == ("a@1", ["c00"])
    client.app.state.services.close()


def test_a_run_that_goes_on_says_whether_a_process_executes_it(room: Room) -> None:
    done = run(room, Answerer("a"), count=4)
    going = replace(done, run_id=str(UUID(int=7)), status=RunStatus.RUNNING, finished_at=None)
    room.store.runs.begin(going, [Arm("arm", "arm", "x")], {"arm": 8})
    client = client_of(room)
    found = client.ok(f"/api/runs/{going.run_id}/progress")
    assert (found["status"], found["planned"], found["executed"], found["points"]) == ("running", 8, False, [])
    assert client.ok(f"/api/runs/{going.run_id}/place")["verdicts"] == []
    ended = client.ok(f"/api/runs/{done.run_id}/progress")
    assert (ended["executed"], ended["points"][-1]["done"], ended["points"][-1]["passed"]) == (False, 4, 4)
    check_documented(client, "get", "/api/runs/{run_id}/progress", ended)
    client.app.state.services.close()
    assert not is_executed(run_folder(going.spec, going.run_id))


def test_a_folder_without_an_owner_and_one_whose_owner_has_gone_are_nobodys(tmp_path: Path) -> None:
    assert not is_executed(tmp_path)
    (tmp_path / "owner.json").write_text('{"pid": 1}')
    assert not is_executed(tmp_path), "the lock went with its process"


def test_points_add_up_and_leave_out_what_is_not_known() -> None:
    moments = [
        SampleMoment(1, Status.OK, 1.0, 0.5),
        SampleMoment(2, Status.FAILED, 3.0, None),
        SampleMoment(3, Status.ERROR, None, None),
    ]
    points = progress_points(moments)
    assert [(point.at, point.done, point.passed, point.cost_usd) for point in points] == [
        (1, 1, 1, 0.5),
        (2, 2, 1, 0.5),
        (3, 3, 1, 0.5),
    ]
    assert [(point.median_s, point.p95_s) for point in points] == [(1.0, 1.0), (3.0, 3.0), (None, None)]
    many = progress_points([SampleMoment(at, Status.OK, 1.0, None) for at in range(601)])
    assert (len(many), many[-1].done, many[-1].passed, many[-1].cost_usd) == (55, 601, 601, None)
