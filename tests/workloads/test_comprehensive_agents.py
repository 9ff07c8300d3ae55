"""The bundled agents with the real local model: what they record, and what the older version does wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agentdyno.agents.resolve import make_agent
from agentdyno.model.case import Case, Response
from agentdyno.model.suite import AgentUse
from agentdyno.servers.local_model import LocalModel
from agentdyno.workloads.comprehensive import presets
from agentdyno.workloads.comprehensive.agents import NOTHING_ASKED

PRECEDENCE = Case("arith-07", "What is 3 + 4 * 5? Answer with the number only.", 23, {"task": "number"})
MEMORY = Case("memory-04", "The meeting is in room 214.", "214", turns=("The meeting is in room 214.", "Which room?"))


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    with LocalModel(threads=1, context=1024) as running:
        yield running


def ask(use: AgentUse, case: Case, model: LocalModel) -> Response:
    async def answered() -> Response:
        agent = make_agent(replace(use, config={**use.config, "base_url": model.url}), inline=True)
        await agent.start()
        try:
            return await agent.run(case)
        finally:
            await agent.close()

    return asyncio.run(answered())


def test_the_agents_have_names_and_versions_of_their_own() -> None:
    labels = [f"{use.name}@{use.version}" for use in (*presets.PRESETS, presets.SMOLLM2_TOOLS_FIRST)]
    assert labels == ["smollm2@1", "smollm2-structured@1", "smollm2-tools@2", "rules@2", "smollm2-tools@1"]


def test_the_plain_agent_answers_in_its_own_words(model: LocalModel) -> None:
    response = ask(presets.SMOLLM2, Case("hello", "Say hello."), model)
    assert isinstance(response.output, str)
    assert response.output
    assert response.usage is not None
    assert response.usage.output_tokens <= 24


def test_the_structured_agent_answers_in_the_form_of_the_case(model: LocalModel) -> None:
    schema = {"type": "object", "properties": {"day": {"type": "string"}, "time": {"type": "string"}}}
    case = Case(
        "extract-09",
        "Extract day and time as JSON.\nText: Let us meet on Tuesday at 14:30.",
        metadata={"task": "fields", "schema": {**schema, "required": ["day", "time"], "additionalProperties": False}},
    )
    assert ask(presets.SMOLLM2_STRUCTURED, case, model).output == {"day": "Tuesday", "time": "14:30"}


def test_nothing_is_asked_of_the_model_where_nothing_was_asked(model: LocalModel) -> None:
    response = ask(presets.SMOLLM2_TOOLS, Case("empty", "  "), model)
    assert response.output == NOTHING_ASKED
    assert response.api_calls is None


def test_the_tools_agent_calculates_and_records_it(model: LocalModel) -> None:
    response = ask(presets.SMOLLM2_TOOLS, PRECEDENCE, model)
    assert response.output == "23"
    calls = [(event.name, event.content) for event in response.events if event.kind == "tool_call"]
    assert calls == [("calculator", {"expression": "3 + 4 * 5"})]
    assert response.api_calls == 1
    assert response.model == "smollm2-135m-instruct"


def test_the_tools_agent_looks_up_what_the_model_cannot_know(model: LocalModel) -> None:
    response = ask(presets.SMOLLM2_TOOLS, Case("docs-07", "What is the code name of the current firmware?"), model)
    assert "Plover" in str(response.output)
    results = [(event.name, event.content) for event in response.events if event.kind == "tool_result"]
    assert results == [("search", ["firmware"])]


def test_the_older_version_ignores_precedence(model: LocalModel) -> None:
    assert ask(presets.SMOLLM2_TOOLS_FIRST, PRECEDENCE, model).output == "35"


def test_the_older_version_forgets_what_was_said(model: LocalModel) -> None:
    assert "214" in str(ask(presets.SMOLLM2_TOOLS, MEMORY, model).output)
    assert "214" not in str(ask(presets.SMOLLM2_TOOLS_FIRST, MEMORY, model).output)
