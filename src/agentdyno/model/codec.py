"""Values of the vocabulary to JSON and back, driven by their annotations.

A result file carries ``schema_version``; the history of versions:

1. the first.
0. files of pre-releases: ``arms[].samples`` had ``duration`` and ``cpu`` beside ``readings`` and no
   ``inner_loops``; ``metrics[].ci`` was written ``ci_low``/``ci_high``. Read, never written.
"""

from __future__ import annotations

import json
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast

from agentdyno.errors import ResultError
from agentdyno.model.result import SCHEMA_VERSION, RunResult

T = TypeVar("T")


def to_plain(value: object) -> Any:
    """Dataclasses, enums, tuples and mappings as dicts, strings and lists that JSON can hold."""
    if value is None or isinstance(value, (str, bool, int)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {name: to_plain(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def from_plain(kind: type[T], plain: object, where: str = "") -> T:
    """The inverse of ``to_plain`` for a dataclass ``kind``; unknown keys are ignored, missing ones default."""
    return cast(T, _read(kind, plain, where or kind.__name__))


def encode(value: object, *, indent: int | None = None) -> str:
    """Strict JSON: no NaN, UTF-8, one document."""
    return json.dumps(to_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)


def decode_result(text: str, where: str) -> RunResult:
    """A ``RunResult`` from the text of a result file; ``where`` names the file in errors."""
    try:
        plain = json.loads(text)
    except ValueError as error:
        cut_off = text.strip() and not text.rstrip().endswith("}")
        raise ResultError(
            "the file is cut off" if cut_off else f"not JSON: {error}",
            where=where,
            remedy="If the run is in the store, `dyno report RUN --format json` writes the file again.",
        ) from None
    if not isinstance(plain, dict) or "schema_version" not in plain or "run_id" not in plain:
        raise ResultError(
            "not an agentdyno result (no schema_version and run_id)",
            where=where,
            remedy="Give a result.json that `dyno run` wrote, or the id of a run in the store.",
        )
    version = plain["schema_version"]
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise ResultError(
            f"schema version {version!r} is newer than this agentdyno reads (up to {SCHEMA_VERSION})",
            where=where,
            remedy="Upgrade agentdyno.",
        )
    if version < 1:
        plain = _upgrade_0(plain)
    try:
        return from_plain(RunResult, {**plain, "schema_version": SCHEMA_VERSION})
    except (TypeError, ValueError) as error:
        raise ResultError(f"damaged result: {error}", where=where) from None


def _upgrade_0(plain: dict[str, Any]) -> dict[str, Any]:
    arms = []
    for arm in plain.get("arms", []):
        metrics = {}
        for name, metric in arm.get("metrics", {}).items():
            low, high = metric.get("ci_low"), metric.get("ci_high")
            metrics[name] = {**metric, "ci": None if low is None or high is None else [low, high]}
        samples = []
        for sample in arm.get("samples", []):
            readings = dict(sample.get("readings", {}))
            for old, new in (("duration", "duration_s"), ("cpu", "cpu_s")):
                if sample.get(old) is not None:
                    readings.setdefault(new, sample[old])
            samples.append({**sample, "readings": readings})
        arms.append({**arm, "metrics": metrics, "samples": samples})
    return {**plain, "arms": arms}


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _schema(kind: type) -> tuple[tuple[str, Any, bool], ...]:
    hints = typing.get_type_hints(kind)
    return tuple(
        (field.name, hints[field.name], field.default is MISSING and field.default_factory is MISSING)
        for field in fields(kind)
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
        return _read(next(option for option in options if option is not type(None)), plain, where)
    if origin is tuple:
        return _read_tuple(typing.get_args(kind), plain, where)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(plain, Mapping):
            raise TypeError(f"{where}: expected an object, got {type(plain).__name__}")
        value_kind = typing.get_args(kind)[1]
        return {str(key): _read(value_kind, item, f"{where}.{key}") for key, item in plain.items()}
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
        return float(plain)
    if isinstance(plain, kind) and not (kind is int and isinstance(plain, bool)):
        return plain
    raise TypeError(f"{where}: expected {kind.__name__}, got {type(plain).__name__}")
