"""Cases of runs that people have marked."""

from __future__ import annotations

from agentdyno.model.sample import AnswerMark
from agentdyno.workbench.traces.adding_cases import case_from_run

from ...suites import Room


def test_a_case_without_a_target_gets_the_answer_that_people_marked_right(room: Room) -> None:
    rows = [{"id": "a", "input": "hello"}]
    loaded = room.suite(dataset={"cases": rows}, scorer={"name": "regex", "pattern": "."})
    result = room.run(loaded, "agent.py@bad")
    arm = result.arms[0]
    assert case_from_run(room.store, result.run_id, "a").target is None
    answered = (result.run_id, arm.benchmark or "", "a", arm.agent or "", 0)
    room.store.judging.mark(AnswerMark(*answered, "ada", 7, is_right=True, note="that is it"))
    case = case_from_run(room.store, result.run_id, "a")
    assert case.target == "no"
    provenance = case.metadata["provenance"]
    assert isinstance(provenance, dict)
    assert provenance["marks"] == [
        {"right": True, "who": "ada", "at": 7, "agent": arm.agent, "epoch": 0, "note": "that is it"}
    ]
    room.store.judging.mark(AnswerMark(*answered, "bob", 8, is_right=False))
    assert case_from_run(room.store, result.run_id, "a").target is None, "people are divided"
