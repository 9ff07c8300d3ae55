"""An agent of pydantic-ai."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from agentdyno_workloads.frameworks.subjects.task import (
    INSTRUCTIONS,
    MODEL,
    FrameworkSubject,
    add,
    base_url,
    pair_type,
)


def make(tool: Callable[..., Any] = add) -> FrameworkSubject:
    package: Any = import_module("pydantic_ai")
    provider = import_module("pydantic_ai.providers.openai").OpenAIProvider(base_url=base_url(), api_key="none")
    model = import_module("pydantic_ai.models.openai").OpenAIChatModel(MODEL, provider=provider)
    agent = package.Agent(model, system_prompt=INSTRUCTIONS, tools=[tool])
    typed: list[Any] = []

    async def call(text: str) -> str:
        return str((await agent.run(text)).output)

    async def stream(text: str, delta: Callable[[], None]) -> str:
        async with agent.run_stream(text) as running:
            pieces = []
            async for piece in running.stream_text(delta=True, debounce_by=None):
                delta()
                pieces.append(piece)
        return "".join(pieces)

    async def converse(texts: list[str]) -> str:
        done: Any = None
        for text in texts:
            done = await agent.run(text, message_history=done.all_messages() if done else None)
        return str(done.output)

    async def structured(text: str) -> dict[str, int]:
        if not typed:
            typed.append(package.Agent(model, system_prompt=INSTRUCTIONS, output_type=pair_type()))
        return dict((await typed[0].run(text)).output)

    return FrameworkSubject(agent, call, stream, converse, structured)
