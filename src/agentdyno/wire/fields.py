"""Fields of decoded JSON by type: what is missing or of another type is absent, never an exception."""

from __future__ import annotations

import math
from collections.abc import Mapping


def mapping(value: object, key: str | None = None) -> Mapping[str, object]:
    found = value if key is None else _get(value, key)
    return found if isinstance(found, dict) else {}


def items(value: object, key: str | None = None) -> list[object]:
    found = value if key is None else _get(value, key)
    return found if isinstance(found, list) else []


def text(value: object, key: str) -> str:
    found = _get(value, key)
    return found if isinstance(found, str) else ""


def count(value: object, key: str) -> int | None:
    found = _get(value, key)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def number(value: object, key: str) -> float | None:
    """Finite and not negative."""
    found = _get(value, key)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    try:
        known = float(found)
    except OverflowError:
        return None
    return known if math.isfinite(known) and known >= 0 else None


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, dict) else None
