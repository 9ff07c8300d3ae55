"""Agents of frameworks answer as they do when their framework is called directly, and tell what they did."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from agentdyno.agents.hosting.agent import HostedAgent
from agentdyno.contracts import CaseFailed
from agentdyno.model.case import Case, Response
from agentdyno.model.sample import FailureKind
from agentdyno.model.suite import AgentUse
from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.server import RunningServer, simulated_server

from ...chat_server import Asked, Reply, serving
from .given import CHOSEN, CORE, DRIVER, GivenAgent, interpreter

TASKS = [f"please add {a} and {b}" for a, b in zip(range(1, 31), range(60, 30, -1), strict=True)]


@pytest.fixture(scope="module")
def model() -> Iterator[RunningServer]:
    with simulated_server(Behaviour()) as server:
        yield server


def environ(url: str) -> dict[str, str]:
    return {**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}


def answers(
    given: GivenAgent, folder: Path, url: str, cases: list[Case], config: Mapping[str, object] | None = None
) -> list[Response]:
    """What the agent answers, each case after the other, in an environment that has its framework."""
    (folder / "given_agent.py").write_text(given.source)
    use = AgentUse("given", "given_agent.py@agent", config=config or {}, base_dir=str(folder))
    agent = HostedAgent(use, environ=environ(url), python=interpreter(given.environment))

    async def asked() -> list[Response]:
        await agent.start()
        try:
            return [await agent.run(case) for case in cases]
        finally:
            await agent.close()

    return asyncio.run(asked())


def told_directly(given: GivenAgent, folder: Path, url: str) -> list[dict[str, object]]:
    (folder / "given_agent.py").write_text(given.source)
    (folder / "driver.py").write_text(DRIVER)
    done = subprocess.run(
        [interpreter(given.environment), "driver.py"],
        cwd=folder,
        env=environ(url),
        input=json.dumps(TASKS),
        capture_output=True,
        text=True,
        check=True,
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("told "))  # some frameworks print, too
    found: list[dict[str, object]] = json.loads(line.removeprefix("told "))
    return found


@pytest.mark.parametrize("given", CHOSEN, ids=lambda given: given.framework)
def test_an_adapter_answers_as_direct_calls_of_the_framework_do(
    given: GivenAgent, tmp_path: Path, model: RunningServer
) -> None:
    cases = [Case(str(number), text) for number, text in enumerate(TASKS)]
    found = answers(given, tmp_path, model.openai_url, cases)
    for response, direct in zip(found, told_directly(given, tmp_path, model.openai_url), strict=True):
        calls = [event for event in response.events if event.kind == "tool_call"]
        assert response.output == direct["output"]
        assert [[call.name, call.content] for call in calls] == direct["tools"]
        assert response.usage is not None
        assert [response.usage.input_tokens, response.usage.output_tokens] == direct["tokens"]
        assert response.api_calls == 2
        assert response.simulated
        assert str(response.observed["framework"]).startswith(f"{given.framework} ")


@pytest.mark.parametrize("given", CORE, ids=lambda given: given.framework)
def test_every_model_call_and_tool_call_has_its_time_and_its_tokens(
    given: GivenAgent, tmp_path: Path, model: RunningServer
) -> None:
    (response,) = answers(given, tmp_path, model.openai_url, [Case("sum", "add 3 and 4")])
    assert response.output == "7"
    first, call, result, second = response.events
    assert [event.kind for event in response.events] == ["model_call", "tool_call", "tool_result", "model_call"]
    assert call.name == "add"
    assert call.content == {"a": 3, "b": 4}
    assert str(result.content) == "7"
    times = [event.at_s for event in response.events]
    assert times == sorted(times)
    for event in (first, result, second):
        assert event.duration_s is not None
        assert event.duration_s >= 0
        assert event.at_s + event.duration_s <= response.readings["duration_s"]
    assert isinstance(first.details["usage"], dict)
    assert first.details["usage"]["output_tokens"] == 4


@pytest.mark.parametrize(
    "given",
    # this model makes no tool calls, without which an agent of smolagents has no answer
    [given for given in CHOSEN if given.framework != "smolagents"],
    ids=lambda given: given.framework,
)
def test_a_conversation_reaches_the_model_whole_and_with_the_instructions(given: GivenAgent, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply("You are Ada" if "Who am I" in asked.text else "Noted, I am Ada")

    with serving(answer) as server:
        case = Case("talk", "I am Ada", turns=("I am Ada", "Who am I"))
        (response,) = answers(given, tmp_path, server.url, [case])
    last = json.dumps(server.asked[-1].body["messages"])
    assert response.output == "You are Ada"
    assert last.count("I am Ada") == 2  # the user's message, and the answer to it
    assert "You calculate." in last
    assert [event.content for event in response.events if event.kind == "message"] == [
        *("I am Ada", "Noted, I am Ada", "Who am I", "You are Ada")
    ]


@pytest.mark.parametrize("given", CORE, ids=lambda given: given.framework)
def test_a_case_of_chat_messages_is_a_conversation_so_far(given: GivenAgent, tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "I am Ada"},
        {"role": "assistant", "content": "Hello Ada"},
        {"role": "user", "content": "Who am I"},
    ]
    with serving(lambda _: Reply("Ada")) as server:
        (response,) = answers(given, tmp_path, server.url, [Case("talk", said)])
    assert response.output == "Ada"
    sent = server.asked[0].body["messages"]
    assert [(item["role"], item["content"]) for item in sent if item["role"] != "system"] == [
        ("user", "I am Ada"),
        ("assistant", "Hello Ada"),
        ("user", "Who am I"),
    ]
    assert [item["content"] for item in sent if item["role"] == "system"] == ["You calculate."]


@pytest.mark.parametrize("given", CORE, ids=lambda given: given.framework)
def test_streaming_tells_when_the_framework_handed_on_its_first_text(
    given: GivenAgent, tmp_path: Path, model: RunningServer
) -> None:
    (response,) = answers(given, tmp_path, model.openai_url, [Case("sum", "add 3 and 4")], {"stream": True})
    assert response.output == "7"
    second = [event for event in response.events if event.kind == "model_call"][1]
    assert second.at_s <= response.readings["first_delta_s"] <= response.readings["duration_s"]


@pytest.mark.parametrize("given", CHOSEN, ids=lambda given: given.framework)
def test_what_the_model_s_server_refuses_fails_the_case_and_not_the_agent(given: GivenAgent, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply("no such thing", 400) if "bad" in asked.text else Reply("fine")

    (tmp_path / "given_agent.py").write_text(given.source)
    with serving(answer) as server:
        use = AgentUse("given", "given_agent.py@agent", base_dir=str(tmp_path))
        agent = HostedAgent(use, environ=environ(server.url), python=interpreter(given.environment))

        async def asked() -> Response:
            await agent.start()
            try:
                with pytest.raises(CaseFailed, match="no such thing") as refused:
                    await agent.run(Case("1", "a bad one"))
                assert (refused.value.kind, refused.value.retryable) == (FailureKind.HTTP_ERROR, False)
                return await agent.run(Case("2", "another"))
            finally:
                await agent.close()

        assert asyncio.run(asked()).output == "fine"
