"""Two trajectories: where they part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentdyno.model.case import Event
from agentdyno.model.identity import canonical_json

_Step = tuple[str, str, str]


def first_divergence(first: Sequence[Event], second: Sequence[Event]) -> int | None:
    """The index of the first step that differs in kind, name or content; ``None`` where the trajectories are equal.

    Where one ends earlier, that is its length. Times and details are not looked at, and blanks in texts count alike.
    """
    for index, (mine, other) in enumerate(zip(first, second, strict=False)):
        if _step(mine) != _step(other):
            return index
    return None if len(first) == len(second) else min(len(first), len(second))


def _step(event: Event) -> _Step:
    return event.kind, event.name, canonical_json(_plain(event.content))


def _plain(content: object) -> object:
    """Content as it compares: every text with single blanks, whole numbers as integers."""
    if isinstance(content, str):
        return " ".join(content.split())
    if isinstance(content, Mapping):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_plain(item) for item in content]
    return int(content) if isinstance(content, float) and content.is_integer() else content
