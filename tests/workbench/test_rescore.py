"""Judging stored answers again."""

from __future__ import annotations

import pytest

from agentdyno.errors import DynoError, SpecError
from agentdyno.model import RunStatus, ScorerUse, Status, Workspace
from agentdyno.specs import parse_spec, spec_changes
from agentdyno.workbench.rescore import rescore

from ..chat_server import Asked, Reply, serving
from ..experiments import measure
from ..suites import Room, statuses

TOOLS = """
from agentdyno import tool_call

def answer(text):
    with tool_call("search", {"query": text}) as result:
        result.append("nothing")
    return "I looked for it"
"""


def test_another_scorer_gives_a_new_run_and_leaves_the_old_one(room: Room) -> None:
    before = room.run(room.suite(epochs=2), "agent.py@good", "agent.py@bad")
    done = rescore(room.store, before.run_id, Workspace(), [ScorerUse("includes", options={"ignore_case": True})])
    assert (done.judged, done.now_right, done.now_wrong) == (16, 0, 0)
    flipped = rescore(room.store, before.run_id, Workspace(), [ScorerUse("regex", options={"pattern": "^no$"})])
    assert (flipped.now_right, flipped.now_wrong) == (8, 8)
    assert statuses(flipped.result) == {"good": {"failed": 8}, "bad": {"ok": 8}}
    assert room.store.runs.load(before.run_id) == before
    assert room.store.runs.load(flipped.result.run_id) == flipped.result
    assert len(room.calls()) == 8
    assert flipped.result.status is RunStatus.COMPLETE
    assert flipped.result.tags == (f"rescored:{before.run_id[:13]}",)


def test_trajectories_are_judged_as_they_were_kept(room: Room) -> None:
    (room.folder / "agent.py").write_text(TOOLS)
    rows = [{"id": "a", "input": "x", "target": [{"name": "search", "arguments": {"query": "x"}}]}]
    before = room.run(room.suite(dataset={"cases": rows}, scorer="json_equal"), "agent.py@answer")
    done = rescore(room.store, before.run_id, Workspace(), [ScorerUse("tool_calls")])
    assert (done.now_right, done.now_wrong) == (1, 0)


def test_what_never_was_an_answer_is_not_judged(room: Room) -> None:
    before = room.run(room.suite(max_failure_rate=1.0), "agent.py@broken", "agent.py@good")
    done = rescore(room.store, before.run_id, Workspace())
    assert done.judged == 4
    assert statuses(done.result) == {"broken": {"error": 4}, "good": {"ok": 4}}


def test_a_judge_is_asked_and_paid_and_nobody_else(room: Room) -> None:
    before = room.run(room.suite(), "agent.py@good")

    def judge(asked: Asked) -> Reply:
        return Reply(f'{{"correctness": 0.0, "explanation": "said {asked.headers["authorization"]}"}}')

    with serving(judge) as server:
        workspace = room.workspace(
            f'agents: {{judge: {{use: "openai:small", config: {{base_url: "{server.url}", api_key_env: HUSH}}}}}}\n'
            "prices: {small: {input: 100, output: 300}}"
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HUSH", "hush-hush-123")
            uses = [ScorerUse("model_graded", options={"agent": "judge"})]
            done = rescore(room.store, before.run_id, workspace, uses)
    assert len(server.asked) == 4
    assert (done.now_right, done.now_wrong) == (0, 4)
    sample = done.result.arms[0].samples[0]
    assert (sample.status, sample.details["judge_cost_usd"]) == (Status.FAILED, pytest.approx(0.4))
    assert "hush-hush-123" not in repr(done.result)
    assert len(room.calls()) == 4


def test_only_suites_have_answers(room: Room) -> None:
    (room.folder / "steps.py").write_text("def steps(n: int = 1): return n\n")
    spec = parse_spec(
        {"experiment": "steps.py@steps", "iterations": {"measured": 2, "warmup": 0}},
        source="spec.yaml",
        base_dir=room.folder,
        overrides=spec_changes(),
    )
    run = measure(room.store, room.folder / "runs", spec)
    with pytest.raises(SpecError, match="there are no answers to judge"):
        rescore(room.store, run.run_id, Workspace())


def test_a_scorer_that_cannot_judge_leaves_no_run_behind(room: Room) -> None:
    before = room.run(room.suite(), "agent.py@good")
    for use in (ScorerUse("numeric"), ScorerUse("exat")):
        with pytest.raises(DynoError):
            rescore(room.store, before.run_id, Workspace(), [use])
    assert [run.run_id for run in room.store.runs.newest()] == [before.run_id]
