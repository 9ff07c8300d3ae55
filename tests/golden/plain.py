"""Values with everything replaced that differs from run to run or from machine to machine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

DIGITS = 9
"""Significant digits that every machine agrees on."""


def rounded(value: object) -> object:
    """The value with its floating-point numbers to nine digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def replaced(value: object, change: Callable[[str, object], object], key: str = "") -> object:
    """The value with ``change(key, item)`` in place of every item below a key; what it returns is not looked into
    where it differs."""
    changed = change(key, value)
    if changed is not value:
        return changed
    if isinstance(value, dict):
        return {name: replaced(item, change, name) for name, item in value.items()}
    return [replaced(item, change, key) for item in value] if isinstance(value, list) else value


def named(placeholders: Mapping[str, str]) -> Callable[[str, object], object]:
    """A change that puts ``<placeholder>`` for what stands under these keys, unless it is null or empty."""

    def change(key: str, value: object) -> object:
        return f"<{placeholders[key]}>" if key in placeholders and value not in (None, "", [], {}) else value

    return change


def round_text(text: str) -> str:
    """JSON text with numbers to nine digits, as the program lays it out."""
    return json.dumps(rounded(json.loads(text)), indent=2, ensure_ascii=False)


def without_run_ids(text: str) -> str:
    """Ids of runs and jobs, whole or their first 13 characters, as placeholders."""
    text = re.sub(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b", "<run>", text)
    return re.sub(r"\b01[0-9a-f]{6}-[0-9a-f]{4}\b", "<run>", text)
