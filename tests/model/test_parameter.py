"""Parameters as a signature declares them, and the check of given values."""

from __future__ import annotations

from typing import Any

import pytest

from agentdyno.model import ExperimentInfo, Parameter
from agentdyno.model.parameter import json_type, merge_param_schema, parse_annotation

ANYTHING: tuple[tuple[str, ...], tuple[object, ...]] = ((), ())


@pytest.mark.parametrize(
    ("annotation", "types", "choices"),
    [
        ("int", ("integer",), ()),
        ("float", ("number",), ()),
        ("str", ("string",), ()),
        ("bool", ("boolean",), ()),
        ("None", ("null",), ()),
        ("Optional[int]", ("integer", "null"), ()),
        ("typing.Optional[int]", ("integer", "null"), ()),
        ("int | None", ("integer", "null"), ()),
        ("None | int", ("integer", "null"), ()),
        ("Union[int, str]", ("integer", "string"), ()),
        ("Union[int, str, None]", ("integer", "string", "null"), ()),
        ("int | str | list[int]", ("integer", "string", "array"), ()),
        ("List[int]", ("array",), ()),
        ("list", ("array",), ()),
        ("tuple[int, ...]", ("array",), ()),
        ("collections.abc.Sequence[str]", ("array",), ()),
        ("frozenset[str]", ("array",), ()),
        ("dict[str, Any]", ("object",), ()),
        ("Mapping[str, int] | None", ("object", "null"), ()),
        ("Path", ("string",), ()),
        ("pathlib.Path", ("string",), ()),
        ("'int'", ("integer",), ()),
        ('"int | None"', ("integer", "null"), ()),
        ("Optional['int']", ("integer", "null"), ()),
        ("Optional[ForwardRef('int')]", ("integer", "null"), ()),
        ("'int' | None", ("integer", "null"), ()),
        ("Annotated[int, 'rows']", ("integer",), ()),
        ("typing.Annotated[Optional[int], Field(gt=0)]", ("integer", "null"), ()),
        ("Literal['a', 'b']", ("string",), ("a", "b")),
        ("typing.Literal['a']", ("string",), ("a",)),
        ("Literal[-1, 0, 1]", ("integer",), (-1, 0, 1)),
        ("Literal[1, 'auto', None]", ("integer", "string", "null"), (1, "auto", None)),
        ("Optional[Literal['a', 'b']]", ("string", "null"), ("a", "b", None)),
        ("Literal['a'] | None", ("string", "null"), ("a", None)),
        ("Literal['a'] | Literal['b']", ("string",), ("a", "b")),
        ("int | Literal['auto']", ("integer", "string"), ()),
        ("Union[Literal['auto'], int, None]", ("integer", "string", "null"), ()),
    ],
)
def test_annotations_become_json_types(annotation: str, types: tuple[str, ...], choices: tuple[object, ...]) -> None:
    assert parse_annotation(annotation) == (types, choices)


@pytest.mark.parametrize(
    "annotation",
    [
        "Any",
        "object",
        "Color",
        "np.ndarray",
        "Callable[[int], str]",
        "type[int]",
        "int | Color",
        "Optional[Color]",
        "Literal[Color.RED, 'x']",
        "TypeVar('T')",
        "",
        "not valid(",
        "Optional['not valid(']",
        "3",
        "int +",
        "a\x00b",
        "lambda: int",
    ],
)
def test_what_is_not_understood_allows_anything(annotation: str) -> None:
    assert parse_annotation(annotation) == ANYTHING
    assert of(annotation).problem(object()) is None


def of(annotation: str, **more: Any) -> Parameter:
    types, choices = parse_annotation(annotation)
    return Parameter("x", types, choices=choices, **more)


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        ("int", [0, -5, 10**30], [1.5, "1", True, None, [1]]),
        ("float", [0, 1.5, -2], ["1.5", True, None]),
        ("bool", [True, False], [0, 1, "true"]),
        ("str", ["", "x"], [1, None, ["x"]]),
        ("int | None", [1, None], [True, "x"]),
        ("list[int]", [[], [1], ["not checked"], (1,)], ["text", 1, {}]),
        ("dict[str, Any]", [{}, {"a": 1}], [[], "x"]),
        ("Literal['a', 'b']", ["a", "b"], ["c", None, 1, ["a"]]),
        ("Optional[Literal['a', 'b']]", ["a", "b", None], ["c", 1]),
        ("Literal[0, 1]", [0, 1], [True, False, 2, "0"]),
        ("Literal[-1, 1]", [-1, 1], [0]),
        ("int | Literal['auto']", [1, "auto"], [None, 1.5]),
    ],
)
def test_values_are_checked_against_the_annotation(annotation: str, good: list[object], bad: list[object]) -> None:
    assert [value for value in good if of(annotation).problem(value) is not None] == []
    assert [value for value in bad if of(annotation).problem(value) is None] == []


@pytest.mark.parametrize(
    ("parameter", "value", "said"),
    [
        (of("int"), "10", "expected integer, got string '10'"),
        (of("int"), True, "expected integer, got boolean True"),
        (of("int | None"), 1.5, "expected integer|null, got number 1.5"),
        (of("str"), None, "expected string, got null None"),
        (of("Literal['a', 'b']"), "c", "expected one of 'a', 'b', got 'c'"),
        (of("int", minimum=1), 0, "expected at least 1, got 0"),
        (of("float", maximum=0.5), 0.75, "expected at most 0.5, got 0.75"),
        (Parameter("x", minimum=2), 1, "expected at least 2, got 1"),
    ],
)
def test_a_problem_says_what_was_expected_and_what_came(parameter: Parameter, value: object, said: str) -> None:
    assert parameter.problem(value) == said


def test_bounds_do_not_apply_to_what_is_no_number() -> None:
    assert of("int | None", minimum=1).problem(None) is None
    assert of("bool", minimum=1).problem(False) is None


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        (of("list[int]"), True),
        (of("list[int] | None"), True),
        (of("int"), False),
        (of("int", default=[1]), False),
        (Parameter("x"), False),
        (Parameter("x", default=[1, 2]), True),
        (Parameter("x", default=(1, 2)), True),
        (Parameter("x", default="12"), False),
    ],
)
def test_a_list_is_a_value_only_where_the_parameter_takes_lists(parameter: Parameter, expected: bool) -> None:
    assert parameter.takes_list is expected


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [(of("int | None"), "integer|null"), (of("Literal['a', 1]"), "a|1"), (Parameter("x"), "any")],
)
def test_the_type_has_a_name_for_people(parameter: Parameter, expected: str) -> None:
    assert parameter.type_name == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.0, "number"),
        ("x", "string"),
        ([], "array"),
        ((), "array"),
        ({}, "object"),
        ({1}, "set"),
    ],
)
def test_values_are_called_by_their_json_type(value: object, expected: str) -> None:
    assert json_type(value) == expected


def test_json_schema_adds_to_the_signature() -> None:
    schema = {
        "type": "object",
        "properties": {
            "size": {"type": "integer", "minimum": 1, "maximum": 100, "description": "rows"},
            "mode": {"enum": ["fast", "safe"], "default": "fast"},
            "extra": {"type": ["number", "null"]},
        },
        "required": ["extra"],
    }
    size, mode, extra = merge_param_schema(
        (Parameter("size", (), default=10), Parameter("mode", required=True)), schema
    )
    assert size == Parameter("size", ("integer",), False, 10, (), 1, 100, "rows")
    assert mode == Parameter("mode", (), False, "fast", ("fast", "safe"))
    assert extra == Parameter("extra", ("number", "null"), True)


def test_the_plain_form_adds_to_the_signature() -> None:
    schema = {
        "size": {"type": "int", "default": 10, "min": 1, "max": 9},
        "rate": {"type": float},
        "mode": {"choices": {"b", "a"}},
        "depth": 3,
        "name": {"required": True},
        "odd": {"type": "quaternion"},
    }
    found = {item.name: item for item in merge_param_schema((Parameter("depth", ("integer",), True),), schema)}
    assert found["size"] == Parameter("size", ("integer",), False, 10, (), 1, 9)
    assert found["rate"] == Parameter("rate", ("number",))
    assert found["mode"].choices == ("a", "b")
    assert found["depth"] == Parameter("depth", ("integer",), False, 3)
    assert found["name"].required
    assert found["odd"] == Parameter("odd")


def test_a_schema_without_properties_invents_no_parameter() -> None:
    assert merge_param_schema((), {"type": "object", "additionalProperties": False}) == ()


def test_a_signature_keeps_what_the_schema_does_not_mention() -> None:
    declared = (Parameter("size", ("integer",), True), Parameter("mode", ("string",), choices=("a",)))
    assert merge_param_schema(declared, {"size": {"min": 2}}) == (
        Parameter("size", ("integer",), True, minimum=2),
        declared[1],
    )


def test_parameters_are_found_by_name() -> None:
    info = ExperimentInfo("e", parameters=(Parameter("a"), Parameter("b")))
    assert info.parameter("b") == Parameter("b")
    assert info.parameter("c") is None
