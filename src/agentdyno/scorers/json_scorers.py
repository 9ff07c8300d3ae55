"""Scorers of structured answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentdyno.model.case import Case, Response, Score
from agentdyno.scorers.answer import as_text, find_json, shortened
from agentdyno.scorers.json_compare import Comparer

_MOST_TOLD = 8


@dataclass(frozen=True, slots=True)
class JsonEqual:
    """The JSON in the answer equals the target; ``partial`` gives credit for each right field.

    ``completeness`` is the share of expected fields that are there, ``fields`` the share that are right.
    """

    tolerance: float = 1e-9
    unordered: bool = False
    ignore_extra: bool = False
    partial: bool = False

    def __post_init__(self) -> None:
        if self.tolerance < 0:
            raise ValueError("tolerance must not be negative")

    def check(self, case: Case) -> str | None:
        if case.target is None:
            return "it has no target"
        return _expected(case.target)[1]

    async def score(self, case: Case, response: Response) -> Score:
        expected, problem = _expected(case.target)
        if problem is not None:
            return Score({"correctness": None}, problem)
        is_there, got = find_json(response.output)
        if not is_there:
            values = {"correctness": 0.0, "completeness": 0.0, "fields": 0.0}
            return Score(values, f"no JSON in {shortened(as_text(response.output))!r}")
        found = Comparer(self.tolerance, self.unordered, self.ignore_extra).compare(expected, got)
        right = found.right / found.leaves
        whole = float(found.right == found.leaves and not found.extra)
        values = {
            "correctness": right if self.partial else whole,
            "completeness": found.present / found.leaves,
            "fields": right,
        }
        return Score(values, "; ".join(found.differences))


def _expected(target: object) -> tuple[object, str | None]:
    """The value that is asked for; a text is read as JSON. Else what is wrong with it."""
    if not isinstance(target, str):
        return target, None
    try:
        return json.loads(target), None
    except (ValueError, RecursionError) as error:
        return None, f"its target is a text that is no JSON: {error}"


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """The JSON in the answer fits a schema: the option, or ``schema`` in the case's metadata.

    ``completeness`` is the share of the required fields at the top that are there.
    """

    schema: Mapping[str, object] | None = None

    def check(self, case: Case) -> str | None:
        schema = self._schema(case)
        if not isinstance(schema, (Mapping, bool)):
            return "it needs the option schema, or schema in its metadata"
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import validator_for

        try:
            validator_for(_plain(schema)).check_schema(_plain(schema))
        except SchemaError as error:
            return f"its schema is not valid: {error.message}"
        return None

    async def score(self, case: Case, response: Response) -> Score:
        schema = self._schema(case)
        if not isinstance(schema, (Mapping, bool)):
            return Score({"correctness": None}, "there is no schema")
        is_there, got = find_json(response.output)
        if not is_there:
            values = {"correctness": 0.0, "completeness": 0.0}
            return Score(values, f"no JSON in {shortened(as_text(response.output))!r}")
        problems = _problems(_plain(schema), _plain(got))
        required = schema.get("required") if isinstance(schema, Mapping) else None
        values = {"correctness": float(not problems)}
        if isinstance(required, (list, tuple)) and required:
            present = got if isinstance(got, Mapping) else {}
            values["completeness"] = sum(name in present for name in required) / len(required)
        return Score(values, "; ".join(problems))

    def _schema(self, case: Case) -> object:
        return self.schema if self.schema is not None else case.metadata.get("schema")


def _problems(schema: Any, got: Any) -> list[str]:
    """The first few violations, each with its path. References that lead out of the schema are not followed."""
    from jsonschema.validators import validator_for
    from referencing import Registry

    registry: Registry[Any] = Registry()
    validator = validator_for(schema)(schema, registry=registry)
    found = []
    for error in validator.iter_errors(got):
        path = error.json_path.removeprefix("$").removeprefix(".")
        found.append(f"{path or 'the value'}: {shortened(error.message, 120)}")
        if len(found) >= _MOST_TOLD:
            break
    return found


def _plain(value: object) -> Any:
    """Dicts and lists, which are all that the validator takes for objects and arrays."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
