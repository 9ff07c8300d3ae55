"""What each agent of a scenario asks with, and where a model is."""

from __future__ import annotations

import pytest

from agentdyno import SpecError
from agentdyno.servers.simulated.server import Behaviour, simulated_server
from agentdyno_workloads.llm.multi_agent import MultiAgent, configurations, cpus_for
from agentdyno_workloads.llm.serving import ServerChoice, Serving, ask_once, choose

TUNED = {"num_gpu": 80, "temperature": 0.8}


def test_baseline_against_tuned_takes_turns() -> None:
    assert configurations("baseline_vs_tuned", 3, TUNED) == [{}, TUNED, {}]


def test_heterogeneous_agents_differ_from_each_other() -> None:
    first, second = configurations("heterogeneous", 2, TUNED)
    assert first == TUNED
    assert second == {"num_gpu": 80, "temperature": 0.6, "top_p": 0.9}


def test_homogeneous_agents_are_alike() -> None:
    assert configurations("homogeneous", 2, TUNED) == [TUNED, TUNED]


def test_servers_are_pinned_to_one_core_or_one_each() -> None:
    assert [cpus_for("one_core", n) for n in range(3)] == [(0,), (0,), (0,)]
    assert [cpus_for("two_cores", n) for n in range(3)] == [(0,), (1,), (0,)]
    assert cpus_for("none", 0) == ()


@pytest.mark.parametrize(
    ("agent", "url", "expected"),
    [
        ("local", "", ServerChoice("local", "", "")),
        ("ollama:gemma3", "", ServerChoice("ollama", "http://localhost:11434", "gemma3")),
        ("ollama:gemma3:4b", "http://box:1", ServerChoice("ollama", "http://box:1", "gemma3:4b")),
        ("openai:m", "http://box/v1", ServerChoice("openai", "http://box/v1", "m")),
        ("http://box/v1", "", ServerChoice("openai", "http://box/v1", "")),
    ],
)
def test_a_model_is_found_by_what_it_is_called(agent: str, url: str, expected: ServerChoice) -> None:
    assert choose(agent, url) == expected


@pytest.mark.parametrize("agent", ["", "gemma3", "ollama:", "openai:m"])
def test_what_names_no_model_is_refused(agent: str) -> None:
    with pytest.raises(SpecError):
        choose(agent)


def test_an_option_that_the_server_would_ignore_is_refused() -> None:
    serving = Serving(ServerChoice("openai", "http://127.0.0.1:1/v1", "m"), {"num_gpu": 80})
    with pytest.raises(SpecError, match="takes no num_gpu"):
        serving.open()


def test_a_server_without_a_named_model_is_asked_for_one() -> None:
    with simulated_server(Behaviour(output_tokens=2)) as server:
        serving = Serving(choose(server.openai_url))
        serving.open()
        assert serving.model_name.startswith("simulated")
        assert ask_once(serving, "Hi")[0].text


def test_gpu_layers_of_the_bundled_model_are_refused() -> None:
    with pytest.raises(SpecError, match="without a GPU"):
        Serving(choose("local"), {"num_gpu": 4}).open()


def test_no_agents_and_no_endpoints_are_refused() -> None:
    with pytest.raises(SpecError, match="cannot work"):
        MultiAgent(agents=0)
    with pytest.raises(SpecError, match="no endpoint"):
        MultiAgent(endpoints=" , ")
