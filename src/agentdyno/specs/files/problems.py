"""What is wrong with a spec, collected so that one error tells it all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentdyno.errors import SpecError
from agentdyno.model.parameter import json_type

_LISTED = 20
_SHOWN = 60
_PLAIN_KEY = re.compile(r"[\w\-]{1,60}")
_ENTRY = re.compile(r": experiments\[\d+\]$")
_WORDS = {
    "null": "nothing (null)",
    "boolean": "true/false",
    "integer": "an integer",
    "number": "a number",
    "string": "text",
    "array": "a list",
    "object": "a mapping",
}


@dataclass(frozen=True, slots=True)
class FileProblem:
    """``key`` is the dotted key, empty for the whole file; ``message`` says expected and got."""

    key: str
    message: str
    remedy: str


def spec_error(where: str, problems: Sequence[FileProblem]) -> SpecError:
    """One error for all problems: the first leads, the others follow line by line."""
    first, *others = problems
    lines = [first.message]
    lines += [f"also {other.key or 'the file'}: {other.message} ({other.remedy})" for other in others[:_LISTED]]
    if len(others) > _LISTED:
        lines.append(f"and {len(others) - _LISTED} more")
    return SpecError("\n  ".join(lines), where=join_where(where, first.key), remedy=first.remedy)


def join_where(where: str, key: str) -> str:
    """``spec.yaml`` and ``params.x`` as ``spec.yaml: params.x``; below an entry the key is appended to its own."""
    if not key:
        return where
    return f"{where}.{key}" if _ENTRY.search(where) else f"{where}: {key}"


def dotted(path: Iterable[str | int]) -> str:
    """``("experiments", 1, "params", "x")`` as ``experiments[1].params.x``; odd names are quoted."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        name = part if _PLAIN_KEY.fullmatch(part) else shorten(repr(part))
        text += f".{name}" if text else name
    return text


def got(value: object) -> str:
    """A value in a message: what it is and, shortened, how it reads."""
    kind = json_type(value)
    word = _WORDS.get(kind, kind)
    if value is None:
        return word
    if isinstance(value, (list, tuple, dict)):
        return f"{word} of {len(value)}" if value else f"{word} without anything in it"
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    return shorten(shown) if kind == "boolean" else f"{word} {shorten(shown)}"


def shorten(text: str) -> str:
    """At most 60 characters of a text."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
