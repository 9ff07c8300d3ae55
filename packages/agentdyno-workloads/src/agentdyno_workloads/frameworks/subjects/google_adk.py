"""An agent of google-adk, which reaches an OpenAI-compatible model through litellm."""

from __future__ import annotations

import json
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

APP, USER = "subject", "someone"


def make(tool: Callable[..., Any] = add) -> FrameworkSubject:
    model = import_module("google.adk.models.lite_llm").LiteLlm(f"openai/{MODEL}", api_base=base_url())
    kind: Any = import_module("google.adk.agents").LlmAgent
    runners: Any = import_module("google.adk.runners")
    agent = kind(name="adder", model=model, instruction=INSTRUCTIONS, tools=[tool])
    runner = runners.InMemoryRunner(agent, app_name=APP)
    config: Any = import_module("google.adk.agents.run_config")
    streamed = config.RunConfig(streaming_mode=config.StreamingMode.SSE)
    typed: list[Any] = []

    async def call(text: str) -> str:
        return _plain(await _asked(runner, await _session(runner), text))

    async def stream(text: str, delta: Callable[[], None]) -> str:
        session = await _session(runner)
        return await _asked(runner, session, text, run_config=streamed, on_partial=delta)

    async def converse(texts: list[str]) -> str:
        session = await _session(runner)
        answers = [await _asked(runner, session, text) for text in texts]
        return _plain(answers[-1])

    async def structured(text: str) -> dict[str, int]:
        if not typed:
            writer = kind(name="typed", model=model, instruction=INSTRUCTIONS, output_schema=pair_type())
            typed.append(runners.InMemoryRunner(writer, app_name=APP))
        found: dict[str, int] = json.loads(await _asked(typed[0], await _session(typed[0]), text))
        return found

    return FrameworkSubject(agent, call, stream, converse, structured)


async def _session(runner: Any) -> str:
    return str((await runner.session_service.create_session(app_name=APP, user_id=USER)).id)


async def _asked(
    runner: Any, session: str, text: str, on_partial: Callable[[], None] = lambda: None, **options: Any
) -> str:
    types: Any = import_module("google.genai.types")
    message = types.Content(role="user", parts=[types.Part(text=text)])
    answer = ""
    async for event in runner.run_async(user_id=USER, session_id=session, new_message=message, **options):
        parts = (event.content and event.content.parts) or ()
        said = "".join(part.text or "" for part in parts)
        if event.partial:
            if said:
                on_partial()
        elif event.is_final_response():
            answer = said or answer
    return answer


def _plain(answer: str) -> str:
    """What a tool returns reaches the model as an object, which the scripted one repeats."""
    return str(json.loads(answer)["result"]) if answer.startswith('{"result"') else answer
