"""One task for every framework: add two numbers with a tool, in two requests to a chat model.

Runs in the environment of the framework, where neither agentdyno nor its dependencies need to be: the standard
library, and the framework imported when its subject is made. ``OPENAI_BASE_URL`` says where the model is.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

INSTRUCTIONS = "You calculate."
MODEL = "small"
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
Call = Callable[[str], Awaitable[str]] | Callable[[str], str]


def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


@dataclass(frozen=True, slots=True)
class Subject:
    """``agent`` is the framework's object, ``None`` for a bare loop; ``call`` answers one task with it."""

    agent: Any
    call: Call


def bare() -> Subject:
    """A loop on httpx: as little as the task needs."""
    client: Any = import_module("httpx").AsyncClient(base_url=os.environ["OPENAI_BASE_URL"] + "/")
    tool = {"type": "function", "function": {"name": "add", "description": "Adds two numbers.", "parameters": SCHEMA}}

    async def call(text: str) -> str:
        messages: list[Any] = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": text}]
        while True:
            body = {"model": MODEL, "messages": messages, "tools": [tool]}
            message = (await client.post("chat/completions", json=body)).json()["choices"][0]["message"]
            if not message.get("tool_calls"):
                return str(message["content"])
            messages.append(message)
            for asked in message["tool_calls"]:
                result = str(add(**json.loads(asked["function"]["arguments"])))
                messages.append({"role": "tool", "tool_call_id": asked["id"], "content": result})

    return Subject(None, call)


def openai_sdk() -> Subject:
    """The same loop on the openai package."""
    client: Any = import_module("openai").AsyncOpenAI()
    tool = {"type": "function", "function": {"name": "add", "description": "Adds two numbers.", "parameters": SCHEMA}}

    async def call(text: str) -> str:
        messages: list[Any] = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": text}]
        while True:
            done = await client.chat.completions.create(model=MODEL, messages=messages, tools=[tool])
            message = done.choices[0].message
            if not message.tool_calls:
                return str(message.content)
            messages.append(message)
            for asked in message.tool_calls:
                result = str(add(**json.loads(asked.function.arguments)))
                messages.append({"role": "tool", "tool_call_id": asked.id, "content": result})

    return Subject(None, call)


def langgraph() -> Subject:
    model = import_module("langchain_openai").ChatOpenAI(model=MODEL)
    agent = import_module("langchain.agents").create_agent(model, [add], system_prompt=INSTRUCTIONS)

    async def call(text: str) -> str:
        state = await agent.ainvoke({"messages": [{"role": "user", "content": text}]})
        return str(state["messages"][-1].text)

    return Subject(agent, call)


def openai_agents() -> Subject:
    package: Any = import_module("agents")
    package.set_default_openai_api("chat_completions")
    tools = [package.function_tool(add)]
    agent = package.Agent(name="adder", instructions=INSTRUCTIONS, model=MODEL, tools=tools)

    async def call(text: str) -> str:
        return str((await package.Runner.run(agent, text)).final_output)

    return Subject(agent, call)


def pydantic_ai() -> Subject:
    agent = import_module("pydantic_ai").Agent(f"openai-chat:{MODEL}", system_prompt=INSTRUCTIONS, tools=[add])

    async def call(text: str) -> str:
        return str((await agent.run(text)).output)

    return Subject(agent, call)


def smolagents() -> Subject:
    package: Any = import_module("smolagents")
    tools = [package.tool(add)]
    agent = package.ToolCallingAgent(tools=tools, model=package.OpenAIModel(MODEL), verbosity_level=0)

    def call(text: str) -> str:
        return str(agent.run(text))

    return Subject(agent, call)


def autogen() -> Subject:
    info = import_module("autogen_core.models").ModelInfo(
        vision=False, function_calling=True, json_output=True, family="unknown", structured_output=True
    )
    model = import_module("autogen_ext.models.openai").OpenAIChatCompletionClient(model=MODEL, model_info=info)
    agent = import_module("autogen_agentchat.agents").AssistantAgent(
        "adder", model, tools=[add], system_message=INSTRUCTIONS, reflect_on_tool_use=True
    )
    messages: Any = import_module("autogen_agentchat.messages")
    core: Any = import_module("autogen_core")

    async def call(text: str) -> str:
        await agent.on_reset(core.CancellationToken())
        done = await agent.run(task=[messages.TextMessage(content=text, source="user")])
        return str(done.messages[-1].content)

    return Subject(agent, call)


def google_adk() -> Subject:
    os.environ.setdefault("OPENAI_API_BASE", os.environ["OPENAI_BASE_URL"])
    model = import_module("google.adk.models.lite_llm").LiteLlm(f"openai/{MODEL}")
    agent = import_module("google.adk.agents").LlmAgent(
        name="adder", model=model, instruction=INSTRUCTIONS, tools=[add]
    )
    runner = import_module("google.adk.runners").InMemoryRunner(agent, app_name="overhead")
    types: Any = import_module("google.genai.types")

    async def call(text: str) -> str:
        session = await runner.session_service.create_session(app_name="overhead", user_id="someone")
        message = types.Content(role="user", parts=[types.Part(text=text)])
        answer = ""
        async for event in runner.run_async(user_id="someone", session_id=session.id, new_message=message):
            if event.is_final_response() and event.content:
                answer = "".join(part.text or "" for part in event.content.parts)
        return str(json.loads(answer)["result"]) if answer.startswith("{") else answer

    return Subject(agent, call)


def crewai() -> Subject:
    tool = import_module("crewai.tools").tool(add)
    package: Any = import_module("crewai")
    llm = package.LLM("openai/gpt-4o-mini")  # it knows its models by name
    agent = package.Agent(
        role="adder", goal="calculate", backstory=INSTRUCTIONS, llm=llm, tools=[tool], verbose=False
    )

    def call(text: str) -> str:
        return str(agent.kickoff(text).raw)

    return Subject(agent, call)


@dataclass(frozen=True, slots=True)
class Listed:
    """``environment`` is a folder of scripts/frameworks.sh, ``package`` what pip calls it."""

    make: Callable[[], Subject]
    environment: str
    package: str


SUBJECTS = {
    "bare": Listed(bare, "core", "httpx"),
    "openai-sdk": Listed(openai_sdk, "core", "openai"),
    "langgraph": Listed(langgraph, "core", "langgraph"),
    "openai-agents": Listed(openai_agents, "core", "openai-agents"),
    "pydantic-ai": Listed(pydantic_ai, "core", "pydantic-ai-slim"),
    "autogen": Listed(autogen, "more", "autogen-agentchat"),
    "smolagents": Listed(smolagents, "more", "smolagents"),
    "google-adk": Listed(google_adk, "more", "google-adk"),
    "crewai": Listed(crewai, "crewai", "crewai"),
}


async def answer(subject: Subject, text: str) -> str:
    """One task, whether the framework is async or not."""
    told = subject.call(text)
    return await told if inspect.isawaitable(told) else str(told)
