"""Agents of frameworks for a task of two steps, each with a direct call of its framework that tells the same.

They are texts, because their frameworks are not in this environment.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]

_LANGGRAPH = '''
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


agent = create_agent(ChatOpenAI(model="small"), [add], system_prompt="You calculate.")


async def direct(text):
    state = await agent.ainvoke({"messages": [{"role": "user", "content": text}]})
    told = [message for message in state["messages"] if message.type == "ai"]
    used = [message.usage_metadata for message in told]
    return {
        "output": state["messages"][-1].text,
        "tools": [[call["name"], call["args"]] for message in told for call in message.tool_calls],
        "tokens": [sum(item["input_tokens"] for item in used), sum(item["output_tokens"] for item in used)],
    }
'''
_OPENAI_AGENTS = '''
import json

from agents import Agent, Runner, function_tool, set_default_openai_api

set_default_openai_api("chat_completions")


@function_tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


agent = Agent(name="adder", instructions="You calculate.", model="small", tools=[add])


async def direct(text):
    done = await Runner.run(agent, text)
    calls = [item.raw_item for item in done.new_items if item.type == "tool_call_item"]
    used = done.context_wrapper.usage
    return {
        "output": done.final_output,
        "tools": [[call.name, json.loads(call.arguments)] for call in calls],
        "tokens": [used.input_tokens, used.output_tokens],
    }
'''
_PYDANTIC_AI = '''
import json

from pydantic_ai import Agent

agent = Agent("openai-chat:small", system_prompt="You calculate.")


@agent.tool_plain
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


async def direct(text):
    done = await agent.run(text)
    parts = [part for message in done.new_messages() for part in message.parts]
    calls = [part for part in parts if part.part_kind == "tool-call"]
    return {
        "output": done.output,
        "tools": [[call.tool_name, json.loads(call.args)] for call in calls],
        "tokens": [done.usage.input_tokens, done.usage.output_tokens],
    }
'''
_SMOLAGENTS = '''
from smolagents import OpenAIModel, ToolCallingAgent, tool


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


agent = ToolCallingAgent(tools=[add], model=OpenAIModel("small"), verbosity_level=0)


async def direct(text):
    done = agent.run(text, return_full_result=True)
    calls = [call["function"] for step in done.steps for call in step.get("tool_calls") or ()]
    return {
        "output": done.output,
        "tools": [[call["name"], call["arguments"]] for call in calls],
        "tokens": [done.token_usage.input_tokens, done.token_usage.output_tokens],
    }
'''
_AUTOGEN = '''
import json

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import TextMessage
from autogen_core import CancellationToken
from autogen_core.models import ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


info = ModelInfo(vision=False, function_calling=True, json_output=True, family="unknown", structured_output=True)
model = OpenAIChatCompletionClient(model="small", model_info=info)
agent = AssistantAgent("adder", model, tools=[add], system_message="You calculate.", reflect_on_tool_use=True)


async def direct(text):
    await agent.on_reset(CancellationToken())
    done = await agent.run(task=[TextMessage(content=text, source="user")])
    asked = [call for message in done.messages if message.type == "ToolCallRequestEvent" for call in message.content]
    used = [message.models_usage for message in done.messages if message.models_usage]
    return {
        "output": done.messages[-1].content,
        "tools": [[call.name, json.loads(call.arguments)] for call in asked],
        "tokens": [sum(item.prompt_tokens for item in used), sum(item.completion_tokens for item in used)],
    }
'''
_GOOGLE_ADK = '''
import os

os.environ["OPENAI_API_BASE"] = os.environ["OPENAI_BASE_URL"]
from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


agent = LlmAgent(name="adder", model=LiteLlm("openai/small"), instruction="You calculate.", tools=[add])


async def direct(text):
    runner = InMemoryRunner(agent, app_name="direct")
    session = await runner.session_service.create_session(app_name="direct", user_id="someone")
    message = types.Content(role="user", parts=[types.Part(text=text)])
    events = [
        event
        async for event in runner.run_async(user_id="someone", session_id=session.id, new_message=message)
    ]
    used = [event.usage_metadata for event in events if event.usage_metadata]
    return {
        "output": next(event.content.parts[0].text for event in events if event.is_final_response()),
        "tools": [[call.name, dict(call.args)] for event in events for call in event.get_function_calls()],
        "tokens": [
            sum(item.prompt_token_count for item in used),
            sum(item.candidates_token_count for item in used),
        ],
    }
'''
_CREWAI = '''
import json

from crewai import LLM, Agent
from crewai.tools import tool


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


agent = Agent(role="adder", goal="calculate", backstory="You calculate.", llm=LLM("openai/gpt-4o-mini"), tools=[add])


def direct(text):
    done = agent.kickoff(text)
    calls = [call["function"] for message in done.messages for call in message.get("tool_calls") or ()]
    used = done.usage_metrics
    return {
        "output": done.raw,
        "tools": [[call["name"], json.loads(call["arguments"])] for call in calls],
        "tokens": [used["prompt_tokens"], used["completion_tokens"]],
    }
'''
DRIVER = """
import asyncio
import inspect
import json
import sys

from given_agent import direct

texts = json.load(sys.stdin)


async def in_turn():
    return [await direct(text) for text in texts]


told = asyncio.run(in_turn()) if inspect.iscoroutinefunction(direct) else [direct(text) for text in texts]
print("\\ntold " + json.dumps(told), flush=True)
"""


@dataclass(frozen=True)
class GivenAgent:
    """``source`` defines ``agent`` and ``direct(text)``; ``environment`` is one of scripts/frameworks.sh."""

    framework: str
    environment: str
    source: str


CORE = (
    GivenAgent("langgraph", "core", _LANGGRAPH),
    GivenAgent("openai-agents", "core", _OPENAI_AGENTS),
    GivenAgent("pydantic-ai", "core", _PYDANTIC_AI),
)
MORE = (
    GivenAgent("smolagents", "more", _SMOLAGENTS),
    GivenAgent("autogen", "more", _AUTOGEN),
    GivenAgent("google-adk", "more", _GOOGLE_ADK),
    GivenAgent("crewai", "crewai", _CREWAI),
)
CHOSEN = (*CORE, *MORE) if os.environ.get("DYNO_FRAMEWORKS") == "all" else CORE
"""``make test-frameworks`` tries all; ``make test`` those that are small."""


def interpreter(environment: str) -> str:
    """The interpreter of an environment, which is installed where it is not there."""
    subprocess.run([ROOT / "scripts" / "frameworks.sh", environment], check=True, capture_output=True)
    return str(ROOT / ".venv-frameworks" / environment / "bin" / "python")
