"""Before a suite runs: who takes part, what it is expected to cost, against which targets it is scored."""

from __future__ import annotations

import pytest

from agentdyno.errors import DynoError, SpecError
from agentdyno.model import Workspace
from agentdyno.runs.kind import Choices, Tools
from agentdyno.runs.suite.prepare import PreparedSuite, preparing, suite_request
from agentdyno.specs import parse_suite

from ...chat_server import Asked, Reply, serving
from ...suites import EMPTY, Room

DEAR = """
agents:
  dear: {use: "openai:small", config: {base_url: "%s", max_tokens: 1000}}
  mystery: {use: "openai:unheard-of", config: {base_url: "%s", paid: true}}
prices: {small: {input: 100, output: 300}}
"""


def shouted(asked: Asked) -> Reply:
    return Reply(asked.text.upper())


def prepared(room: Room, *agents: str, workspace: Workspace = EMPTY, **changes: object) -> PreparedSuite:
    with preparing(suite_request(room.suite(**changes)), room.tools(workspace, Choices(agents))) as found:
        return found


def test_calls_and_dollars_are_known_beforehand(room: Room) -> None:
    workspace = room.workspace(DEAR % ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"))
    free = prepared(room, "agent.py@good", epochs=2, warmup=3)
    assert (free.calls, free.expected_usd) == (4 * 2 + 3, 0.0)
    dear = prepared(room, "dear", "agent.py@good", workspace=workspace, epochs=2, warmup=0)
    assert dear.expected_usd == pytest.approx(8 * 0.3, rel=0.01)
    unknown = prepared(room, "dear", "mystery", workspace=workspace)
    assert unknown.expected_usd is None
    assert [name.partition("@")[0] for name in unknown.expected.unpriced] == ["mystery"]


def test_agents_that_cost_money_have_no_warm_ups_unless_the_suite_says_so(room: Room) -> None:
    workspace = room.workspace(DEAR % ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"))
    document = {"name": "room", "dataset": {"cases": [{"id": "a", "input": "a", "target": "A"}]}}
    silent = parse_suite(document, base_dir=room.folder)
    tools = Tools(workspace=workspace, choices=Choices(("dear", "agent.py@good")))
    with preparing(suite_request(silent), tools) as found:
        warmups = {found.entrants[arm_id].use.name: job.warmup for arm_id, job in found.jobs.items()}
    assert warmups == {"dear": 0, "good": 3}


def test_agents_come_from_the_command_line_else_the_suite_else_the_workspace(room: Room) -> None:
    workspace = room.workspace("agents: {one: agent.py@good, two: agent.py@bad}\nrun: {agents: [two]}")
    of_suite = [{"name": "three", "use": "agent.py@good", "config": {}}]

    def names(*given: str, **changes: object) -> list[str]:
        return [use.name for use in prepared(room, *given, workspace=workspace, **changes).suite.agents]

    assert names("agent.py@bad", agents=of_suite) == ["bad"]
    assert names("three", "one", agents=of_suite) == ["three", "one"]
    assert names(agents=of_suite) == ["three"]
    assert names() == ["two"]
    with pytest.raises(SpecError, match="no agent to run it with"):
        prepared(room)


def test_a_judge_is_paid_apart_and_counts_for_the_limit(room: Room) -> None:
    def judge(asked: Asked) -> Reply:
        return Reply('{"correctness": 1.0, "explanation": "as good as it gets"}')

    rubric = {"name": "model_graded", "agent": "dear"}
    with serving(judge) as server:
        workspace = room.workspace(DEAR % (server.url, server.url))
        result = room.run(room.suite(scorer=rubric), "agent.py@good", workspace=workspace, max_cost_usd=1.0)
    sample = result.arms[0].samples[0]
    assert sample.details["judge_cost_usd"] == pytest.approx(0.4)
    assert "cost_usd" not in sample.readings, "what the judge costs is not the agent's"
    assert "as good as it gets" in str(sample.details["scoring"])
    assert len(server.asked) == 2, "the third would pass the limit"
    assert "limit of $1" in (result.stopped_because or "")


def test_time_on_this_machine_has_a_price_where_the_workspace_gives_one(room: Room) -> None:
    workspace = room.workspace("compute_price_per_cpu_hour: 3600")
    result = room.run(room.suite(), "agent.py@good", workspace=workspace)
    for sample in result.arms[0].samples:
        assert sample.details["cost"] == {"usd": pytest.approx(sample.readings["cpu_s"]), "source": "derived"}


def test_targets_come_from_the_rubric_else_from_the_first_run_of_the_baseline(room: Room) -> None:
    rubric = {"targets": {"duration_s": 0.5}, "limits": {"duration_s": 20}}
    assert prepared(room, "agent.py@good", scoring_rubric=rubric).targets == {"room": {"duration_s": (0.5, 20.0)}}
    baseline = [{"agent_id": "good", "scores": {"accuracy": 0.9}}]
    assert prepared(room, "agent.py@good", baseline_scores=baseline).targets == {"room": {}}
    first = room.run(room.suite(), "agent.py@good")
    targets = prepared(room, "agent.py@bad", baseline_scores=baseline).targets["room"]
    median = first.arms[0].metrics["duration_s"].median
    assert median is not None
    assert targets["duration_s"] == pytest.approx((median / 2, median * 5))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scorer": "numeric"}, "cannot judge it"),
        ({"scorer": {"name": "model_graded", "agent": "nobody"}}, "unknown agent 'nobody'"),
        ({"imports": ["absent.py"]}, "absent.py"),
    ],
)
def test_mistakes_are_found_before_an_agent_is_started(room: Room, changes: dict[str, object], words: str) -> None:
    with pytest.raises(DynoError, match=words):
        room.run(room.suite(**changes), "agent.py@good")
    assert not (room.folder / "calls.log").exists()


def test_a_limit_of_dollars_needs_the_price_of_every_agent(room: Room) -> None:
    workspace = room.workspace(DEAR % ("http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1"))
    with pytest.raises(SpecError, match=r"--max-cost: the price of mystery@\w+ is unknown"):
        room.run(room.suite(), "mystery", workspace=workspace, max_cost_usd=1.0)
    with pytest.raises(SpecError, match=r"constraints.cost_limit_usd: the price of mystery@\w+ is unknown"):
        prepared(room, "mystery", workspace=workspace, constraints={"cost_limit_usd": 1})


def test_a_limit_of_memory_belongs_to_the_benchmark_that_names_it(room: Room) -> None:
    (room.folder / "big.py").write_text("def answer(case):\n    bytearray(300 << 20)\n    return case.target\n")
    row = {"cases": [{"id": "a", "input": "a", "target": "A"}]}
    benchmarks = [
        {"name": "tight", "dataset": row, "constraints": {"memory_limit_mb": 200}},
        {"name": "wide", "dataset": row},
    ]
    loaded = parse_suite({"benchmarks": benchmarks, "epochs": 1, "warmup": 0}, base_dir=room.folder)
    result = room.run(loaded, "big.py@answer")
    assert {arm.benchmark: dict(arm.statuses) for arm in result.arms} == {"tight": {"limit": 1}, "wide": {"ok": 1}}
