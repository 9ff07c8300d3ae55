"""Agents as people have them: state of one's own, dependencies, handoffs, factories. They work, or say what to do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from agentdyno.contracts import CaseFailed
from agentdyno.model.case import Case, Response

from ...chat_server import Asked, Reply, serving
from .given import GivenAgent
from .test_adapters import answers

STATE = """
from typing import TypedDict

from langgraph.graph import START, StateGraph


class State(TypedDict, total=False):
    question: str
    documents: list
    verdict: str


def look(state):
    return {"documents": [state["question"]]}


def decide(state):
    return {"verdict": state["question"].upper()}


builder = StateGraph(State)
builder.add_node("look", look)
builder.add_node("decide", decide)
builder.add_edge(START, "look")
builder.add_edge("look", "decide")
agent = builder.compile()
"""
ENTRYPOINT = """
from langgraph.func import entrypoint


@entrypoint()
def agent(question: str) -> str:
    return question.upper()
"""
CONTEXT = """
from dataclasses import dataclass
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime


@dataclass
class Context:
    name: str


class State(TypedDict):
    text: str


def greet(state: State, runtime: Runtime[Context]):
    return {"text": f"{state['text']} {runtime.context.name}"}


builder = StateGraph(State, context_schema=Context)
builder.add_node("greet", greet)
builder.add_edge(START, "greet")
agent = builder.compile()
"""
DEPS = """
from dataclasses import dataclass

from pydantic import BaseModel
from pydantic_ai import Agent, RunContext


class Sum(BaseModel):
    total: int
    word: str


@dataclass
class Deps:
    name: str


agent = Agent("openai-chat:small", output_type=Sum, deps_type=Deps)


@agent.system_prompt
def who(ctx: RunContext[Deps]) -> str:
    return f"You are {ctx.deps.name}."


async def made():
    return Deps("Bo")
"""
HANDOFF = """
from agents import Agent, RunContextWrapper, function_tool, set_default_openai_api

set_default_openai_api("chat_completions")


@function_tool
def whoami(wrapper: RunContextWrapper) -> str:
    return wrapper.context["name"]


spanish = Agent(name="Spanish", instructions="Hola.", model="small", tools=[whoami])
agent = Agent(name="Triage", instructions="Hand over.", model="small", handoffs=[spanish])


def context():
    return {"name": "Zoe"}


def maker(temperature):
    return Agent(name="Warm", instructions=str(temperature), model="small")
"""


def asked_one(
    source: str, framework: str, folder: Path, prompt: object, config: Mapping[str, object], url: str = "http://none"
) -> Response:
    (response,) = answers(GivenAgent(framework, "core", source), folder, url, [Case("1", prompt)], config)
    return response


def test_a_graph_with_a_state_of_its_own_takes_its_keys(tmp_path: Path) -> None:
    found = asked_one(STATE, "langgraph", tmp_path, {"question": "why"}, {})
    assert found.output == {"question": "why", "documents": ["why"], "verdict": "WHY"}
    chosen = {"input_key": "question", "output_key": "verdict"}
    assert asked_one(STATE, "langgraph", tmp_path, "why", chosen).output == "WHY"


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({}, "the graph takes question, documents, verdict; give a case input with these keys, or config input_key"),
        ({"input_key": "question", "output_key": "answer"}, "the graph's state has no 'answer'; it has question"),
    ],
)
def test_a_graph_asked_with_what_does_not_fit_says_so_without_a_traceback(
    tmp_path: Path, config: Mapping[str, object], told: str
) -> None:
    with pytest.raises(CaseFailed, match=told) as failed:
        asked_one(STATE, "langgraph", tmp_path, "why", config)
    assert failed.value.traceback is None


def test_a_function_under_entrypoint_gets_the_input_as_it_is(tmp_path: Path) -> None:
    assert asked_one(ENTRYPOINT, "langgraph", tmp_path, "why", {}).output == "WHY"


def test_a_graph_gets_its_context(tmp_path: Path) -> None:
    config = {"context": {"name": "Ann"}, "output_key": "text"}
    assert asked_one(CONTEXT, "langgraph", tmp_path, "hi", config).output == "hi Ann"


@pytest.mark.parametrize("deps", [{"name": "Bo"}, "given_agent.py@made"])
def test_an_agent_gets_its_dependencies_and_answers_in_its_own_form(tmp_path: Path, deps: object) -> None:
    def answer(asked: Asked) -> Reply:
        (tool,) = asked.body["tools"]
        return Reply(calls=[(tool["function"]["name"], {"total": 7, "word": "seven"})])

    with serving(answer) as server:
        found = asked_one(DEPS, "pydantic-ai", tmp_path, "3 + 4", {"deps": deps}, server.url)
        assert server.asked[0].body["messages"][0]["content"] == "You are Bo."
    assert found.output == {"total": 7, "word": "seven"}


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({}, "the agent wants dependencies of its deps_type, Deps, and has none"),
        ({"deps": {"nme": "Bo"}}, "deps of its config cannot be made: TypeError: .* 'nme'"),
        ({"deps": "given_agent.py@mad"}, "deps of its config cannot be made: .* called 'mad'"),
    ],
)
def test_dependencies_that_are_not_there_end_the_run_with_one_sentence(
    tmp_path: Path, config: Mapping[str, object], told: str
) -> None:
    with pytest.raises(CaseFailed, match=told) as failed:
        asked_one(DEPS, "pydantic-ai", tmp_path, "3 + 4", config)
    assert failed.value.fatal
    assert failed.value.traceback is None


def test_a_handoff_is_followed_and_noted_and_the_context_reaches_the_tools(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Reply:
        names = [tool["function"]["name"] for tool in asked.body.get("tools", ())]
        last = asked.body["messages"][-1]
        if names == ["whoami"] and "Zoe" in str(last["content"]):
            return Reply("Hola Zoe")
        return Reply(calls=[(names[0], {})])

    with serving(answer) as server:
        config = {"context": "given_agent.py@context"}
        found = asked_one(HANDOFF, "openai-agents", tmp_path, "hi", config, server.url)
    assert found.output == "Hola Zoe"
    assert [event.content for event in found.events if event.name == "handoff"] == ["Triage to Spanish"]


def test_a_function_that_makes_an_agent_where_an_answer_was_asked_for_says_what_it_needs(tmp_path: Path) -> None:
    source = HANDOFF.replace("agent = Agent(", "other = Agent(").replace("def maker(", "def agent(")
    with pytest.raises(CaseFailed, match="it made an Agent of openai-agents instead of an answer") as failed:
        asked_one(source, "openai-agents", tmp_path, "hi", {})
    assert failed.value.fatal
    assert failed.value.remedy.startswith("Give `temperature:` in the agent's config")
    with serving(lambda _: Reply("fine")) as server:
        assert asked_one(source, "openai-agents", tmp_path, "hi", {"temperature": 0.5}, server.url).output == "fine"
