"""What an object is, is found by the names of its classes; what is none of them is told with the nearest forms."""

from __future__ import annotations

import pytest

from agentdyno.agents.frameworks.detect import FRAMEWORKS, framework_of, install_remedy, not_an_agent
from agentdyno.agents.hosting.calling import callee_of
from agentdyno.errors import PluginError


def made(module: str, *names: str, **attributes: object) -> object:
    """An object of the last of some classes, each derived from the one before, which say they are of ``module``."""
    kind: type = object
    for name in names:
        kind = type(name, (kind,), {"__module__": module, **attributes})
    return kind()


@pytest.mark.parametrize(
    ("module", "names", "expected"),
    [
        ("langgraph.pregel.main", ("Pregel", "CompiledStateGraph"), "langgraph"),
        ("langchain_core.runnables.base", ("Runnable", "RunnableSequence"), "langchain"),
        ("pydantic_ai.agent.abstract", ("AbstractAgent", "Agent"), "pydantic-ai"),
        ("smolagents.agents", ("MultiStepAgent", "CodeAgent"), "smolagents"),
        ("autogen_agentchat.agents._base_chat_agent", ("BaseChatAgent",), "autogen"),
        ("autogen_agentchat.teams._group_chat._base_group_chat", ("BaseGroupChat",), "autogen"),
        ("google.adk.agents.base_agent", ("BaseAgent", "LlmAgent"), "google-adk"),
        ("google.adk.runners", ("Runner", "InMemoryRunner"), "google-adk"),
        ("crewai.crew", ("Crew",), "crewai"),
        ("crewai.flow.flow", ("Flow",), "crewai"),
        ("claude_agent_sdk.types", ("ClaudeAgentOptions",), "claude-agent-sdk"),
    ],
)
def test_objects_are_known_by_module_and_class(module: str, names: tuple[str, ...], expected: str) -> None:
    found = framework_of(made(module, *names))
    assert found is not None
    assert found.name == expected


def test_an_own_package_called_agents_is_not_taken_for_openai_s() -> None:
    assert framework_of(made("agents.agent", "Agent")) is None
    found = framework_of(made("agents.agent", "Agent", handoffs=()))
    assert found is not None
    assert found.name == "openai-agents"


def test_a_class_of_that_name_from_elsewhere_is_nobody_s() -> None:
    assert framework_of(made("langgraphics.core", "Pregel")) is None
    assert framework_of(3) is None


def test_a_graph_that_is_not_compiled_is_told_how_to_become_one() -> None:
    error = not_an_agent(made("langgraph.graph.state", "StateGraph"), "builder")
    assert error.message == "builder is StateGraph of langgraph, which cannot answer a case"
    assert error.remedy is not None
    assert error.remedy.startswith("Compile it first")


def test_an_object_of_nobody_is_told_what_can_answer() -> None:
    with pytest.raises(PluginError, match="thing is int, which cannot answer a case") as caught:
        callee_of(3, name="thing")
    assert caught.value.remedy is not None
    for framework in FRAMEWORKS:
        assert framework.forms in caught.value.remedy


def test_a_missing_framework_is_told_with_the_command_that_installs_it() -> None:
    assert "-m pip install openai-agents`" in str(install_remedy("agents"))
    assert "-m pip install google-adk`" in str(install_remedy("google"))
    assert "-m pip install 'pydantic-ai-slim[openai]'`" in str(install_remedy("pydantic_ai"))
    assert install_remedy("numpy") is None


class Answering:
    def __init__(self, suffix: str = "!") -> None:
        self.suffix = suffix

    def run(self, case: object) -> str:
        return f"{case}{self.suffix}"


def make() -> Answering:
    return Answering("?")


def make_with(suffix: str) -> Answering:
    return Answering(suffix)


def of_no_use() -> int:
    return 3


def failing() -> object:
    raise KeyError("nothing")


def test_a_function_without_an_input_makes_the_agent() -> None:
    assert isinstance(callee_of(make).subject, Answering)
    subject = callee_of(make_with, {"suffix": "."}).subject
    assert isinstance(subject, Answering)
    assert subject.suffix == "."


def test_a_function_that_makes_nothing_of_use_says_so() -> None:
    with pytest.raises(PluginError, match=r"of_no_use takes no input, and what of_no_use\(\) returns is int"):
        callee_of(of_no_use)
    with pytest.raises(PluginError, match=r"failing\(\) raised KeyError"):
        callee_of(failing)
