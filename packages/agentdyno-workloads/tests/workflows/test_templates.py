"""The planner that chooses among templates: what the model may say, and what becomes of it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.chat_server import Asked, Reply, serving

from agentdyno import Case
from agentdyno_workloads.workflows.templates import TEMPLATES, TemplatePlanner

ASKED = """Count the errors of access.log by hour into errors.csv.

You plan this as shell commands.
Files in the working folder:
- access.log (100 bytes)

Answer with JSON only."""


def planned(answer: str) -> tuple[object, Any]:
    async def work(url: str) -> object:
        planner = TemplatePlanner(url)
        try:
            return await planner.run(Case("any", ASKED))
        finally:
            await planner.close()

    def reply(_: Asked) -> Reply:
        return Reply(answer)

    with serving(reply) as server:
        found = asyncio.run(work(server.url))
    return found, server.asked[0].body


def test_the_model_has_nothing_but_choices() -> None:
    chosen = {"template": "count errors of a log by hour", "input": "access.log", "output": "errors.csv"}
    plan, body = planned(json.dumps(chosen))
    choices = body["response_format"]["json_schema"]["schema"]["properties"]
    assert choices["template"]["enum"] == list(TEMPLATES)
    assert choices["input"]["enum"] == ["access.log"]
    assert choices["output"]["enum"] == ["errors.csv"]
    assert isinstance(plan, dict)
    assert [step["id"] for step in plan["steps"]] == ["hours", "table"]
    assert plan["steps"][1]["outputs"] == ["errors.csv"]


def test_an_answer_that_breaks_off_is_no_plan() -> None:
    assert planned('{"template": "count er')[0] == '{"template": "count er'


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_is_a_plan(name: str) -> None:
    steps = TEMPLATES[name]("notes/a.txt", "out.txt")
    ids = [step["id"] for step in steps]
    assert len(set(ids)) == len(ids)
    for step in steps:
        needs = step["needs"]
        assert isinstance(needs, list)
        assert set(needs) <= set(ids)
