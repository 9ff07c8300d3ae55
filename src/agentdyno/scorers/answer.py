"""What scorers read out of an answer: its text, the JSON in it, the code in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

LONGEST_JSON = 1_000_000
"""Characters of an answer in which JSON is looked for."""
_TRIES = 200
_FENCE = re.compile(
    r"^[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([^\s`]*+)[^\n]*+\n(.*?)(?:^[ \t]*+\1[`~]*+[ \t]*+$|\Z)", re.M | re.S
)


def as_text(value: object) -> str:
    """A text as it is, nothing as an empty text, and any other value as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, default=str)


def texts(target: object) -> list[str]:
    """The texts that a target allows or asks for: one, or those of a list."""
    if isinstance(target, (list, tuple)):
        return [as_text(item) for item in target]
    return [as_text(target)]


def shortened(text: str, most: int = 80) -> str:
    """The text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def fenced_blocks(text: str) -> list[tuple[str, str]]:
    """Language (lower case, may be empty) and content of every block between code fences, the last one even open."""
    return [(found[2].lower(), found[3]) for found in _FENCE.finditer(text)]


def find_json(output: object) -> tuple[bool, object]:
    """Whether an answer holds JSON, and which: the whole of it, a fenced block, or the longest object or array."""
    if isinstance(output, (Mapping, list, tuple, int, float)):
        return True, output
    text = as_text(output)[:LONGEST_JSON].strip()
    for candidate in _candidates(text):
        try:
            return True, json.loads(candidate, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
    return _longest(text)


def _candidates(text: str) -> Iterator[str]:
    yield text
    blocks = fenced_blocks(text)
    yield from (content for language, content in blocks if language.startswith("json"))
    yield from (content for language, content in blocks if not language.startswith("json"))


def _longest(text: str) -> tuple[bool, object]:
    decoder = json.JSONDecoder(parse_constant=_refuse)
    best: tuple[int, object] | None = None
    position, tries = 0, 0
    while (start := _next_opening(text, position)) is not None and tries < _TRIES:
        tries += 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        if best is None or end - start > best[0]:
            best = (end - start, value)
        position = end
    return (False, None) if best is None else (True, best[1])


def _next_opening(text: str, position: int) -> int | None:
    found = [place for sign in "{[" if (place := text.find(sign, position)) >= 0]
    return min(found, default=None)


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")
