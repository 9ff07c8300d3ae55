"""Load through the agent contract on an endpoint whose every fault is known."""

from __future__ import annotations

import pytest

from agentdyno.agents.endpoints.ollama_chat import OllamaChat
from agentdyno.agents.endpoints.openai_chat import OpenAIChat
from agentdyno.agents.hosting.callable_agent import CallableAgent
from agentdyno.contracts import CaseFailed
from agentdyno.errors import RunError
from agentdyno.findings.figures.histograms import merged, quantile
from agentdyno.load.calls.driver import AgentDriver
from agentdyno.load.calls.rows import failed_outcome
from agentdyno.model.load import Arrivals, LoadOptions, Outcome, Stage, Step, TokenSource, Window
from agentdyno.model.sample import FailureKind
from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.server import simulated_server
from agentdyno.wire.errors import ConnectionRefused

FAULTS = {"http_error": 3, "timeout": 2, "reset": 4, "truncated": 2, "stream_error": 3, "rate_limited": 5}


def loaded(driver: AgentDriver, count: int) -> list[Window]:
    driver.open()
    try:
        return list(driver.run(Step("step", (Stage("steady", 0.5, 2.0 * count),), Arrivals.CONSTANT)))
    finally:
        driver.close()


@pytest.mark.parametrize("dialect", ["openai", "ollama"])
def test_every_injected_fault_is_counted_in_exactly_its_number(dialect: str) -> None:
    # The first request is the one by which the driver tries the agent.
    behaviour = Behaviour(ttft_s=0.03, itl_s=0.001, output_tokens=5, faults=FAULTS, fault_span=100, fault_start=1)
    with simulated_server(behaviour) as server:
        agent = (
            OpenAIChat("chat", model="m", base_url=f"{server.url}/v1", api_key_env=None)
            if dialect == "openai"
            else OllamaChat("chat", model="m", base_url=server.url)
        )
        windows = loaded(AgentDriver(agent, (), LoadOptions(timeout_s=4.0)), 100)
    found: dict[str, int] = {}
    for window in windows:
        for name, number in window.outcomes.items():
            found[name] = found.get(name, 0) + number
    assert found == {**FAULTS, "ok": 100 - sum(FAULTS.values())}
    assert all(window.simulated and window.token_source is TokenSource.USAGE for window in windows)
    assert sum(window.output_tokens or 0 for window in windows) == 5 * found["ok"]
    ttft = merged(window.ttft for window in windows)
    assert ttft.count == found["ok"]
    assert (quantile(ttft, 0.5) or 0.0) > 0.025


def test_a_plain_function_is_called_on_threads_and_keeps_the_schedule() -> None:
    def answer(text: str) -> str:
        return text.upper()

    windows = loaded(AgentDriver(CallableAgent(answer, name="shout"), (), LoadOptions()), 50)
    assert [(window.asked, window.outcomes) for window in windows] == [(50, {"ok": 50})]
    assert windows[0].ttft.count == 0
    assert windows[0].output_tokens is None
    assert not windows[0].simulated


def test_an_endpoint_that_is_down_is_one_clear_message() -> None:
    agent = OpenAIChat("chat", model="m", base_url="http://127.0.0.1:9/v1", api_key_env=None)
    with pytest.raises(RunError, match=r"127\.0\.0\.1:9") as raised:
        AgentDriver(agent, (), LoadOptions()).open()
    assert raised.value.remedy


def test_no_connection_is_counted_alike_over_the_wire_and_through_an_agent() -> None:
    failure = CaseFailed(FailureKind.RESET, "refused")
    failure.__cause__ = ConnectionRefused("refused")
    assert failed_outcome(failure) is Outcome.HTTP_ERROR
    assert failed_outcome(CaseFailed(FailureKind.RESET, "lost")) is Outcome.RESET
