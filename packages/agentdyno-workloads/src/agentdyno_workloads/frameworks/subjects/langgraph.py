"""An agent of langchain, which is a compiled graph of langgraph."""

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
    model = import_module("langchain_openai").ChatOpenAI(model=MODEL, base_url=base_url())
    create: Any = import_module("langchain.agents").create_agent
    agent = create(model, [tool], system_prompt=INSTRUCTIONS)
    typed: list[Any] = []

    async def call(text: str) -> str:
        state = await agent.ainvoke({"messages": [{"role": "user", "content": text}]})
        return str(state["messages"][-1].text)

    async def stream(text: str, delta: Callable[[], None]) -> str:
        pieces = []
        asked = {"messages": [{"role": "user", "content": text}]}
        async for message, _ in agent.astream(asked, stream_mode="messages"):
            if message.type == "AIMessageChunk" and message.text:
                delta()
                pieces.append(message.text)
        return "".join(pieces)

    async def converse(texts: list[str]) -> str:
        messages: list[Any] = []
        for text in texts:
            state = await agent.ainvoke({"messages": [*messages, {"role": "user", "content": text}]})
            messages = state["messages"]
        return str(messages[-1].text)

    async def structured(text: str) -> dict[str, int]:
        if not typed:
            typed.append(create(model, [], system_prompt=INSTRUCTIONS, response_format=pair_type()))
        state = await typed[0].ainvoke({"messages": [{"role": "user", "content": text}]})
        return dict(state["structured_response"])

    return FrameworkSubject(agent, call, stream, converse, structured)
