"""Hypothesis strategies for every value of the vocabulary, driven by the annotations of its fields."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

from hypothesis import strategies as st

text = st.text(max_size=8) | st.sampled_from(
    ["", "\x00", "ẞ \u2028", "a\\b\"c'", "𝒳\U0010ffff", "{}", "null", "x.y[0]"]
)
finite = st.floats(allow_nan=False, allow_infinity=False)
whole = st.integers(-(2**63), 2**63 - 1)
json_values = st.recursive(
    st.none() | st.booleans() | whole | finite | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)


@cache
def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a dataclass, an enum, a collection or a plain type; what is annotated ``object`` is any JSON."""
    if isinstance(kind, type) and is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return st.builds(kind, **{field.name: values_of(hints[field.name]) for field in fields(kind) if field.init})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*(st.none() if option is type(None) else values_of(option) for option in arguments))
    if origin is tuple and arguments[-1] is Ellipsis:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values_of, arguments))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return st.dictionaries(text, values_of(arguments[1]), max_size=2)
    plain: dict[object, st.SearchStrategy[Any]] = {
        object: json_values,
        str: text,
        int: whole,
        float: finite,
        bool: st.booleans(),
    }
    return plain[kind]
