"""A plain document against the file format; what pydantic finds, in the user's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from agentdyno.errors import nearest
from agentdyno.specs.files.problems import FileProblem, dotted, got, spec_error

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


def validate_as(kind: type[BaseModel], document: Mapping[str, object], where: str) -> dict[str, Any]:
    """What the document sets, in the normal form of ``kind``; raises one ``SpecError`` for all it finds."""
    try:
        model = kind.model_validate(document)
    except ValidationError as error:
        raise spec_error(where, [_problem(item, kind) for item in error.errors()]) from None
    return model.model_dump(exclude_unset=True)


def _problem(error: ErrorDetails, root: type[BaseModel]) -> FileProblem:
    loc = error["loc"]
    owner, name, field = _field_at(loc, root)
    context: Mapping[str, Any] = error.get("ctx") or {}
    key = dotted(loc)
    kind, value = error["type"], error["input"]
    if kind == "dyno":
        within = str(context["key"])
        dot = "." if key and within and not within.startswith("[") else ""
        return FileProblem(f"{key}{dot}{within}", context["message"], context["remedy"])
    if kind == "extra_forbidden":
        remedy = nearest(str(loc[-1])[:200], owner.model_fields)
        if "config" in owner.model_fields:
            remedy += " Options of the agent itself go below `config:`."
        return FileProblem(key, f"unknown key {loc[-1]!r}"[:120], remedy)
    if kind == "missing":
        return FileProblem(key, "expected a value, the key is missing", _remedy(name, field))
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
    return FileProblem(key, expected, _remedy(name, field))


def _field_at(loc: Sequence[str | int], root: type[BaseModel]) -> tuple[type[BaseModel], str, FieldInfo | None]:
    """The model that holds the last part of a location, and the known field that the location leads to."""
    owner, name, field = root, "", None
    kind: object = root
    for part in loc:
        kind = _bare(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            owner = kind
            found = kind.model_fields.get(str(part))
            if found is None:
                return owner, name, None
            name, field, kind = str(part), found, found.annotation
        elif get_origin(kind) in (list, dict):  # a position, or a name that the user chose
            kind = get_args(kind)[-1]
        else:
            break
    return owner, name, field


def _bare(kind: object) -> object:
    """An annotation without what surrounds its type: validators, and the choice to leave it empty."""
    while True:
        origin, options = get_origin(kind), [item for item in get_args(kind) if item is not type(None)]
        if origin is Annotated or (origin in (Union, UnionType) and len(options) == 1):
            kind = options[0]
        else:
            return kind


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
