"""Plain values: what JSON can hold exactly, and nothing else, so that a stored spec reads back the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from pathlib import PurePath

from agentdyno.specs.files.problems import FileProblem, dotted, got, spec_error

MAX_DEPTH = 32
MAX_VALUES = 100_000
_LARGEST = 2**63 - 1


class NotPlain(Exception):
    """Carries the problem of a value that has no plain form."""

    def __init__(self, problem: FileProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def plain(value: object) -> object:
    """A copy made of dicts, lists, text, finite numbers, booleans and null; raises ``NotPlain``."""
    return _Copier().copy(value, ())


def plain_document(value: object, where: str) -> object:
    """A plain copy; what has no plain form is a ``SpecError`` at ``where``."""
    try:
        return plain(value)
    except NotPlain as error:
        raise spec_error(where, [error.problem]) from None


def is_plain(value: object) -> bool:
    """Whether a value survives JSON unchanged (tuples count as lists)."""
    try:
        plain(value)
    except NotPlain:
        return False
    return not isinstance(value, (Enum, PurePath))


class _Copier:
    def __init__(self) -> None:
        self.count = 0

    def copy(self, value: object, path: tuple[str | int, ...]) -> object:
        self.count += 1
        if self.count > MAX_VALUES:
            raise _refuse(
                path[:1], f"more than {MAX_VALUES:,} values", "Split it, or keep data in a file of its own."
            )
        if len(path) > MAX_DEPTH:
            raise _refuse(
                path[:3],
                f"nested more than {MAX_DEPTH} levels deep",
                "Flatten the value, or keep data in a file of its own.",
            )
        if isinstance(value, Mapping):
            return self._mapping(value, path)
        if isinstance(value, (list, tuple)):
            return [self.copy(item, (*path, i)) for i, item in enumerate(value)]
        return _scalar(value, path)

    def _mapping(self, value: Mapping[object, object], path: tuple[str | int, ...]) -> dict[str, object]:
        copied: dict[str, object] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise _refuse(path, f"expected text as a key, got {got(key)}", "Put the key in quotes.")
            name = str(_scalar(key, path))
            copied[name] = self.copy(item, (*path, name))
        return copied


def _scalar(value: object, path: tuple[str | int, ...]) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _scalar(value.value, path)
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, str):
        text = str(value)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _refuse(
                path, f"text with half a surrogate pair: {got(text)}", "Write the character itself."
            ) from None
        return text
    if isinstance(value, int):
        if abs(value) > _LARGEST:
            raise _refuse(path, "an integer beyond 64 bits", "Put the number in quotes to pass it as text.")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _refuse(
                path, f"expected a finite number, got {value}", "Give a finite number, or leave the key out."
            )
        return float(value)
    raise _refuse(
        path,
        f"expected text, a number, true/false, a list or a mapping, got a {type(value).__name__}",
        "Convert it to one of these.",
    )


def _refuse(path: tuple[str | int, ...], message: str, remedy: str) -> NotPlain:
    return NotPlain(FileProblem(dotted(path), message, remedy))
