"""A plain document against the file format; what pydantic finds, in the user's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from agentdyno.errors import nearest
from agentdyno.specs.file_format import (
    AutoModel,
    EntryModel,
    InstrumentModel,
    IterationsModel,
    MetricModel,
    QuickModel,
    RunFields,
    SpecFile,
)
from agentdyno.specs.problems import Problem, dotted, got, spec_error

_BELOW: dict[str, type[BaseModel]] = {
    "iterations": IterationsModel,
    "auto": AutoModel,
    "experiments": EntryModel,
    "instrumentation": InstrumentModel,
    "quick": QuickModel,
}
_EXPECTED = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "bool_type": "true or false",
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def validate(document: Mapping[str, object], where: str, *, layer: bool = False) -> dict[str, Any]:
    """What the document sets, in its normal form; a ``layer`` may not have a ``quick:`` of its own."""
    kind: type[RunFields] = QuickModel if layer else SpecFile
    try:
        model = kind.model_validate(document)
    except ValidationError as error:
        raise spec_error(where, [_problem(item, kind) for item in error.errors()]) from None
    return model.model_dump(exclude_unset=True)


def _problem(error: ErrorDetails, root: type[BaseModel]) -> Problem:
    loc = error["loc"]
    owner, name, field = _field_at(loc, root)
    context: Mapping[str, Any] = error.get("ctx") or {}
    key = dotted(loc)
    kind, value = error["type"], error["input"]
    if kind == "dyno":
        within = str(context["key"])
        return Problem(f"{key}.{within}" if key and within else key or within, context["message"], context["remedy"])
    if kind == "extra_forbidden":
        return Problem(key, f"unknown key {loc[-1]!r}"[:120], nearest(str(loc[-1])[:200], owner.model_fields))
    if kind == "missing":
        return Problem(key, "expected a value, the key is missing", _remedy(name, field))
    if kind in _EXPECTED:
        expected = f"expected {_EXPECTED[kind]}, got {got(value)}"
    elif kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        expected = f"expected {words} {context[bound]:g}, got {got(value)}"
    elif kind == "literal_error":
        expected = f"expected {context['expected']}, got {got(value)}"
    elif kind == "too_short":
        expected = "expected at least one value, got an empty list"
    elif kind == "string_too_long":
        expected = f"expected at most {context['max_length']:,} characters, got {len(str(value)):,}"
    else:
        expected = f"{error['msg']}, got {got(value)}"
    return Problem(key, expected, _remedy(name, field))


def _field_at(loc: Sequence[str | int], root: type[BaseModel]) -> tuple[type[BaseModel], str, FieldInfo | None]:
    """The model that holds the last part of a location, and the known field that the location leads to."""
    owner, name, field = root, "", None
    names = [part for part in loc if isinstance(part, str)]
    for i, part in enumerate(names):
        if name == "metrics" and owner is not MetricModel:  # a name that the user chose
            owner = MetricModel
            continue
        found = owner.model_fields.get(part)
        if found is None:
            return owner, name, None
        name, field = part, found
        if part in ("params", "sweep"):
            break
        if part in _BELOW and i < len(names) - 1:
            owner = _BELOW[part]
    return owner, name, field


def _remedy(name: str, field: FieldInfo | None) -> str:
    if field is None or not field.examples:
        return "Correct the value."
    example = field.examples[0]
    return f"{field.description}. For example `{name}: {_spelled(example)}`."


def _spelled(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_spelled(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_spelled, value)) + "]"
    return str(value)
