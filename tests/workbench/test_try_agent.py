"""One question to one agent: the way of a suite, without a store."""

from __future__ import annotations

import pytest

from agentdyno.errors import RunError
from agentdyno.model import Case, Status, Workspace
from agentdyno.workbench.try_agent import try_agent

from ..chat_server import Reply, serving
from ..suites import Room


def test_an_answer_is_a_sample_with_its_time_and_without_a_score(room: Room) -> None:
    attempt = try_agent("agent.py@bad", "Hi", Workspace(), environ={})
    assert (attempt.agent, attempt.uses, len(attempt.version)) == ("bad", "agent.py@bad", 12)
    assert (attempt.sample.status, attempt.sample.output, attempt.sample.scores) == (Status.OK, "no", {})
    assert attempt.sample.readings["duration_s"] > 0
    assert room.store.runs.newest() == []


def test_a_function_of_this_process_can_be_tried() -> None:
    def measure(case: Case) -> int:
        return len(str(case.input))

    assert try_agent(measure, "four", Workspace(), environ={}).sample.output == 4


@pytest.mark.parametrize(
    ("agent", "status"),
    [("agent.py@broken", Status.ERROR), ("cmd:sleep 60", Status.TIMEOUT), ("cmd:false", Status.ERROR)],
)
def test_no_answer_is_a_sample_with_its_reason(room: Room, agent: str, status: Status) -> None:
    attempt = try_agent(agent, "Hi", Workspace(), time_limit_s=0.5, environ={"PATH": "/usr/bin:/bin"})
    assert attempt.sample.status is status
    assert attempt.sample.failure is not None


def test_what_no_case_could_change_is_raised(room: Room) -> None:
    with serving(lambda _: Reply("no", 401)) as server:
        workspace = room.workspace(f'agents: {{m: {{use: "openai:small", config: {{base_url: "{server.url}"}}}}}}')
        with pytest.raises(RunError, match="401 Unauthorized"):
            try_agent("m", "Hi", workspace, environ={})


def test_secrets_do_not_come_back(room: Room) -> None:
    with serving(lambda asked: Reply(asked.headers["authorization"])) as server:
        config = f'{{base_url: "{server.url}", api_key_env: MY_SERVICE}}'
        workspace = room.workspace(f'agents: {{m: {{use: "openai:small", config: {config}}}}}')
        attempt = try_agent("m", "Hi", workspace, environ={"MY_SERVICE": "hush-hush-123"})
    assert "hush-hush-123" not in repr(attempt)
    assert "[MY_SERVICE]" in str(attempt.sample.output)
