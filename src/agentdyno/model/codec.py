"""Values of the vocabulary to JSON and back, driven by their annotations."""

from __future__ import annotations

import json
import math
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast

T = TypeVar("T")
_ATOMS = frozenset({type(None), str, bool, int})
_HALF_SURROGATE = re.compile("[\ud800-\udfff]")


def to_plain(value: object) -> Any:
    """Dataclasses, enums, tuples and mappings as dicts, strings and lists that JSON can hold.

    NaN and infinity become null, which reads back as "unknown": a reading that is null is left out.
    """
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is float:
        return value if math.isfinite(value) else None  # type: ignore[arg-type]
    if kind is dict:
        return {key if type(key) is str else str(key): to_plain(item) for key, item in value.items()}  # type: ignore[attr-defined]
    if kind is list or kind is tuple:
        return [to_plain(item) for item in value]  # type: ignore[attr-defined]
    return _to_plain(value)


def _to_plain(value: object) -> Any:
    """What is none of the plain types themselves: their subclasses, dataclasses, enums, other mappings, sets."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        plain = {name: to_plain(getattr(value, name)) for name in _names(type(value))}
        for name, default in left_out(type(value)):
            if plain[name] == default:
                del plain[name]
        return plain
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return [to_plain(item) for item in sorted(value, key=repr)]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def from_plain(kind: type[T], plain: object, where: str = "") -> T:
    """The inverse of ``to_plain`` for a dataclass ``kind``; unknown keys are ignored, missing ones default."""
    return cast(T, _read(kind, plain, where or kind.__name__))


def encode(value: object, *, indent: int | None = None) -> str:
    """Strict JSON: no NaN, one document, and always text that UTF-8 can hold."""
    text = json.dumps(to_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)
    return _HALF_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.init)


@cache
def left_out(kind: type) -> tuple[tuple[str, object], ...]:
    """Fields that are written only where they differ from their default, with that default."""
    return tuple((field.name, field.default) for field in fields(kind) if field.metadata.get("left_out"))


@cache
def _schema(kind: type) -> tuple[tuple[str, Any, bool], ...]:
    hints = typing.get_type_hints(kind)
    return tuple(
        (field.name, hints[field.name], field.default is MISSING and field.default_factory is MISSING)
        for field in fields(kind)
        if field.init
    )


def _read(kind: Any, plain: object, where: str) -> object:
    if kind is object or kind is Any:
        return plain
    if is_dataclass(kind):
        return _read_dataclass(cast(type, kind), plain, where)
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        options = typing.get_args(kind)
        if plain is None and type(None) in options:
            return None
        kinds = [option for option in options if option is not type(None)]
        # A text among other kinds (``float | str``) is told by the value itself; all else is the first kind.
        return plain if isinstance(plain, str) and len(kinds) > 1 and str in kinds else _read(kinds[0], plain, where)
    if origin is tuple:
        return _read_tuple(typing.get_args(kind), plain, where)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(plain, Mapping):
            raise TypeError(f"{where}: expected an object, got {type(plain).__name__}")
        value_kind = typing.get_args(kind)[1]
        return {
            str(key): _read(value_kind, item, f"{where}.{key}")
            for key, item in plain.items()
            if not (item is None and value_kind is float)
        }
    return _read_scalar(kind, plain, where)


def _read_dataclass(kind: type, plain: object, where: str) -> object:
    if not isinstance(plain, Mapping):
        raise TypeError(f"{where}: expected an object, got {type(plain).__name__}")
    values = {}
    for name, hint, required in _schema(kind):
        if name in plain:
            values[name] = _read(hint, plain[name], f"{where}.{name}")
        elif required:
            raise ValueError(f"{where}.{name} is missing")
    return kind(**values)


def _read_tuple(item_kinds: tuple[Any, ...], plain: object, where: str) -> object:
    if not isinstance(plain, (list, tuple)):
        raise TypeError(f"{where}: expected a list, got {type(plain).__name__}")
    if len(item_kinds) == 2 and item_kinds[1] is Ellipsis:
        return tuple(_read(item_kinds[0], item, f"{where}[{i}]") for i, item in enumerate(plain))
    if len(item_kinds) != len(plain):
        raise ValueError(f"{where}: expected {len(item_kinds)} items, got {len(plain)}")
    return tuple(
        _read(item_kind, item, f"{where}[{i}]")
        for i, (item_kind, item) in enumerate(zip(item_kinds, plain, strict=True))
    )


def _read_scalar(kind: Any, plain: object, where: str) -> object:
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(plain)
        except ValueError:
            raise ValueError(f"{where}: {plain!r} is none of {', '.join(e.value for e in kind)}") from None
    if kind is float and isinstance(plain, (int, float)) and not isinstance(plain, bool):
        try:
            return float(plain)
        except OverflowError:
            raise ValueError(f"{where}: the number is too large") from None
    if isinstance(plain, kind) and not (kind is int and isinstance(plain, bool)):
        return plain
    raise TypeError(f"{where}: expected {kind.__name__}, got {type(plain).__name__}")
