"""An agent of crewai."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from agentdyno_workloads.frameworks.subjects.task import INSTRUCTIONS, FrameworkSubject, add, base_url, pair_type

KNOWN_MODEL = "openai/gpt-4o-mini"
"""It knows its models by name, and what each can do."""


def make(tool: Callable[..., Any] = add) -> FrameworkSubject:
    offered = import_module("crewai.tools").tool(tool)
    package: Any = import_module("crewai")
    about: dict[str, Any] = {"role": "adder", "goal": "calculate", "backstory": INSTRUCTIONS, "verbose": False}
    llm = package.LLM(KNOWN_MODEL, base_url=base_url())
    agent = package.Agent(llm=llm, tools=[offered], **about)

    def call(text: str) -> str:
        return str(agent.kickoff(text).raw)

    def stream(text: str, delta: Callable[[], None]) -> str:
        events: Any = import_module("crewai.events")
        writer = package.Agent(llm=package.LLM(KNOWN_MODEL, base_url=base_url(), stream=True), **about)
        with events.crewai_event_bus.scoped_handlers():

            def on_chunk(_source: object, event: Any) -> None:
                if event.chunk:
                    delta()

            events.crewai_event_bus.on(events.LLMStreamChunkEvent)(on_chunk)
            return str(writer.kickoff(text).raw)

    def converse(texts: list[str]) -> str:
        messages: list[dict[str, str]] = []
        for text in texts:
            messages.append({"role": "user", "content": text})
            messages.append({"role": "assistant", "content": str(agent.kickoff(messages).raw)})
        return messages[-1]["content"]

    def structured(text: str) -> dict[str, int]:
        return dict(agent.kickoff(text, response_format=kind).pydantic)

    kind = pair_type()
    return FrameworkSubject(agent, call, stream, converse, structured)
