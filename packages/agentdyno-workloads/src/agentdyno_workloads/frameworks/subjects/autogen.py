"""An agent of autogen-agentchat."""

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
    agents: Any = import_module("autogen_agentchat.agents")
    messages: Any = import_module("autogen_agentchat.messages")
    core: Any = import_module("autogen_core")
    model = _model()
    options: dict[str, Any] = {"tools": [tool], "system_message": INSTRUCTIONS, "reflect_on_tool_use": True}
    agent = agents.AssistantAgent("adder", model, **options)
    special: dict[str, Any] = {}

    async def asked(subject: Any, text: str) -> Any:
        done = await subject.run(task=[messages.TextMessage(content=text, source="user")])
        return done.messages[-1].content

    async def call(text: str) -> str:
        await agent.on_reset(core.CancellationToken())
        return str(await asked(agent, text))

    async def stream(text: str, delta: Callable[[], None]) -> str:
        if "stream" not in special:
            special["stream"] = agents.AssistantAgent("streamer", model, model_client_stream=True, **options)
        await special["stream"].on_reset(core.CancellationToken())
        answer = ""
        async for item in special["stream"].run_stream(task=text):
            if type(item).__name__ == "ModelClientStreamingChunkEvent":
                delta()
            elif type(item).__name__ == "TaskResult":
                answer = str(item.messages[-1].content)
        return answer

    async def converse(texts: list[str]) -> str:
        await agent.on_reset(core.CancellationToken())
        answers = [await asked(agent, text) for text in texts]
        return str(answers[-1])

    async def structured(text: str) -> dict[str, int]:
        if "typed" not in special:
            kind = pair_type()
            special["typed"] = agents.AssistantAgent(
                "typed", model, system_message=INSTRUCTIONS, output_content_type=kind
            )
        await special["typed"].on_reset(core.CancellationToken())
        return dict(await asked(special["typed"], text))

    return FrameworkSubject(agent, call, stream, converse, structured)


def _model() -> Any:
    info = import_module("autogen_core.models").ModelInfo(
        vision=False, function_calling=True, json_output=True, family="unknown", structured_output=True
    )
    client: Any = import_module("autogen_ext.models.openai").OpenAIChatCompletionClient
    return client(model=MODEL, model_info=info, base_url=base_url())
