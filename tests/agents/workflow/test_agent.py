"""Workflow agents on the bench: any agent plans, the executor executes, the check of the final state judges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentdyno import AgentUse, Benchmark, Case, Rubric, RunResult, Sample, ScorerUse, SpecError, Suite, evaluate
from agentdyno.agents.references import label_of, locate
from agentdyno.agents.resolve import make_agent
from agentdyno.agents.versioning import version_of
from agentdyno.sandbox.final_state import FinalState

from ...chat_server import Asked, Reply, serving

CODE = """
def make(folder, seed):
    (folder / "in.txt").write_text("b\\na\\n" * seed)

def check(state, seed):
    state.expect(state.lines("out.txt") == ["a"] * seed + ["b"] * seed, "out.txt is not sorted")

GOOD = {"steps": [
    {"id": "sort", "command": "sort in.txt > sorted.txt", "needs": [], "outputs": ["sorted.txt"]},
    {"id": "copy", "command": "cp sorted.txt out.txt", "needs": ["sort"], "outputs": ["out.txt"]}]}

def good(case): return GOOD
def wrong(case): return {"steps": [{"id": "copy", "command": "cp in.txt out.txt", "outputs": ["out.txt"]}]}
def broken(case): return "I would sort the file."
def failing(case): return {"steps": [{"id": "tool", "command": "frobnicate in.txt", "needs": [], "outputs": []}]}
def mended(case): return GOOD if isinstance(case.input, list) else "no plan at first"
"""
WORKFLOW = {"make": "tasks.py@make", "check": "tasks.py@check", "seed": 3}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tasks.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def suite(metadata: dict[str, object] | None = None) -> Suite:
    case = Case(
        "sorting", "Sort in.txt into out.txt.", metadata={"workflow": WORKFLOW if metadata is None else metadata}
    )
    rubric = Rubric((ScorerUse("final_state"),))
    return Suite("tasks", (Benchmark("tasks", (case,), rubric=rubric),), warmup=0, epochs=1, base_dir=".")


def run(planner: str, **config: object) -> Sample:
    use = AgentUse("planner", f"workflow:{planner}", config=config)
    return only(evaluate(suite(), [use]))


def only(result: RunResult) -> Sample:
    [arm] = result.arms
    [sample] = arm.samples
    return sample


def test_a_good_plan_is_executed_and_passes_the_check(place: Path) -> None:
    sample = run("tasks.py@good")
    assert (sample.status.value, sample.scores["score"]) == ("ok", 1.0)
    readings = sample.readings
    assert (readings["workflow.steps_planned"], readings["workflow.steps_executed"]) == (2, 2)
    assert readings["commands.count"] == 2
    assert readings["commands.unknown_tools"] == 0
    assert readings["workflow.critical_path_s"] <= readings["workflow.execution_s"] <= readings["duration_s"]
    observed = sample.details["observed"]
    assert isinstance(observed, dict)
    assert "namespaces" in observed["sandbox"]


def test_steps_are_spans_of_the_trajectory(place: Path) -> None:
    events = run("tasks.py@good").details["events"]
    assert isinstance(events, list)
    steps = {event["name"]: event for event in events if event["kind"] == "step"}
    assert list(steps) == ["sort", "copy"]
    details = steps["copy"]["details"]
    assert steps["copy"]["content"] == "cp sorted.txt out.txt"
    assert details["parent"] == "workflow"
    assert (details["exit_code"], details["files_read"], details["files_written"]) == (0, ["sorted.txt"], ["out.txt"])
    assert details["cpu_s"] >= 0
    assert details["peak_rss_bytes"] > 0
    assert any(event["name"] == "planning" for event in events)
    assert [details["phase"], *(event["name"] for event in events if event["details"].get("span") == "workflow")] == [
        "tool",
        "workflow executor",
    ]


def test_a_plan_that_leaves_something_else_fails_by_the_check(place: Path) -> None:
    sample = run("tasks.py@wrong")
    assert sample.status.value == "failed"
    assert "out.txt is not sorted" in json.dumps(sample.details["scoring"])


def test_an_answer_that_is_no_plan_is_the_planners_failure_and_no_error(place: Path) -> None:
    sample = run("tasks.py@broken")
    assert (sample.status.value, sample.scores["score"]) == ("failed", 0.0)
    assert isinstance(sample.output, dict)
    assert (sample.output["outcome"], sample.output["reason"]) == ("plan_refused", "the answer holds no JSON")


def test_a_plan_may_be_mended_once_where_that_is_asked_for(place: Path) -> None:
    assert run("tasks.py@mended").status.value == "failed"
    sample = run("tasks.py@mended", repairs=1)
    assert sample.status.value == "ok"
    assert sample.readings["workflow.repairs"] == 1


def test_a_step_that_fails_is_told_with_its_reason(place: Path) -> None:
    sample = run("tasks.py@failing")
    assert sample.status.value == "failed"
    assert isinstance(sample.output, dict)
    assert sample.output["outcome"] == "failed"
    assert sample.output["reason"].startswith("tool: exit status 127")
    assert sample.output["commands"]["unknown_tools"] == ["frobnicate"]


def test_a_plan_that_is_executed_twice_tells_whether_it_is_idempotent(place: Path) -> None:
    assert run("tasks.py@good", idempotence=True).readings["commands.idempotent"] == 1


def test_a_fault_and_what_the_second_start_knew(place: Path) -> None:
    sample = run("tasks.py@good", fault={"kind": "kill", "step": "copy"})
    assert sample.status.value == "ok"
    readings = sample.readings
    assert (readings["resume.steps_completed"], readings["resume.steps_skipped"]) == (1, 1)
    assert (readings["resume.precision"], readings["resume.recall"], readings["resume.wrongly_skipped"]) == (1, 1, 0)
    assert readings["workflow.steps_executed"] == 3


def test_the_planner_may_plan_the_rest_after_a_fault(place: Path) -> None:
    sample = run("tasks.py@good", fault={"kind": "kill", "step": "copy"}, resume="planner")
    assert sample.status.value == "ok"
    assert sample.readings["resume.steps_replanned"] == 2


def test_a_task_without_a_check_has_no_score_and_says_so(place: Path) -> None:
    result = evaluate(suite({"make": "tasks.py@make"}), [AgentUse("planner", "workflow:tasks.py@good")])
    sample = only(result)
    assert sample.scores["score"] is None
    assert "the task has no check" in json.dumps(sample.details["scoring"])


def test_a_model_behind_a_server_is_asked_for_the_form_and_named_by_what_it_answers(place: Path) -> None:
    plan = {"steps": [{"id": "sort", "command": "sort in.txt > out.txt", "needs": [], "outputs": ["out.txt"]}]}

    def answer(asked: Asked) -> Reply:
        assert asked.body["response_format"]["json_schema"]["schema"]["required"] == ["steps"]
        assert "- in.txt (12 bytes)" in asked.text
        return Reply(json.dumps(plan))

    with serving(answer) as server:
        sample = run("openai:some-model", base_url=server.url, api_key_env=None)
    assert sample.status.value == "ok"
    assert sample.details["model"] == "some-model"
    assert sample.readings["total_tokens"] == 2000


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"sandbox": "off"}, "sandbox is 'off'"),
        ({"parallel": 0}, "parallel is 0"),
        ({"fault": "kil"}, "fault is 'kil'"),
        ({"resume": "model"}, "resume is 'model'"),
        ({"quota_mb": -1}, "quota_mb is -1"),
    ],
)
def test_a_setting_that_means_nothing_is_refused_before_anything_runs(
    place: Path, config: dict[str, object], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        make_agent(AgentUse("planner", "workflow:tasks.py@good", config=config))


def test_a_workflow_is_named_and_versioned_by_its_planner(place: Path) -> None:
    assert label_of("workflow:openai:gpt-5-mini") == "gpt-5-mini"
    use = AgentUse("planner", "workflow:tasks.py@good")
    first = version_of(use, git=False).version
    assert version_of(AgentUse("planner", "tasks.py@good"), git=False).version != first
    (place / "tasks.py").write_text(CODE + "\n# changed\n")
    assert version_of(use, git=False).version != first


def test_a_preset_inside_a_workflow_is_seen_with_its_configuration() -> None:
    located = locate(AgentUse("planner", "workflow:smollm2", config={"parallel": 3}))
    assert located.use.uses == "workflow:openai:smollm2-135m-instruct"
    assert located.use.config["base_url"] == "local"
    assert located.use.config["parallel"] == 3


def test_what_a_check_runs_is_run_in_a_cell(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    assert FinalState(tmp_path).run("cat a.txt; test ! -e " + str(tmp_path)).output == "x\n"
