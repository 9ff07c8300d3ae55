"""The parameters of an experiment, as its signature declares them.

Annotations are read as text, so that the same description comes from source code that is never imported
and from a live class.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentdyno.model.metric import Metric
from agentdyno.model.sample import LEFT_OUT
from agentdyno.settings.setting import JSON_NAMES, Parameter, json_type

__all__ = ["ExperimentInfo", "Parameter", "json_type", "merge_param_schema", "parse_annotation"]

_PYTHON_NAMES = {
    "int": "integer",
    "float": "number",
    "str": "string",
    "bool": "boolean",
    "list": "array",
    "List": "array",
    "tuple": "array",
    "Tuple": "array",
    "set": "array",
    "Set": "array",
    "frozenset": "array",
    "FrozenSet": "array",
    "Sequence": "array",
    "Iterable": "array",
    "Collection": "array",
    "dict": "object",
    "Dict": "object",
    "Mapping": "object",
    "MutableMapping": "object",
    "None": "null",
    "NoneType": "null",
    "Path": "string",
}


@dataclass(frozen=True, slots=True)
class ExperimentInfo:
    """What is known of an experiment without running it. ``open`` means that it takes any further parameter,
    ``yields`` that a trial gives several samples."""

    name: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    metrics: tuple[Metric, ...] = ()
    origin: str = ""
    open: bool = False
    iterations: int | None = None
    yields: bool = field(default=False, metadata=LEFT_OUT)

    def parameter(self, name: str) -> Parameter | None:
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


def parse_annotation(text: str) -> tuple[tuple[str, ...], tuple[object, ...]]:
    """JSON types and literal choices of an annotation's text; both empty when it allows anything.

    ``null`` comes last. Choices are given only where nothing else is allowed: ``int | Literal["auto"]`` are types.
    """
    types: list[str] = []
    choices: list[object] = []
    if not _collect_text(text, types, choices):
        return (), ()
    if choices and any(name != "null" for name in types):
        types, choices = [*types, *map(json_type, choices)], []
    if choices and "null" in types and None not in choices:
        choices.append(None)
    types = [*types, *map(json_type, choices)]
    ordered = sorted(dict.fromkeys(types), key=lambda name: name == "null")
    return tuple(ordered), tuple(choices)


def _collect_text(text: str, types: list[str], choices: list[object]) -> bool:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return _collect(node, types, choices)


def _collect(node: ast.expr, types: list[str], choices: list[object]) -> bool:
    """Adds what ``node`` allows; false when it cannot be told."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _collect(node.left, types, choices) and _collect(node.right, types, choices)
    if isinstance(node, ast.Constant):
        if node.value is None:
            types.append("null")
            return True
        return isinstance(node.value, str) and _collect_text(node.value, types, choices)
    if isinstance(node, ast.Call):  # a live Optional["int"] is spelled Optional[ForwardRef('int')]
        return _last_name(node.func) == "ForwardRef" and _collect(node.args[0], types, choices)
    if not isinstance(node, ast.Subscript):
        return _add_named(_last_name(node), types)
    head = _last_name(node.value)
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if head == "Optional":
        types.append("null")
        return _collect(items[0], types, choices)
    if head == "Union":
        return all(_collect(item, types, choices) for item in items)
    if head in ("Annotated", "Final", "InitVar"):
        return _collect(items[0], types, choices)
    if head == "Literal":
        return _add_literals(items, choices)
    return _add_named(head, types)


def _add_named(name: str, types: list[str]) -> bool:
    if name not in _PYTHON_NAMES:
        return False
    types.append(_PYTHON_NAMES[name])
    return True


def _add_literals(items: Sequence[ast.expr], choices: list[object]) -> bool:
    """False where a choice is no plain value, such as a member of an enum."""
    try:
        values = [ast.literal_eval(item) for item in items]
    except ValueError:
        return False
    choices.extend(values)
    return bool(values)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def merge_param_schema(parameters: Sequence[Parameter], schema: Mapping[str, object]) -> tuple[Parameter, ...]:
    """The signature's parameters with what a class's ``param_schema`` adds: type, default, bounds, choices.

    Takes JSON Schema (``{"properties": {...}, "required": [...]}``) and the plain form
    (``{"size": {"type": "int", "default": 10, "min": 1}}`` or ``{"size": 10}``).
    """
    properties = schema.get("properties")
    is_json_schema = isinstance(properties, Mapping) or schema.get("type") == "object"
    rows = properties if isinstance(properties, Mapping) else {} if is_json_schema else schema
    required = schema.get("required") if is_json_schema else None
    known = {parameter.name: parameter for parameter in parameters}
    for name, row in rows.items():
        base = known.get(name, Parameter(name))
        if not isinstance(row, Mapping):
            known[name] = Parameter(name, base.types, False, row, base.choices, description=base.description)
            continue
        known[name] = _with_row(base, row, isinstance(required, Sequence) and name in required)
    return tuple(known.values())


def _with_row(base: Parameter, row: Mapping[str, object], required: bool) -> Parameter:
    kind = row.get("type")
    names = [kind] if isinstance(kind, (str, type)) else kind if isinstance(kind, Sequence) else []
    types = tuple(_type_named(name.__name__ if isinstance(name, type) else str(name)) for name in names)
    choices = row.get("choices", row.get("enum", base.choices))
    if isinstance(choices, (set, frozenset)):
        choices = sorted(choices, key=repr)
    minimum = row.get("min", row.get("minimum", base.minimum))
    maximum = row.get("max", row.get("maximum", base.maximum))
    has_default = "default" in row
    return Parameter(
        base.name,
        tuple(name for name in types if name) or base.types,
        required or bool(row.get("required") is True) or (base.required and not has_default),
        row["default"] if has_default else base.default,
        tuple(choices) if isinstance(choices, (list, tuple)) else (),
        minimum if isinstance(minimum, (int, float)) else None,
        maximum if isinstance(maximum, (int, float)) else None,
        str(row.get("description", base.description)),
    )


def _type_named(name: str) -> str:
    """The JSON type of a Python or JSON type's name, or an empty text."""
    return name if name in JSON_NAMES else _PYTHON_NAMES.get(name, "")
