"""Places inside JSON: ``data.answer``, ``choices.0.text`` or ``choices[0].text``."""

from __future__ import annotations

import re

_INDEX = re.compile(r"\[(-?[0-9]+)\]")


class NotThere(LookupError):
    """The path leads nowhere; the message says how far it went."""


def pick(value: object, path: str) -> object:
    """What is at ``path``; the whole value for an empty one. A number picks from a list, negative from its end."""
    found, walked = value, ""
    for part in _INDEX.sub(r".\1", path).strip(".").split(".") if path else ():
        if isinstance(found, dict) and part in found:
            found = found[part]
        elif isinstance(found, list) and _is_index(part, len(found)):
            found = found[int(part)]
        else:
            raise NotThere(f"there is no {part!r} in {walked or 'the answer'}, which is {_shape(found)}")
        walked = f"{walked}.{part}" if walked else part
    return found


def pick_or_none(value: object, path: str) -> object:
    """``None`` where the path is empty or leads nowhere."""
    try:
        return pick(value, path) if path else None
    except NotThere:
        return None


def _is_index(part: str, length: int) -> bool:
    return re.fullmatch(r"-?[0-9]{1,9}", part) is not None and -length <= int(part) < length


def _shape(value: object) -> str:
    if isinstance(value, dict):
        names = ", ".join(sorted(map(str, value))[:8])
        return f"an object with {names}" if names else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "null" if value is None else repr(value)[:40]
