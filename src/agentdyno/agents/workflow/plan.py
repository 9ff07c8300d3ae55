"""A plan of shell commands: frozen values, the JSON Schema that models are given, and what makes a plan invalid.

A plan is refused as a whole, with one reason: the first of its problems that a reader would look for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from agentdyno.errors import nearest
from agentdyno.model.identity import digest

MOST_STEPS = 100
LONGEST_COMMAND = 16_384
"""Characters. Longer commands are data that belongs into a file."""
LONGEST_ANSWER = 1_000_000
MOST_PATHS = 200
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FIELDS = ("id", "command", "needs", "outputs")
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)

PLAN_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["steps"],
    "properties": {
        "steps": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_STEPS,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "command", "needs", "outputs"],
                "properties": {
                    "id": {"type": "string"},
                    "command": {"type": "string"},
                    "needs": {"type": "array", "items": {"type": "string"}},
                    "outputs": {"type": "array", "items": {"type": "string"}},
                },
            },
        }
    },
}
"""What a server that can enforce a form is asked to enforce; everything else is checked by ``read_plan``."""


class PlanRefused(Exception):
    """A plan that cannot be executed. ``reason`` is one sentence that names the place."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One command for the shell. ``needs`` are ids of steps that must have ended well before; ``outputs`` are files
    or folders, relative to the working folder, that must be there when it has."""

    id: str
    command: str
    needs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Of what decides what the step does and makes."""
        return digest([self.command, sorted(self.outputs)], 32)


@dataclass(frozen=True, slots=True)
class WorkflowPlan:
    """Steps in an order in which they can run: each comes after those that it needs."""

    steps: tuple[PlannedStep, ...]

    def step(self, step_id: str) -> PlannedStep:
        return next(step for step in self.steps if step.id == step_id)

    def ancestors(self, step_id: str) -> frozenset[str]:
        """Every step that must have ended before this one, through others too."""
        found: set[str] = set()
        waiting = list(self.step(step_id).needs)
        while waiting:
            current = waiting.pop()
            if current not in found:
                found.add(current)
                waiting += self.step(current).needs
        return frozenset(found)

    def descendants(self, step_id: str) -> frozenset[str]:
        """Every step that comes after this one, through others too."""
        found = {step_id}
        for step in self.steps:  # those that are needed come first
            if not found.isdisjoint(step.needs):
                found.add(step.id)
        return frozenset(found - {step_id})

    def to_plain(self) -> dict[str, object]:
        return {
            "steps": [
                {"id": item.id, "command": item.command, "needs": list(item.needs), "outputs": list(item.outputs)}
                for item in self.steps
            ]
        }


def read_plan(answer: object) -> WorkflowPlan:
    """The plan in what a planner answered: a text with JSON in it, or the JSON value itself. Raises ``PlanRefused``.

    Text may have the JSON in a code fence or words around it.
    """
    document = _document(answer) if isinstance(answer, str) else answer
    if isinstance(document, Mapping) and "plan" in document and "steps" not in document:
        document = document["plan"]
    if isinstance(document, list):
        document = {"steps": document}
    if not isinstance(document, Mapping):
        raise PlanRefused(f"the plan is {_kind(document)}, and must be an object with the key steps")
    _check_keys(document, ("steps",), "the plan")
    rows = document.get("steps")
    if not isinstance(rows, (list, tuple)):
        raise PlanRefused(f"steps is {_kind(rows)}, and must be a list" if rows is not None else "steps is missing")
    if not rows:
        raise PlanRefused("the plan has no steps")
    if len(rows) > MOST_STEPS:
        raise PlanRefused(f"the plan has {len(rows):,} steps, and at most {MOST_STEPS} are allowed")
    steps = [_step(row, number) for number, row in enumerate(rows, start=1)]
    _check_ids(steps)
    return WorkflowPlan(tuple(_ordered(steps)))


def _document(text: str) -> object:
    if len(text) > LONGEST_ANSWER + LONGEST_COMMAND * 2:
        raise PlanRefused(f"the answer has {len(text):,} characters, and at most {LONGEST_ANSWER:,} are read")
    fenced = _FENCE.search(text)
    for candidate in (text, fenced.group(1) if fenced else "", _between_braces(text)):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    raise PlanRefused("the answer holds no JSON" if "{" not in text else "the answer is no valid JSON")


def _between_braces(text: str) -> str:
    first, last = text.find("{"), text.rfind("}")
    return text[first : last + 1] if 0 <= first < last else ""


def _step(row: object, number: int) -> PlannedStep:
    where = f"step {number}"
    if not isinstance(row, Mapping):
        raise PlanRefused(f"{where} is {_kind(row)}, and must be an object")
    _check_keys(row, _FIELDS, where)
    step_id = row.get("id")
    if not isinstance(step_id, str):
        raise PlanRefused(f"{where} has no id" if step_id is None else f"the id of {where} is {_kind(step_id)}")
    if not _ID.fullmatch(step_id):
        shown = step_id[:40].encode("unicode_escape").decode()
        raise PlanRefused(f"the id of {where} is '{shown}', and must be up to 64 letters, digits, '.', '_' or '-'")
    where = f"step {step_id!r}"
    return PlannedStep(
        step_id, _command(row.get("command"), where), _needs(row, where), tuple(_paths(row, "outputs", where))
    )


def _command(command: object, where: str) -> str:
    if not isinstance(command, str):
        raise PlanRefused(
            f"{where} has no command" if command is None else f"its command is {_kind(command)}: {where}"
        )
    if "\0" in command:
        raise PlanRefused(f"the command of {where} holds a NUL byte")
    if not command.strip():
        raise PlanRefused(f"the command of {where} is empty")
    if len(command) > LONGEST_COMMAND:
        raise PlanRefused(
            f"the command of {where} has {len(command):,} characters, and at most {LONGEST_COMMAND:,} are allowed"
        )
    if any(0xD800 <= ord(char) <= 0xDFFF for char in command):
        raise PlanRefused(f"the command of {where} holds half a character (a lone surrogate)")
    return command


def _needs(row: Mapping[str, object], where: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_texts(row, "needs", where)))


def _paths(row: Mapping[str, object], key: str, where: str) -> Iterator[str]:
    for text in dict.fromkeys(_texts(row, key, where)):
        path = PurePosixPath(text)
        if "\0" in text or "\n" in text or not text.strip():
            raise PlanRefused(f"{key} of {where} holds a name that no file has")
        if path.is_absolute() or ".." in path.parts:
            raise PlanRefused(f"{key} of {where} names {text[:80]!r}, which is outside the working folder")
        if str(path) == ".":
            raise PlanRefused(f"{key} of {where} names the working folder itself")
        yield str(path)


def _texts(row: Mapping[str, object], key: str, where: str) -> Sequence[str]:
    given = row.get(key)
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)):
        raise PlanRefused(f"{key} of {where} is {_kind(given)}, and must be a list of texts")
    if len(given) > MOST_PATHS:
        raise PlanRefused(f"{key} of {where} has {len(given):,} entries, and at most {MOST_PATHS} are allowed")
    texts = [item for item in given if isinstance(item, str)]
    if len(texts) < len(given):
        wrong = next(item for item in given if not isinstance(item, str))
        raise PlanRefused(f"{key} of {where} holds {_kind(wrong)}, and must hold texts")
    return texts


def _check_keys(row: Mapping[str, object], known: Sequence[str], where: str) -> None:
    for key in row:
        if key not in known:
            raise PlanRefused(
                f"{where} has the unknown key {str(key)[:40]!r}. {nearest(str(key)[:64], known)}".strip()
            )


def _check_ids(steps: Sequence[PlannedStep]) -> None:
    seen: set[str] = set()
    for step in steps:
        if step.id in seen:
            raise PlanRefused(f"two steps have the id {step.id!r}")
        seen.add(step.id)
    for step in steps:
        for need in step.needs:
            if need == step.id:
                raise PlanRefused(f"step {step.id!r} needs itself")
            if need not in seen:
                raise PlanRefused(
                    f"step {step.id!r} needs {need[:64]!r}, which is no step. {nearest(need[:64], seen)}".strip()
                )


def _ordered(steps: Sequence[PlannedStep]) -> Iterator[PlannedStep]:
    """Those that are needed first, else as written. Raises ``PlanRefused`` for a circle, naming its steps."""
    done: set[str] = set()
    waiting = list(steps)
    while waiting:
        ready = next((step for step in waiting if done.issuperset(step.needs)), None)
        if ready is None:
            raise PlanRefused(f"steps need each other in a circle: {' → '.join(_circle(waiting))}")
        waiting.remove(ready)
        done.add(ready.id)
        yield ready


def _circle(stuck: Sequence[PlannedStep]) -> list[str]:
    by_id = {step.id: step for step in stuck}
    path = [stuck[0].id]
    while True:
        following = next(need for need in by_id[path[-1]].needs if need in by_id)
        if following in path:
            return [*path[path.index(following) :], following]
        path.append(following)


def _kind(value: object) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return "nothing" if value is None else names.get(type(value), type(value).__name__)
