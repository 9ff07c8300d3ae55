"""Two trajectories side by side: where they part, and which step of one answers to which of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from agentdyno.model.case import Event
from agentdyno.model.identity import canonical_json

Pair = tuple[Event | None, Event | None, bool]
"""A step of each side, ``None`` where the other side has none to set beside it, and whether they are the same."""
_Step = tuple[str, str, str]

MOST_COMPARED = 4_000_000
"""Pairs of steps that are looked at for the best alignment; longer trajectories are set side by side in order."""


def first_divergence(first: Sequence[Event], second: Sequence[Event]) -> int | None:
    """The index of the first step that differs in kind, name or content; ``None`` where the trajectories are equal.

    Where one ends earlier, that is its length. Times and details are not looked at, and blanks in texts count alike.
    """
    for index, (mine, other) in enumerate(zip(first, second, strict=False)):
        if _step(mine) != _step(other):
            return index
    return None if len(first) == len(second) else min(len(first), len(second))


def aligned(first: Sequence[Event], second: Sequence[Event]) -> list[Pair]:
    """Every step of both exactly once and in order, equal ones side by side.

    Between equal ones, steps that differ stand beside each other as long as both sides have some.
    """
    steps, others = [_step(event) for event in first], [_step(event) for event in second]
    found: list[Pair] = []
    for mine, theirs in _stretches(steps, others):
        alike = [step == other for step, other in zip_longest(steps[mine], others[theirs])]
        pairs = zip_longest(first[mine], second[theirs])
        found += [(event, beside, same) for (event, beside), same in zip(pairs, alike, strict=True)]
    return found


def _stretches(first: Sequence[_Step], second: Sequence[_Step]) -> list[tuple[slice, slice]]:
    """Stretches of one side and of the other that belong together, in order; they cover both sides."""
    start = _common(first, second)
    end = _common(first[start:][::-1], second[start:][::-1])
    lengths = len(first) - start - end, len(second) - start - end
    middle = slice(start, start + lengths[0]), slice(start, start + lengths[1])
    found = [(slice(0, start), slice(0, start))]
    if lengths[0] * lengths[1] > MOST_COMPARED:
        found.append(middle)
    else:
        matcher = SequenceMatcher(None, first[middle[0]], second[middle[1]], autojunk=False)
        for _, low, high, beside, until in matcher.get_opcodes():
            found.append((slice(start + low, start + high), slice(start + beside, start + until)))
    found.append((slice(len(first) - end, len(first)), slice(len(second) - end, len(second))))
    return found


def _common(first: Sequence[_Step], second: Sequence[_Step]) -> int:
    """How many steps from the start are equal."""
    for index, (mine, other) in enumerate(zip(first, second, strict=False)):
        if mine != other:
            return index
    return min(len(first), len(second))


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
