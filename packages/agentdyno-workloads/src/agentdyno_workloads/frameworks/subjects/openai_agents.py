"""An agent of openai-agents, with the chat API."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from agentdyno_workloads.frameworks.subjects.task import INSTRUCTIONS, MODEL, FrameworkSubject, add, pair_type


def make(tool: Callable[..., Any] = add) -> FrameworkSubject:
    package: Any = import_module("agents")
    client = import_module("openai").AsyncOpenAI()
    model = package.OpenAIChatCompletionsModel(model=MODEL, openai_client=client)
    tools = [package.function_tool(tool)]
    agent = package.Agent(name="adder", instructions=INSTRUCTIONS, model=model, tools=tools)
    typed: list[Any] = []

    async def call(text: str) -> str:
        return str((await package.Runner.run(agent, text)).final_output)

    async def stream(text: str, delta: Callable[[], None]) -> str:
        running = package.Runner.run_streamed(agent, text)
        async for event in running.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                delta()
        return str(running.final_output)

    async def converse(texts: list[str]) -> str:
        items: list[Any] = []
        done: Any = None
        for text in texts:
            done = await package.Runner.run(agent, [*items, {"role": "user", "content": text}])
            items = done.to_input_list()
        return str(done.final_output)

    async def structured(text: str) -> dict[str, int]:
        if not typed:
            kind = pair_type()
            typed.append(package.Agent(name="typed", instructions=INSTRUCTIONS, model=model, output_type=kind))
        return dict((await package.Runner.run(typed[0], text)).final_output)

    return FrameworkSubject(agent, call, stream, converse, structured)
