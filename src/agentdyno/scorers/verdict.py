"""The grades in a judge's reply."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from agentdyno.scorers.answer import find_json

Scale: TypeAlias = Literal["pass/fail", "0-10", "0-1"]
_TOP = {"pass/fail": 1.0, "0-10": 10.0, "0-1": 1.0}
_GENERAL = ("grade", "score", "verdict", "rating")
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.S | re.I)
_VALUE = r"[\s*_`\"':=\-–—]*+(?P<value>pass(?:ed|es)?|fail(?:ed|s|ure)?|yes|no|true|false|[0-9]+(?:\.[0-9]+)?)\b"
_PART = r"(?:\s*+(?:/|out\s+of)\s*+(?P<top>[0-9]+(?:\.[0-9]+)?)|\s*+(?P<percent>%))?"
_GOOD, _BAD = ("pass", "yes", "true"), ("fail", "no", "false")


def read_verdict(reply: str, names: Sequence[str], scale: Scale) -> dict[str, float | None]:
    """The grade of each name in 0..1; ``None`` where the reply has none, or one outside the scale.

    The last one said counts. A single name is also found as "grade", or where the reply is nothing but a grade.
    """
    text = _THOUGHT.sub(" ", reply).strip()
    fields = _fields(text)
    found: dict[str, float | None] = {}
    for name in names:
        labels = (name, *(_GENERAL if len(names) == 1 else ()))
        given = next((fields[label] for label in labels if label in fields), None)
        grade = None if given is None else _grade_of(json.dumps(given), scale)
        found[name] = grade if grade is not None else _labelled(text, labels, scale)
    if len(names) == 1 and found[names[0]] is None and not _has_label(text, (names[0], *_GENERAL)):
        found[names[0]] = _grade_of(text, scale)
    return found


def _fields(text: str) -> dict[str, object]:
    is_there, value = find_json(text)
    return {str(key).lower(): item for key, item in value.items()} if is_there and isinstance(value, dict) else {}


def _label(labels: Sequence[str]) -> str:
    return rf"\b(?:{'|'.join(map(re.escape, labels))})\b"


def _has_label(text: str, labels: Sequence[str]) -> bool:
    return re.search(rf"{_label(labels)}[\s*_`\"']*+[:=]", text, re.I) is not None


def _labelled(text: str, labels: Sequence[str], scale: Scale) -> float | None:
    """The last grade that follows one of the labels and a colon."""
    pattern = rf"{_label(labels)}[\s*_`\"']*+[:=]{_VALUE}{_PART}"
    matches = list(re.finditer(pattern, text, re.I))
    return _value(matches[-1], scale) if matches else None


def _grade_of(text: str, scale: Scale) -> float | None:
    """A text that is a grade and nothing else."""
    match = re.fullmatch(rf"\W*?{_VALUE}{_PART}\W*", text[:200], re.I) if len(text) <= 200 else None
    return _value(match, scale) if match else None


def _value(match: re.Match[str], scale: Scale) -> float | None:
    word = match["value"].lower()
    if word.startswith(_GOOD + _BAD):
        return float(word.startswith(_GOOD)) if scale == "pass/fail" else None
    top = _TOP[scale]
    if match["top"]:
        top = float(match["top"])
    elif match["percent"]:
        top = 100.0
    value = float(word)
    if scale == "pass/fail" and value not in (0.0, 1.0):
        return None
    return value / top if top > 0 and 0 <= value <= top else None
