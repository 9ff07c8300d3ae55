"""What an agent is handed beside the question: dependencies, a context. Standard library only."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path

from agentdyno.contracts import CaseFailed
from agentdyno.model.sample import FailureKind
from agentdyno.registry.local import load_target, parse_reference


class NotGiven:
    """Stands for a key that a config does not have; ``null`` is a value."""


NOT_GIVEN = NotGiven()


async def handed(key: str, value: object, kind: object = None) -> object:
    """What the value of a config's ``key`` stands for.

    ``file.py@name`` and ``module:name`` are what they name, called where that is a function or a class, so that each
    turn gets its own. A mapping becomes a ``kind`` where that is a class of something else than mappings. Raises
    ``CaseFailed`` where it cannot be made.
    """
    try:
        if isinstance(value, str) and kind is not str:
            return await _named(value)
        if isinstance(value, Mapping) and isinstance(kind, type) and not issubclass(kind, (Mapping, type(None))):
            return kind(**value)
    except Exception as error:
        message = f"{key} of its config cannot be made: {type(error).__name__}: {error}"
        raise CaseFailed(FailureKind.EXCEPTION, message, fatal=True) from error
    return value


async def _named(text: str) -> object:
    target = parse_reference(text, Path.cwd())
    if target is None:
        return text
    found = load_target("objects", target)
    made = found() if callable(found) else found
    return await made if inspect.isawaitable(made) else made
