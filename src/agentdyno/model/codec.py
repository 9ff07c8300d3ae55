"""Values of the vocabulary to JSON and back, driven by their annotations."""

from __future__ import annotations

import json
import math
import re
import types
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from json.encoder import encode_basestring
from operator import attrgetter
from typing import Any, TypeVar, cast

T = TypeVar("T")
_ATOMS = frozenset({type(None), str, bool, int})
_HALF_SURROGATE = re.compile("[\ud800-\udfff]")


def to_plain(value: object) -> Any:
    """Dataclasses, enums, tuples and mappings as dicts, strings and lists that JSON can hold.

    NaN and infinity become null, which reads back as "unknown": a reading that is null is left out.
    """
    kind: type = type(value)
    if kind in _ATOMS:
        return value
    if kind is float:
        return value if math.isfinite(value) else None  # type: ignore[arg-type]
    if kind is dict:
        return {key if type(key) is str else str(key): to_plain(item) for key, item in value.items()}  # type: ignore[attr-defined]
    if kind is list or kind is tuple:
        return [to_plain(item) for item in value]  # type: ignore[attr-defined]
    return _form(kind)(value)


@cache
def _form(kind: type) -> Callable[[Any], Any]:
    """What makes plain values of those of a type that is none of the plain ones itself."""
    if issubclass(kind, Enum):
        return attrgetter("value")
    if issubclass(kind, (str, bool, int)):
        return _as_it_is
    if issubclass(kind, float):
        return lambda number: number if math.isfinite(number) else None
    if is_dataclass(kind):
        names = tuple(field.name for field in fields(kind) if field.init)
        # An empty tuple is an empty list by the time it is looked at.
        rare = tuple((name, to_plain(default)) for name, default in left_out(kind))
        return partial(_plain_fields, names, rare)
    if issubclass(kind, Mapping):
        return lambda mapping: {str(key): to_plain(item) for key, item in mapping.items()}
    if issubclass(kind, (list, tuple)):
        return lambda items: [to_plain(item) for item in items]
    if issubclass(kind, (set, frozenset)):
        return lambda items: [to_plain(item) for item in sorted(items, key=repr)]
    raise TypeError(f"{kind.__name__} has no JSON form")


def _plain_fields(names: tuple[str, ...], rare: tuple[tuple[str, object], ...], value: object) -> dict[str, Any]:
    plain = {}
    for name in names:
        item = getattr(value, name)
        plain[name] = item if type(item) in _ATOMS else to_plain(item)
    for name, default in rare:
        if plain[name] == default:
            del plain[name]
    return plain


def _as_it_is(value: Any, _where: str = "") -> Any:
    return value


def from_plain(kind: type[T], plain: object, where: str = "") -> T:
    """The inverse of ``to_plain`` for a dataclass ``kind``; unknown keys are ignored, missing ones default."""
    return cast(T, _reader(kind)(plain, where or kind.__name__))


def encode(value: object, *, indent: int | None = None) -> str:
    """Strict JSON: no NaN, one document, and always text that UTF-8 can hold."""
    plain = to_plain(value)
    text = _TO_TEXT(plain) if indent is None else _indented(plain, "\n", " " * indent)
    return _HALF_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


_TO_TEXT = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _indented(plain: Any, line: str, step: str) -> str:
    """What ``json.dumps(plain, indent=…)`` writes, which for that leaves its fast code: this takes half of the time.

    ``line`` begins a line where the value stands; what is inside begins ``step`` further to the right.
    """
    kind = type(plain)
    if kind is str:
        return encode_basestring(plain)
    if kind is int or kind is float:
        return repr(plain)  # to_plain leaves no number that JSON does not know
    if kind is dict and plain:
        inner = line + step
        items = [f"{encode_basestring(key)}: {_indented(item, inner, step)}" for key, item in plain.items()]
        return f"{{{inner}{f',{inner}'.join(items)}{line}}}"
    if kind is list and plain:
        inner = line + step
        return f"[{inner}{f',{inner}'.join([_indented(item, inner, step) for item in plain])}{line}]"
    return _TO_TEXT(plain)


@cache
def left_out(kind: type) -> tuple[tuple[str, object], ...]:
    """Fields that are written only where they differ from their default, with that default."""
    return tuple((item.name, _default(item)) for item in fields(kind) if item.metadata.get("left_out"))


def _default(item: Field[object]) -> object:
    return item.default if item.default_factory is MISSING else item.default_factory()


_Reader = Callable[[Any, str], object]
"""From a plain value, and where it stands, to one of the kind that was asked for."""


@dataclass(frozen=True, slots=True)
class _Field:
    """``themselves`` are the types whose values need no reading."""

    name: str
    themselves: Collection[type]
    read: _Reader
    required: bool


@cache
def _schema(kind: type) -> tuple[_Field, ...]:
    """Worked out once for each class: every sample comes this way several times."""
    hints = typing.get_type_hints(kind)
    return tuple(
        _Field(
            field.name,
            _themselves(hints[field.name]),
            _reader(hints[field.name]),
            field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(kind)
        if field.init
    )


def _themselves(kind: Any) -> frozenset[type]:
    if kind in (str, bool, int, float):
        return frozenset({kind})
    kinds = _options(kind)
    if not kinds:
        return frozenset()
    told = (option for option in kinds if option is str or option is type(None))
    return frozenset(told) | _themselves(next(option for option in kinds if option is not type(None)))


def _options(kind: Any) -> tuple[Any, ...]:
    """What a union is of; nothing for any other kind."""
    return typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else ()


def _reader(kind: Any) -> _Reader:
    """Not cached by itself: unions that differ in their order only, which counts here, are equal as keys."""
    if kind is object or kind is Any:
        return _as_it_is
    if is_dataclass(kind):
        return partial(_read_dataclass, kind)
    if options := _options(kind):
        return partial(_read_union, tuple((option, _reader(option)) for option in options))
    origin = typing.get_origin(kind)
    if origin is tuple:
        return _tuple_reader(typing.get_args(kind))
    if origin is not None and issubclass(origin, Mapping):
        value_kind = typing.get_args(kind)[1]
        return partial(_read_mapping, _themselves(value_kind), _reader(value_kind), value_kind is float)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return partial(_read_enum, kind, {item.value: item for item in kind})
    return partial(_read_scalar, kind)


def _read_dataclass(kind: Any, plain: object, where: str) -> object:
    if not isinstance(plain, Mapping):
        raise TypeError(f"{where}: expected an object, got {type(plain).__name__}")
    values = {}
    for field in _schema(kind):
        name = field.name
        if name in plain:
            value = plain[name]
            values[name] = value if type(value) in field.themselves else field.read(value, f"{where}.{name}")
        elif field.required:
            raise ValueError(f"{where}.{name} is missing")
    return kind(**values)


def _read_union(options: tuple[tuple[Any, _Reader], ...], plain: object, where: str) -> object:
    """A text among other kinds (``float | str``) is told by the value itself; all else is the first kind."""
    kinds = [kind for kind, _ in options if kind is not type(None)]
    if plain is None and len(kinds) < len(options):
        return None
    if isinstance(plain, str) and len(kinds) > 1 and str in kinds:
        return plain
    return dict(options)[kinds[0]](plain, where)


def _read_mapping(
    themselves: Collection[type], read: _Reader, without_null: bool, plain: object, where: str
) -> object:
    if not isinstance(plain, Mapping):
        raise TypeError(f"{where}: expected an object, got {type(plain).__name__}")
    return {
        str(key): item if type(item) in themselves else read(item, f"{where}.{key}")
        for key, item in plain.items()
        if not (without_null and item is None)
    }


def _tuple_reader(item_kinds: tuple[Any, ...]) -> _Reader:
    if len(item_kinds) == 2 and item_kinds[1] is Ellipsis:
        return partial(_read_items, _reader(item_kinds[0]))
    return partial(_read_tuple, tuple(_reader(item_kind) for item_kind in item_kinds))


def _read_items(read: _Reader, plain: object, where: str) -> object:
    return tuple(read(item, f"{where}[{i}]") for i, item in enumerate(_as_list(plain, where)))


def _read_tuple(readers: tuple[_Reader, ...], plain: object, where: str) -> object:
    items = _as_list(plain, where)
    if len(readers) != len(items):
        raise ValueError(f"{where}: expected {len(readers)} items, got {len(items)}")
    return tuple(read(item, f"{where}[{i}]") for i, (read, item) in enumerate(zip(readers, items, strict=True)))


def _as_list(plain: object, where: str) -> list[Any] | tuple[Any, ...]:
    if not isinstance(plain, (list, tuple)):
        raise TypeError(f"{where}: expected a list, got {type(plain).__name__}")
    return plain


def _read_enum(kind: type[Enum], known: Mapping[object, Enum], plain: object, where: str) -> object:
    if type(plain) is str and plain in known:
        return known[plain]
    try:
        return kind(plain)
    except ValueError:
        raise ValueError(f"{where}: {plain!r} is none of {', '.join(e.value for e in kind)}") from None


def _read_scalar(kind: Any, plain: object, where: str) -> object:
    if kind is float and isinstance(plain, (int, float)) and not isinstance(plain, bool):
        try:
            return float(plain)
        except OverflowError:
            raise ValueError(f"{where}: the number is too large") from None
    if isinstance(plain, kind) and not (kind is int and isinstance(plain, bool)):
        return plain
    raise TypeError(f"{where}: expected {kind.__name__}, got {type(plain).__name__}")
