"""The keys at the beginning of a JSON text that may end anywhere."""

from __future__ import annotations

import json
import re

DEPTH = 6
"""How many objects and lists deep keys are looked at."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:"]', re.DOTALL)


def outline(head: bytes) -> frozenset[str]:
    """The paths of all keys down to ``DEPTH``, such as ``benchmarks[].name``; empty for what is no JSON object.

    A text that is cut off gives the keys that came before the cut.
    """
    text = head.decode("utf-8", "ignore").lstrip("\ufeff \t\r\n")
    if not text.startswith("{"):
        return frozenset()
    found: set[str] = set()
    open_ones: list[tuple[str, str]] = []  # bracket and path of each container
    name = last = ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        bracket, path = open_ones[-1] if open_ones else ("", "")
        if token in "{[":
            inner = _joined(path, name) if bracket == "{" else path
            open_ones.append((token, inner + "[]" if token == "[" else inner))
        elif token in "}]":
            open_ones.pop()
            if not open_ones:
                break
        elif token == ":":
            name = _unquoted(last)
            if len(open_ones) <= DEPTH:
                found.add(_joined(path, name))
        elif token == '"':
            break  # the text ends inside a string
        last = token
    return frozenset(found)


def _joined(outer: str, name: str) -> str:
    return f"{outer}.{name}" if outer else name


def _unquoted(token: str) -> str:
    try:
        value = json.loads(token)
    except ValueError:
        return token
    return value if isinstance(value, str) else token
