"""A loop on httpx: as little as the tasks need."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

from agentdyno_workloads.frameworks.subjects.loop import TOOL, loop_subject, opening
from agentdyno_workloads.frameworks.subjects.task import MODEL, SCHEMA, FrameworkSubject, add, base_url


def make(tool: Callable[..., Any] = add) -> FrameworkSubject:
    client: Any = import_module("httpx").AsyncClient(base_url=base_url() + "/", timeout=60)

    async def asked(messages: list[Any], **more: object) -> Any:
        answer = await client.post("chat/completions", json={"model": MODEL, "messages": messages, **more})
        answer.raise_for_status()
        return answer.json()["choices"][0]["message"]

    async def answered(messages: list[Any]) -> str:
        while True:
            message = await asked(messages, tools=[TOOL])
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for wanted in message["tool_calls"]:
                result = str(tool(**json.loads(wanted["function"]["arguments"])))
                messages.append({"role": "tool", "tool_call_id": wanted["id"], "content": result})

    async def stream(text: str, delta: Callable[[], None]) -> str:
        body = {"model": MODEL, "messages": opening(text), "stream": True}
        pieces = []
        async with client.stream("POST", "chat/completions", json=body) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if line.startswith("data: {"):
                    for choice in json.loads(line[6:])["choices"]:
                        if choice["delta"].get("content"):
                            delta()
                            pieces.append(choice["delta"]["content"])
        return "".join(pieces)

    async def structured(text: str) -> dict[str, int]:
        form = {"type": "json_schema", "json_schema": {"name": "Sum", "schema": SCHEMA}}
        message = await asked(opening(text), response_format=form)
        found: dict[str, int] = json.loads(message["content"])
        return found

    return loop_subject(answered, stream, structured)
