"""Plans: what is read, and what is refused with one reason."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agentdyno.agents.workflow.plan import PLAN_SCHEMA, PlanRefused, read_plan

GOOD: dict[str, Any] = {
    "steps": [
        {"id": "fetch", "command": "cp in.txt raw.txt", "needs": [], "outputs": ["raw.txt"]},
        {"id": "sort", "command": "sort raw.txt > sorted.txt", "needs": ["fetch"], "outputs": ["sorted.txt"]},
        {"id": "count", "command": "wc -l < raw.txt > n.txt", "needs": ["fetch"], "outputs": ["n.txt"]},
        {
            "id": "join",
            "command": "cat n.txt sorted.txt > out.txt",
            "needs": ["sort", "count"],
            "outputs": ["out.txt"],
        },
    ]
}


def test_a_plan_is_read_with_its_steps_in_an_order_that_works() -> None:
    turned = {"steps": list(reversed(GOOD["steps"]))}
    plan = read_plan(turned)
    assert [step.id for step in plan.steps] == ["fetch", "count", "sort", "join"]
    assert plan.ancestors("join") == {"fetch", "sort", "count"}
    assert plan.descendants("fetch") == {"sort", "count", "join"}


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        GOOD["steps"],
        {"plan": GOOD},
        json.dumps(GOOD),
        f"Here is the plan:\n```json\n{json.dumps(GOOD, indent=1)}\n```\nGood luck!",
        f"Sure! {json.dumps(GOOD)} Done.",
    ],
    ids=["object", "list", "inside plan", "text", "fence", "words around"],
)
def test_a_plan_may_come_as_a_value_or_in_a_text(answer: object) -> None:
    assert len(read_plan(answer).steps) == 4


def test_what_the_schema_allows_has_the_form_that_is_read() -> None:
    assert Draft202012Validator(PLAN_SCHEMA).is_valid(GOOD)
    assert not Draft202012Validator(PLAN_SCHEMA).is_valid({"steps": []})


Mutation = tuple[str, Callable[[dict[str, Any], random.Random], None]]


def _some(plan: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    step: dict[str, Any] = rng.choice(plan["steps"])
    return step


def _circle(plan: dict[str, Any], rng: random.Random) -> None:
    plan["steps"][0]["needs"] = [rng.choice(["sort", "count", "join"])]


def _twice(plan: dict[str, Any], rng: random.Random) -> None:
    first, second = rng.sample(plan["steps"], 2)
    second["id"] = first["id"]


MUTATIONS: tuple[Mutation, ...] = (
    ("circle", _circle),
    ("needs itself", lambda plan, rng: (step := _some(plan, rng)).update(needs=[step["id"]])),
    ("is no step", lambda plan, rng: _some(plan, rng).update(needs=[f"step-{rng.randrange(99)}"])),
    ("two steps have the id", _twice),
    ("is empty", lambda plan, rng: _some(plan, rng).update(command=rng.choice(["", "  ", "\n\t"]))),
    ("characters", lambda plan, rng: _some(plan, rng).update(command="x" * rng.randrange(20_000, 1_000_000))),
    ("NUL byte", lambda plan, rng: _some(plan, rng).update(command=f"echo a{chr(0)}b")),
    ("has no command", lambda plan, rng: _some(plan, rng).pop("command")),
    ("has no id", lambda plan, rng: _some(plan, rng).pop("id")),
    (
        "letters, digits",
        lambda plan, rng: _some(plan, rng).update(id=rng.choice(["a b", "../x", "", "a\0", "é" * 3])),
    ),
    (
        "outside",
        lambda plan, rng: _some(plan, rng).update(outputs=[rng.choice(["/etc/passwd", "../x", "a/../../b"])]),
    ),
    ("unknown key", lambda plan, rng: _some(plan, rng).update({rng.choice(["cmd", "Needs", "shell"]): "x"})),
    ("must be a list of texts", lambda plan, rng: _some(plan, rng).update(needs=rng.choice(["fetch", 3, {}]))),
    ("must hold texts", lambda plan, rng: _some(plan, rng).update(outputs=[rng.choice([1, None, ["a"]])])),
    ("half a character", lambda plan, rng: _some(plan, rng).update(command="echo \ud800")),
    ("no steps", lambda plan, rng: plan.update(steps=[])),
    ("must be a list", lambda plan, rng: plan.update(steps=rng.choice(["sort", 7, {"id": "a"}]))),
    ("must be an object", lambda plan, rng: plan["steps"].insert(rng.randrange(4), rng.choice(["sort", 5, None]))),
    ("at most 100 are allowed", lambda plan, rng: plan.update(steps=plan["steps"] * rng.randrange(30, 60))),
    ("working folder itself", lambda plan, rng: _some(plan, rng).update(outputs=["."])),
)


@pytest.mark.parametrize("number", range(200))
def test_a_mutated_plan_is_refused_with_one_clear_reason(number: int) -> None:
    rng = random.Random(number)
    expected, mutate = MUTATIONS[number % len(MUTATIONS)]
    plan = deepcopy(GOOD)
    mutate(plan, rng)
    with pytest.raises(PlanRefused) as refused:
        read_plan(plan)
    reason = refused.value.reason
    assert expected in reason
    assert "\n" not in reason
    assert "\0" not in reason
    assert len(reason) < 300
    as_text = json.dumps(plan)
    with pytest.raises(PlanRefused):
        read_plan(as_text)


@pytest.mark.parametrize(
    "text", ["I cannot do that.", '{"steps": [', "[[[[" * 5000, "", '"just text"', "{" * 100_000]
)
def test_an_answer_that_holds_no_plan_is_refused(text: str) -> None:
    with pytest.raises(PlanRefused):
        read_plan(text)
