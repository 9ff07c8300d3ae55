"""A tool calling agent of smolagents. It answers by calling a tool: no text to stream, and no typed answers."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from agentdyno_workloads.frameworks.subjects.task import MODEL, FrameworkSubject, add, base_url


def make(tool: Callable[..., Any] = add) -> FrameworkSubject:
    package: Any = import_module("smolagents")
    model = package.OpenAIModel(MODEL, api_base=base_url())
    agent = package.ToolCallingAgent(tools=[package.tool(tool)], model=model, verbosity_level=0)

    def call(text: str) -> str:
        return str(agent.run(text))

    def converse(texts: list[str]) -> str:
        answers = [agent.run(text, reset=number == 0) for number, text in enumerate(texts)]
        return str(answers[-1])

    return FrameworkSubject(agent, call, converse=converse)
