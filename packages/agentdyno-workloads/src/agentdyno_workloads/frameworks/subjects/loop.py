"""A bare loop, whatever client asks the model: its messages, and the ways to ask it that rest on one answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agentdyno_workloads.frameworks.subjects.task import INSTRUCTIONS, SCHEMA, FrameworkSubject

SYSTEM = {"role": "system", "content": INSTRUCTIONS}
TOOL = {"type": "function", "function": {"name": "add", "description": "Adds two numbers.", "parameters": SCHEMA}}


def opening(text: str) -> list[Any]:
    """The messages that a conversation begins with."""
    return [SYSTEM, {"role": "user", "content": text}]


def loop_subject(
    answered: Callable[[list[Any]], Awaitable[str]],
    stream: Callable[[str, Callable[[], None]], Awaitable[str]],
    structured: Callable[[str], Awaitable[dict[str, int]]],
) -> FrameworkSubject:
    """``answered`` asks the model until it calls no more tools, and leaves all that was said in the messages."""

    async def call(text: str) -> str:
        return await answered(opening(text))

    async def converse(texts: list[str]) -> str:
        messages: list[Any] = [SYSTEM]
        answer = ""
        for text in texts:
            messages.append({"role": "user", "content": text})
            answer = await answered(messages)
        return answer

    return FrameworkSubject(None, call, stream, converse, structured)
