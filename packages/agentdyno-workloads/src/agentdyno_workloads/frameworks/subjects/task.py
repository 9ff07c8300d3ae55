"""What every framework is asked to do, and what a subject offers for it. Standard library only."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias, TypeVar

INSTRUCTIONS = "You calculate."
MODEL = os.environ.get("DYNO_FRAMEWORK_MODEL", "small")
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
RECEIVED: list[tuple[object, object]] = []
"""What the tool was called with: arguments that a framework should have refused show up here."""

T = TypeVar("T")
Told: TypeAlias = Awaitable[T] | T
Call: TypeAlias = Callable[[str], Told[str]]


def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    RECEIVED.append((a, b))
    return a + b


@dataclass(frozen=True, slots=True)
class FrameworkSubject:
    """An agent of a framework, and the ways in which it can be asked; ``None`` where the framework offers none.

    ``agent`` is the framework's object, ``None`` for a bare loop. ``call`` answers one task. ``stream`` does so and
    calls its second argument for every piece of text. ``converse`` puts several texts to one conversation and returns
    the last answer. ``structured`` returns ``{"a": ..., "b": ...}`` as the framework's own typed output.
    """

    agent: Any
    call: Call
    stream: Callable[[str, Callable[[], None]], Told[str]] | None = None
    converse: Callable[[list[str]], Told[str]] | None = None
    structured: Callable[[str], Told[dict[str, int]]] | None = None


def base_url() -> str:
    return os.environ["OPENAI_BASE_URL"]


def pair_type() -> Any:
    """A class of pydantic, which all of these frameworks use, for structured answers."""
    return import_module("pydantic").create_model("Sum", a=(int, ...), b=(int, ...))
