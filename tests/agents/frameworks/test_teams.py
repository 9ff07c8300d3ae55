"""Teams of autogen, runners of google-adk, crews and flows of crewai, as their frameworks have them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.contracts import CaseFailed
from agentdyno.model.case import Case
from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.server import RunningServer, simulated_server

from .given import GivenAgent
from .test_adapters import answers

TEAM = '''
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core.models import ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient

info = ModelInfo(vision=False, function_calling=True, json_output=True, family="unknown", structured_output=True)
model = OpenAIChatCompletionClient(model="small", model_info=info)


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


first = AssistantAgent("adder", model, tools=[add], reflect_on_tool_use=True)
second = AssistantAgent("checker", model)
agent = RoundRobinGroupChat([first, second], termination_condition=MaxMessageTermination(3))
'''
RUNNER = '''
from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
import os

os.environ.setdefault("OPENAI_API_BASE", os.environ["OPENAI_BASE_URL"])


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


adder = LlmAgent(name="adder", model=LiteLlm("openai/small"), instruction="You calculate.", tools=[add])
agent = InMemoryRunner(adder, app_name="mine")
'''
CREW = """
from crewai import LLM, Agent, Crew, Task

writer = Agent(role="writer", goal="write", backstory="You write.", llm=LLM("openai/gpt-4o-mini"), verbose=False)
task = Task(description="Repeat: {question}", expected_output="the words", agent=writer)
agent = Crew(agents=[writer], tasks=[task], verbose=False)
"""
FLOW = """
from crewai import LLM
from crewai.flow.flow import Flow, listen, start


class Repeats(Flow):
    @start()
    def ask(self):
        return LLM("openai/gpt-4o-mini").call(self.state["input"])

    @listen(ask)
    def shout(self, text):
        return {"answer": text.upper()}


agent = Repeats()
"""


@pytest.fixture(scope="module")
def model() -> Iterator[RunningServer]:
    with simulated_server(Behaviour(echo=True)) as server:
        yield server


def test_a_team_of_autogen_answers_case_after_case_and_tells_whose_calls_it_made(
    tmp_path: Path, model: RunningServer
) -> None:
    cases = [Case(str(number), f"please add {number} and 4") for number in (3, 5)]
    found = answers(GivenAgent("autogen", "more", TEAM), tmp_path, model.openai_url, cases)
    for case, response in zip(cases, found, strict=True):
        assert response.output == str(int(case.id) + 4)
        kinds = [event.kind for event in response.events]
        assert (kinds.count("tool_call"), kinds.count("model_call")) == (1, 3)
        assert response.usage is not None
        assert response.api_calls == 3


def test_a_runner_of_google_adk_keeps_its_app_and_has_a_session_for_each_case(
    tmp_path: Path, model: RunningServer
) -> None:
    talk = Case("talk", "I am Ada", turns=("I am Ada", "who am I"))
    given = GivenAgent("google-adk", "more", RUNNER)
    first, second = answers(given, tmp_path, model.openai_url, [Case("sum", "please add 3 and 4"), talk])
    assert "7" in str(first.output)
    assert [event.content for event in first.events if event.kind == "tool_call"] == [{"a": 3, "b": 4}]
    assert second.output == "who am I"


def test_a_crew_gets_a_text_as_its_only_variable_and_an_object_by_name(tmp_path: Path, model: RunningServer) -> None:
    cases = [Case("text", "these words"), Case("named", {"question": "other words"})]
    first, second = answers(GivenAgent("crewai", "crewai", CREW), tmp_path, model.openai_url, cases)
    assert "Repeat: these words" in str(first.output)
    assert "Repeat: other words" in str(second.output)
    assert first.usage is not None
    assert first.usage.input_tokens > 0


def test_a_flow_gets_its_input_and_answers_with_its_own_value(tmp_path: Path, model: RunningServer) -> None:
    cases = [Case("a", "some words"), Case("b", {"input": "more words"})]
    first, second = answers(GivenAgent("crewai", "crewai", FLOW), tmp_path, model.openai_url, cases)
    assert (first.output, second.output) == ({"answer": "SOME WORDS"}, {"answer": "MORE WORDS"})


def test_a_crew_of_several_variables_wants_them_by_name(tmp_path: Path, model: RunningServer) -> None:
    source = CREW.replace("Repeat: {question}", "Repeat: {question} {tone}")
    with pytest.raises(CaseFailed, match="the crew takes question, tone; give a case input with these keys"):
        answers(GivenAgent("crewai", "crewai", source), tmp_path, model.openai_url, [Case("text", "words")])
