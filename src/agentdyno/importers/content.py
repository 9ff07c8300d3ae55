"""What an evaluation asked and what was answered: kept to be read, so that odd characters do not get it refused."""

from __future__ import annotations

import ast
import json
import math
import re

from agentdyno.importers.document import DEEPEST, Node

MOST_CHARACTERS = 100_000
"""What is kept of one text."""
_SECRET = re.compile(
    r"(?i)(api|access|private)[-_]?key|token$|secret|password|authorization|credential|cookie|^headers$"
)
_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")
_STAND_IN = "\ufffd"


def shown(node: Node | None, levels: int = DEEPEST) -> object:
    """A JSON value that every store can hold: no half characters, no NaN, not too deep, long texts cut."""
    return None if node is None else _kept(node.value, levels)


def text_of(node: Node | None) -> str:
    """A text as it is and any other value as JSON; "" for nothing."""
    value = shown(node)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def settings(node: Node | None) -> dict[str, object]:
    """The members of an object that are set, without what looks like a secret, at any depth."""
    if node is None:
        return {}
    kept = {_clean(key): without_secrets(member) for key, member in node.items() if not _SECRET.search(key)}
    return {key: value for key, value in kept.items() if value is not None}


def without_secrets(node: Node | None) -> object:
    """As ``shown``, less the members of objects whose names say that they hold a secret."""
    return None if node is None else _kept(_open(node.value, DEEPEST), DEEPEST)


def cut(text: str, most: int = MOST_CHARACTERS) -> str:
    """The beginning and the end, with the number of characters between them."""
    if len(text) <= most:
        return text
    head, tail = most * 3 // 4, most // 4
    return f"{text[:head]} […{len(text) - head - tail:,} characters…] {text[-tail:]}"


def share(node: Node) -> float | None:
    """A value in 0..1, from a number or a yes and no; ``None`` for any other."""
    value = node.value
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float) and 0.0 <= value <= 1.0:
        return node.number()
    return None


def _kept(value: object, levels: int) -> object:
    if isinstance(value, str):
        return cut(_clean(value))
    if isinstance(value, dict):
        if not levels:
            return "{…}"
        return {_clean(str(key)): _kept(member, levels - 1) for key, member in value.items()}
    if isinstance(value, list):
        return [_kept(element, levels - 1) for element in value] if levels else "[…]"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        return str(value)
    return value


def _open(value: object, levels: int) -> object:
    if levels and isinstance(value, dict):
        return {key: _open(member, levels - 1) for key, member in value.items() if not _SECRET.search(str(key))}
    if levels and isinstance(value, list):
        return [_open(element, levels - 1) for element in value]
    return value if levels else None


def _clean(text: str) -> str:
    return _UNKEEPABLE.sub(_STAND_IN, text)


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


_NUMBER = re.compile(r"[+-]?(\d{1,15}|\d{0,15}\.\d{1,15}|\d{1,15}\.)(e[+-]?\d{1,2})?", re.IGNORECASE)
_DEEPEST = 20


def typed(text: str) -> object:
    """A number where the text is one, else the text."""
    if not _NUMBER.fullmatch(text):
        return text
    return int(text) if text.lstrip("+-").isdigit() else float(text)


def literal(text: str) -> object:
    """What a Python ``repr`` stands for where JSON can hold it, else the text itself."""
    if len(text) > 1000:
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return text
    return value if _is_plain(value, _DEEPEST) else text


def _is_plain(value: object, levels: int) -> bool:
    if levels == 0:
        return False
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, str):
        return "\x00" not in value and not re.search("[\ud800-\udfff]", value)
    if isinstance(value, int | float):
        return abs(value) <= 1e100  # neither infinite nor NaN
    return isinstance(value, list) and all(_is_plain(item, levels - 1) for item in value)
