"""The tools that an agent called."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentdyno.model.case import Case, Response, Score
from agentdyno.scorers.answer import as_text, shortened
from agentdyno.scorers.json_compare import Comparer


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call, or one that is expected: ``arguments`` are then ``None`` where any will do."""

    name: str
    arguments: object = None

    def __str__(self) -> str:
        return self.name if self.arguments is None else f"{self.name}({shortened(as_text(self.arguments), 60)})"


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The agent called the expected tools: the target lists ``{name, arguments}``, or names.

    ``arguments: subset`` allows more than the expected ones. ``completeness`` is the share of expected calls that
    were made, ``relevance`` the share of calls that were expected.
    """

    order: Literal["exact", "any"] = "exact"
    arguments: Literal["subset", "exact", "ignore"] = "subset"
    allow_extra: bool = False

    def check(self, case: Case) -> str | None:
        expected = _expected(case.target)
        return expected if isinstance(expected, str) else None

    async def score(self, case: Case, response: Response) -> Score:
        expected = _expected(case.target)
        if isinstance(expected, str):
            return Score({"correctness": None}, expected)
        made = made_calls(response)
        match = _in_order if self.order == "exact" else _in_any_order
        pairs = match(expected, made, self._fits)
        missing = [call for index, call in enumerate(expected) if index not in pairs]
        extra = [call for index, call in enumerate(made) if index not in pairs.values()]
        right = not missing and (self.allow_extra or not extra)
        values = {
            "correctness": float(right),
            "completeness": len(pairs) / len(expected) if expected else 1.0,
            "relevance": len(pairs) / len(made) if made else float(not expected),
        }
        told = [f"missing: {_listed(missing)}"] if missing else []
        told += [f"not expected: {_listed(extra)}"] if extra and not self.allow_extra else []
        return Score(values, "; ".join(told), {"calls": [str(call) for call in made[:50]]})

    def _fits(self, expected: ExpectedCall, made: ExpectedCall) -> bool:
        if expected.name != made.name:
            return False
        if self.arguments == "ignore" or expected.arguments is None:
            return True
        return Comparer(ignore_extra=self.arguments == "subset").equal(expected.arguments, made.arguments)


def made_calls(response: Response) -> list[ExpectedCall]:
    """The calls in the trajectory; where it has none, those that the answer lists as ``tool_calls``."""
    calls = [
        ExpectedCall(event.name, _arguments(event.content)) for event in response.events if event.kind == "tool_call"
    ]
    listed = response.output.get("tool_calls") if isinstance(response.output, Mapping) else None
    if calls or not isinstance(listed, (list, tuple)):
        return calls
    return [call for item in listed if (call := _call(item)) is not None]


def _expected(target: object) -> list[ExpectedCall] | str:
    if not isinstance(target, (list, tuple)):
        return "its target must be a list of tool calls: names, or objects with name and arguments"
    calls = [ExpectedCall(item) if isinstance(item, str) else _call(item) for item in target]
    found = [call for call in calls if call is not None]
    if len(found) < len(calls):
        return f"tool call {calls.index(None) + 1} of its target has no name"
    return found


def _call(item: object) -> ExpectedCall | None:
    """``{name, arguments}``, alone or as the ``function`` of a chat message's tool call."""
    inner = item.get("function", item) if isinstance(item, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str) or not inner["name"]:
        return None
    return ExpectedCall(inner["name"], _arguments(inner.get("arguments")))


def _arguments(value: object) -> object:
    """Arguments as a value; models send them as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


Fits = Callable[[ExpectedCall, ExpectedCall], bool]


def _in_order(expected: Sequence[ExpectedCall], made: Sequence[ExpectedCall], fits: Fits) -> dict[int, int]:
    """The longest way to find expected calls in their order: index of the expected one to index of the made one."""
    best = [[0] * (len(made) + 1) for _ in range(len(expected) + 1)]
    for row in reversed(range(len(expected))):
        for column in reversed(range(len(made))):
            skipped = max(best[row + 1][column], best[row][column + 1])
            taken = best[row + 1][column + 1] + 1 if fits(expected[row], made[column]) else 0
            best[row][column] = max(skipped, taken)
    pairs, row, column = {}, 0, 0
    while row < len(expected) and column < len(made):
        if best[row][column] == best[row + 1][column]:
            row += 1
        elif best[row][column] == best[row][column + 1]:
            column += 1
        else:
            pairs[row] = column
            row, column = row + 1, column + 1
    return pairs


def _in_any_order(expected: Sequence[ExpectedCall], made: Sequence[ExpectedCall], fits: Fits) -> dict[int, int]:
    """As many expected calls as can each have a made one of their own, which a greedy choice may miss."""
    taken: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for column, call in enumerate(made):
            if column not in tried and fits(expected[row], call):
                tried.add(column)
                if column not in taken or place(taken[column], tried):
                    taken[column] = row
                    return True
        return False

    for row in range(len(expected)):
        place(row, set())
    return {row: column for column, row in taken.items()}


def _listed(calls: Sequence[ExpectedCall]) -> str:
    return ", ".join(map(str, calls[:8])) + ("…" if len(calls) > 8 else "")
