"""The bare loop on the openai package."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

from agentdyno_workloads.frameworks.subjects.loop import TOOL, loop_subject, opening
from agentdyno_workloads.frameworks.subjects.task import MODEL, FrameworkSubject, add, pair_type


def make(tool: Callable[..., Any] = add) -> FrameworkSubject:
    client: Any = import_module("openai").AsyncOpenAI()
    create = client.chat.completions.create

    async def answered(messages: list[Any]) -> str:
        while True:
            done = await create(model=MODEL, messages=messages, tools=[TOOL])
            message = done.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return str(message.content)
            for wanted in message.tool_calls:
                result = str(tool(**json.loads(wanted.function.arguments)))
                messages.append({"role": "tool", "tool_call_id": wanted.id, "content": result})

    async def stream(text: str, delta: Callable[[], None]) -> str:
        pieces = []
        async for chunk in await create(model=MODEL, messages=opening(text), stream=True):
            for choice in chunk.choices:
                if choice.delta.content:
                    delta()
                    pieces.append(choice.delta.content)
        return "".join(pieces)

    async def structured(text: str) -> dict[str, int]:
        asked = opening(text)
        done = await client.chat.completions.parse(model=MODEL, messages=asked, response_format=pair)
        return dict(done.choices[0].message.parsed)

    pair = pair_type()
    return loop_subject(answered, stream, structured)
