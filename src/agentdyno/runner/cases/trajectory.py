"""What is kept of an answer: trajectories and outputs, cut to a size that a store can hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from agentdyno.model.case import Event
from agentdyno.model.codec import to_plain

TEXT_CHARACTERS = 8_000
"""What is kept of one text in a trajectory."""
TRAJECTORY_CHARACTERS = 200_000
"""What is kept of a whole trajectory: events from its beginning and its end."""
OUTPUT_CHARACTERS = 1_000_000


def cut_text(text: str, most: int) -> str:
    """The beginning and the end, with the number of characters between them."""
    if len(text) <= most:
        return text
    head, tail = most * 3 // 4, most // 4
    return f"{text[:head]} […{len(text) - head - tail:,} characters…] {text[-tail:]}"


def cut(value: object, most: int = TEXT_CHARACTERS) -> object:
    """A JSON value whose text forms hold at most ``most`` characters each; larger structures become cut text."""
    if isinstance(value, str):
        return cut_text(value, most)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    try:
        text = json.dumps(to_plain(value), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return cut_text(repr(value), most)
    return to_plain(value) if len(text) <= most else cut_text(text, most)


def keep_events(events: Sequence[Event]) -> list[object]:
    """Events as plain values, each text cut; of a long trajectory the middle is left out and counted."""
    plain = [to_plain(replace(event, content=cut(event.content))) for event in events]
    sizes = [len(json.dumps(event, ensure_ascii=False, default=str)) for event in plain]
    if sum(sizes) <= TRAJECTORY_CHARACTERS:
        return plain
    head, used = 0, 0
    while head < len(plain) and used + sizes[head] <= TRAJECTORY_CHARACTERS // 2:
        used += sizes[head]
        head += 1
    tail = len(plain)
    while tail > head and used + sizes[tail - 1] <= TRAJECTORY_CHARACTERS:
        used += sizes[tail - 1]
        tail -= 1
    gap = to_plain(Event("note", events[head].at_s, content=f"{tail - head:,} events left out"))
    return [*plain[:head], gap, *plain[tail:]]
