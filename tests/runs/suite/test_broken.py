"""Scorers that raise on every answer: when that is decided, what is kept, and what follows from it."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from agentdyno.errors import SpecError
from agentdyno.model import Arm, Phase, Progress, RunResult, RunStatus, Sample, ScorerUse, Status, Workspace
from agentdyno.model.identity import new_run_id
from agentdyno.runs.kind import Choices, Tools
from agentdyno.runs.kinds import SUITE, kind_named
from agentdyno.runs.pipeline import start
from agentdyno.runs.suite.broken import TOLD_AFTER, EarlyWarning
from agentdyno.runs.suite.prepare import suite_request
from agentdyno.specs import parse_suite
from agentdyno.workbench.rescore import rescore

from ...suites import EMPTY, Room, statuses

BROKEN = "def valid(output, target):\n    return output.missing\n"
MENDED = "def valid(output, target):\n    return output == target\n"
SCORER = "judge.py@valid"


def write(room: Room, text: str) -> None:
    """The file with the scorer, which a later process would read anew."""
    (room.folder / "judge.py").write_text(text)
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(room.folder / "judge.py"):
            del sys.modules[name]


def broken_run(room: Room, *agents: str, **changes: object) -> str:
    """The id of a run that ended as a mistake of its suite."""
    write(room, BROKEN)
    with pytest.raises(SpecError, match=r"AttributeError: .*\(judge.py:2\) on all \d+ answers of all agents"):
        room.run(room.suite(scorer=SCORER, **changes), *agents)
    return room.store.runs.find("last")


def test_the_run_is_failed_and_keeps_every_answer(room: Room) -> None:
    run_id = broken_run(room, "agent.py@good", "agent.py@bad")
    kept = room.store.runs.load(run_id)
    assert (kept.status, kept.misjudged) == (RunStatus.FAILED, True)
    assert [sample.output for sample in kept.arms[0].samples] == ["A", "B", "C", "D"]
    assert statuses(kept) == {"good": {"failed": 4}, "bad": {"failed": 4}}
    assert kept.warnings[0].code == "scorer-broken"
    assert f"dyno rescore {run_id[:13]}" in kept.warnings[0].remedy
    assert {row.status for row in room.store.boards.executions()} == {"failed"}, "no board takes it for a result"


def test_going_on_with_it_says_the_same_and_rescoring_mends_it(room: Room) -> None:
    run_id = broken_run(room, "agent.py@good", "agent.py@bad")
    write(room, MENDED)
    with pytest.raises(SpecError, match="dyno rescore"):
        room.resume(room.store.runs.load(run_id))
    done = rescore(room.store, run_id, Workspace())
    assert statuses(done.result) == {"good": {"ok": 4}, "bad": {"failed": 4}}
    assert done.result.status is RunStatus.COMPLETE
    assert not done.result.misjudged
    assert len(room.calls()) == 4, "no agent is called for it"


def test_rescoring_with_a_broken_scorer_is_a_mistake_too_and_leaves_the_old_run(room: Room) -> None:
    before = room.run(room.suite(), "agent.py@good")
    write(room, BROKEN)
    with pytest.raises(SpecError, match="nothing was judged"):
        rescore(room.store, before.run_id, Workspace(), [ScorerUse(SCORER)])
    assert room.store.runs.load(before.run_id) == before


def test_a_scorer_that_can_judge_in_another_benchmark_is_not_broken(room: Room) -> None:
    write(room, "def valid(output, target):\n    return output['x'] if target else 1.0\n")
    two = [
        {"name": "one", "dataset": {"cases": [{"id": "a", "input": "a", "target": "A"}]}, "scorer": SCORER},
        {"name": "two", "dataset": {"cases": [{"id": "a", "input": "a", "target": ""}]}, "scorer": SCORER},
    ]
    loaded = parse_suite({"name": "room", "epochs": 1, "warmup": 0, "benchmarks": two}, base_dir=room.folder)
    result = room.run(loaded, "agent.py@good")
    assert [warning.code for warning in result.warnings if "scorer" in warning.code] == ["scorer-raised"]


def interrupted(room: Room) -> RunResult:
    """A run that was stopped after its second answer."""
    write(room, BROKEN)

    def stop(progress: Progress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    tools = replace(room.tools(EMPTY, Choices(("agent.py@good",))), on_progress=stop)
    kind = kind_named(SUITE)
    with kind.prepare(suite_request(room.suite(scorer=SCORER)), tools) as prepared:
        return start(kind, prepared, tools)


def test_an_interrupted_run_may_go_on_with_a_mended_scorer(room: Room) -> None:
    first = interrupted(room)
    assert (first.stopped_because, first.status, first.misjudged) == ("interrupted", RunStatus.PARTIAL, False)
    assert [warning.code for warning in first.warnings if "scorer" in warning.code] == ["scorer-raised"]
    write(room, MENDED)
    whole = room.resume(first)
    assert statuses(whole) == {"good": {"failed": 2, "ok": 2}}
    (warning,) = [item for item in whole.warnings if item.code == "scorer-raised"]
    assert "on 2 of 4 answers" in warning.message, "what was judged by the broken one is told"
    assert statuses(rescore(room.store, whole.run_id, Workspace()).result) == {"good": {"ok": 4}}


def test_an_interrupted_run_that_goes_on_with_the_broken_scorer_ends_as_a_mistake(room: Room) -> None:
    first = interrupted(room)
    with pytest.raises(SpecError, match="on all 4 answers of all agents"):
        room.resume(first)


def test_samples_of_earlier_versions_stay_as_they_are_and_rescoring_gives_the_new_rule(room: Room) -> None:
    write(room, "def valid(output, target):\n    return {'A': 1.0}[output]\n")
    before = room.run(room.suite(scorer=SCORER), "agent.py@good")
    assert statuses(before) == {"good": {"failed": 3, "ok": 1}}
    arm = before.arms[0]
    own = Arm(arm.arm_id, arm.name, arm.experiment, arm.params, arm.benchmark, arm.agent, arm.side)
    stored = replace(before, run_id=new_run_id(), arms=())
    room.store.runs.begin(stored, [own], {own.arm_id: 4})
    for sample in arm.samples:
        room.store.runs.append(stored.run_id, as_before(sample) if sample.status is Status.FAILED else sample)
    room.store.runs.commit()
    old = [sample for sample in room.store.runs.load(stored.run_id).arms[0].samples if sample.case_id != "a"]
    assert [(sample.status, sample.scores["score"]) for sample in old] == [(Status.OK, None)] * 3
    done = rescore(room.store, stored.run_id, Workspace())
    assert (done.now_right, done.now_wrong) == (0, 3)
    assert statuses(done.result) == {"good": {"failed": 3, "ok": 1}}


def as_before(sample: Sample) -> Sample:
    """The sample as it was stored when a scorer that raised left an answer without a score."""
    said = "the scorer judge.py@valid failed at judge.py:2: KeyError: 'B'"
    problem = {"code": "scorer_failed", "message": said}
    item = {"scorer": SCORER, "weight": 1.0, "values": {"correctness": None}, "explanation": said}
    scoring = [{**item, "details": {"error": "KeyError: 'B'", "problem": problem}}]
    details = {**sample.details, "scoring": scoring}
    return replace(sample, status=Status.OK, scores={"score": None, "correctness": None}, details=details)


def test_what_raises_from_the_start_is_told_once_and_early(room: Room) -> None:
    told: list[str] = []
    write(room, BROKEN)
    tools: Tools = replace(room.tools(EMPTY, Choices(("agent.py@good",))), say=told.append)
    kind = kind_named(SUITE)
    with (
        pytest.raises(SpecError),
        kind.prepare(suite_request(room.suite(scorer=SCORER, epochs=3)), tools) as prepared,
    ):
        start(kind, prepared, tools)
    (line,) = [line for line in told if "raised" in line]
    assert f"as on each of the first {TOLD_AFTER} answers" in line


def test_nothing_is_told_of_a_scorer_that_has_judged_one_answer() -> None:
    told: list[str] = []
    early = EarlyWarning(told.append)
    problem = {"details": {"problem": {"code": "scorer_raised"}}, "explanation": "scorer s raised KeyError"}
    for items in (
        [{"scorer": "s", "values": {"correctness": 1.0}}],
        *([{"scorer": "s", **problem}] for _ in range(9)),
    ):
        early.add(Sample("a", Phase.MEASURED, 0, Status.OK, 0, details={"scoring": items}))
    assert told == []
