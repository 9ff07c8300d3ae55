"""The border that every value of an agent crosses: what cannot be true counts as unknown, and is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agentdyno.model.case import NO_NUMBER, Event, Response, Usage
from agentdyno.model.metric import is_credible

MOST_TOKENS = 10**12
"""Tokens of one case. The largest contexts have 10^7, and a case that takes a thousand of them is a mistake."""
MOST_CALLS = 10**9
MOST_SECONDS = 1e9
_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
_SHOWN = 40
"""Characters of a value that are told."""


def credible(response: Response) -> tuple[Response, tuple[str, ...]]:
    """``response`` without the values that cannot be true, and those values as ``name = value``, each told once.

    Of a usage with one count that cannot be true nothing is kept: its total and its price would be wrong.
    """
    dropped: list[str] = []
    usage, calls, cost = response.usage, response.api_calls, response.cost
    if usage is not None and (bad := [*_bad_counts(usage)]):
        dropped += bad
        usage = None
    if calls is not None and not _is_count(calls, MOST_CALLS):
        dropped.append(_told("api_calls", calls))
        calls = None
    if cost is not None and not (_is_number(cost) and is_credible("cost_usd", cost)):
        dropped.append(_told("cost", cost))
        cost = None
    readings = response.readings
    if bad_names := [
        name for name, value in readings.items() if not (_is_number(value) and is_credible(name, value))
    ]:
        dropped += [_told(name, readings[name]) for name in bad_names]
        readings = {name: value for name, value in readings.items() if name not in bad_names}
    events = response.events
    if any(not _is_placed(event) for event in events):
        dropped += dict.fromkeys(
            _told("time of an event", _bad_time(event)) for event in events if not _is_placed(event)
        )
        events = tuple(event if _is_placed(event) else _placed(event) for event in events)
    if not dropped:
        return response, ()
    kept = replace(response, usage=usage, api_calls=calls, cost=cost, readings=readings, events=events)
    return kept, tuple(dropped)


def _bad_counts(usage: Usage) -> Iterator[str]:
    for name in _TOKENS:
        value = getattr(usage, name)
        if not _is_count(value, MOST_TOKENS):
            yield _told(f"usage.{name}", value)


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, int) and 0 <= value <= most


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_placed(event: Event) -> bool:
    return 0 <= event.at_s <= MOST_SECONDS and (event.duration_s is None or 0 <= event.duration_s <= MOST_SECONDS)


def _bad_time(event: Event) -> object:
    return event.duration_s if 0 <= event.at_s <= MOST_SECONDS else event.at_s


def _placed(event: Event) -> Event:
    """The event without the times that cannot be: at the start of its case where it is not known when it was."""
    at_s = event.at_s if 0 <= event.at_s <= MOST_SECONDS else 0.0
    lasted = event.duration_s
    return replace(
        event, at_s=at_s, duration_s=lasted if lasted is not None and 0 <= lasted <= MOST_SECONDS else None
    )


def _told(name: str, value: object) -> str:
    if value == NO_NUMBER:
        return f"{name} = no finite number"
    try:
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        text = "a number of thousands of digits"
    return f"{name} = {text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}"
