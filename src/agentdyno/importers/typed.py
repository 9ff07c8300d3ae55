"""Parameters that a tool wrote as text."""

from __future__ import annotations

import ast
import re

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
