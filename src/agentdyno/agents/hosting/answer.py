"""What an agent returned, as a response that JSON can hold. Standard library only."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum

from agentdyno.agents.hosting.recorder import Recorder
from agentdyno.contracts import CaseFailed
from agentdyno.model.case import NO_NUMBER, Event, Response, Usage
from agentdyno.model.codec import from_plain
from agentdyno.model.sample import FailureKind, Status

OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024
"""What one answer may hold, as JSON."""
MAX_DEPTH = 50
"""Levels of lists and dicts in an answer; everybody who reads it later recurses into them."""
EVENTS_CAP = 10_000
EVENT_BYTES_CAP = 64 * 1024
"""Events kept of one case, and the size of what each may hold, as JSON; what is longer is cut and says so."""
RESPONSE_KEYS = frozenset(field.name for field in fields(Response))
_AS_TEXT = frozenset({("pathlib", "PurePath"), ("uuid", "UUID"), ("decimal", "Decimal")})
"""Classes, by module and name, whose values are written as text: JSON has no other form that keeps them whole."""
_USAGE_ALIASES = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}


@dataclass(frozen=True, slots=True)
class TurnStart:
    """What a recorder held before a turn."""

    usage: Usage | None
    cost: float | None
    api_calls: int
    events: int


def mark(recorder: Recorder) -> TurnStart:
    return TurnStart(recorder.usage, recorder.cost, recorder.api_calls, len(recorder.events))


def take(recorder: Recorder, returned: object, since: TurnStart) -> object:
    """Adds what an agent returned to its recorder and hands out the answer in it, as plain JSON.

    A ``Response``, or a dict that spells one, counts as such; what it says of tokens, cost, calls and events takes
    the place of what was recorded after ``since``. NaN and infinity become text, as JSON has no such number. Raises
    ``CaseFailed`` for an answer that has no JSON form or is too large.
    """
    response = response_in(returned)
    if response is None:
        return plain_output(returned, recorder)
    if response.usage is not None:
        recorder.usage = response.usage if since.usage is None else since.usage + response.usage
    if response.cost is not None:
        recorder.cost = told_number(response.cost) + (since.cost or 0.0)
    if response.api_calls is not None:
        recorder.api_calls = since.api_calls + response.api_calls
    if response.events:
        recorder.events[since.events :] = response.events
    recorder.observed.update(response.observed)
    recorder.readings.update(response.readings)
    recorder.model = response.model or recorder.model
    recorder.simulated = recorder.simulated or response.simulated
    return plain_output(response.output, recorder)


def collected(recorder: Recorder, output: object) -> Response:
    """The response of a case: what was recorded, made plain and bounded, with the answer."""
    return bounded(recorder.response(output))


def bounded(response: Response) -> Response:
    """A response that JSON can hold, of bounded size."""
    events = tuple(_bounded_event(event) for event in response.events[:EVENTS_CAP])
    if len(response.events) > EVENTS_CAP:
        dropped = len(response.events) - EVENTS_CAP
        events += (Event("note", events[-1].at_s, "truncated", f"{dropped} more events were not kept"),)
    observed = {str(key): _plain_or_text(value) for key, value in response.observed.items()}
    readings = {str(key): told_number(value) for key, value in response.readings.items()}
    cost = None if response.cost is None else told_number(response.cost)
    return replace(response, events=events, observed=observed, readings=readings, cost=cost)


def response_in(returned: object) -> Response | None:
    """A response that was returned as such or as a dict with ``output`` and no key that a response does not have."""
    if isinstance(returned, Response):
        return returned
    if isinstance(returned, dict) and "output" in returned and returned.keys() <= RESPONSE_KEYS:
        try:
            return read_response(returned)
        except (TypeError, ValueError) as error:
            raise CaseFailed(
                FailureKind.SERIALISATION, f"the answer has the keys of a response, but {error}"
            ) from None
    return None


def read_response(plain: Mapping[str, object]) -> Response:
    """The response that a dict spells; ``prompt_tokens`` and ``completion_tokens`` are understood, too.

    Raises ``TypeError`` or ``ValueError`` naming the key that has a value of another type.
    """
    told = {key: value for key, value in plain.items() if value is not None or key == "output"}
    if isinstance(usage := told.get("usage"), Mapping):
        told["usage"] = {_USAGE_ALIASES.get(str(key), str(key)): _whole(value) for key, value in usage.items()}
    elif isinstance(usage, Usage):
        told["usage"] = {field.name: getattr(usage, field.name) for field in fields(Usage)}
    own_events = told.pop("events", ())
    if not isinstance(own_events, (list, tuple)):
        raise TypeError(f"events: expected a list, got {type(own_events).__name__}")
    events = tuple(event if isinstance(event, Event) else from_plain(Event, event, "events") for event in own_events)
    response = from_plain(Response, told, "response")
    if response.cost is not None and not (_is_number(response.cost) and response.cost >= 0):
        raise ValueError(f"cost: {response.cost} is no amount of dollars")
    return replace(response, events=events)


def plain_output(value: object, recorder: Recorder) -> object:
    """An answer as plain JSON; text that UTF-8 cannot hold has its broken characters replaced, and says so."""
    if value is None or value is True or value is False:
        return value
    maker = _PlainMaker()
    try:
        plain = maker.plain(value)
        size = _size(plain)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  (objects may raise anything while they are turned into lists)
        raise CaseFailed(
            FailureKind.SERIALISATION,
            f"the answer cannot be stored: {error}; return text, numbers, lists and dicts",
        ) from None
    if size > OUTPUT_LIMIT_BYTES:
        raise output_too_large(size)
    if maker.invalid_text:
        recorder.observed["invalid_utf8"] = True
    return plain


def output_too_large(size_bytes: int | None = None) -> CaseFailed:
    limit = f"{OUTPUT_LIMIT_BYTES >> 20} MiB"
    message = f"the answer is larger than {limit}" + (f": {size_bytes / 2**20:.1f} MiB" if size_bytes else "")
    return CaseFailed(FailureKind.OUTPUT, message, status=Status.LIMIT)


class _PlainMaker:
    """Turns what Python agents commonly return into plain JSON values."""

    def __init__(self) -> None:
        self.invalid_text = False

    def plain(self, value: object, depth: int = 0) -> object:
        if isinstance(value, Enum):
            return self.plain(value.value, depth)
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else _not_finite(value)
        if isinstance(value, (bytes, bytearray)):
            return self._decoded(bytes(value))
        if depth >= MAX_DEPTH:
            raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, Mapping):
            return {self._text(str(key)): self.plain(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.plain(item, depth + 1) for item in value]
        if isinstance(value, (set, frozenset)):
            return [self.plain(item, depth + 1) for item in sorted(value, key=repr)]
        if is_dataclass(value) and not isinstance(value, type):
            return {field.name: self.plain(getattr(value, field.name), depth + 1) for field in fields(value)}
        if any((kind.__module__.partition(".")[0], kind.__name__) in _AS_TEXT for kind in type(value).__mro__):
            return self._text(str(value))
        for method in ("model_dump", "tolist", "isoformat"):  # pydantic; numpy and its like; dates and times
            spell = getattr(value, method, None)
            if callable(spell) and not isinstance(value, type):
                return self.plain(spell(), depth + 1)
        raise TypeError(f"{type(value).__name__} has no JSON form")

    def _text(self, value: str) -> str:
        try:
            value.isascii() or value.encode()
        except UnicodeEncodeError:
            return self._decoded(value.encode("utf-8", "surrogatepass"))
        return str(value)

    def _decoded(self, value: bytes) -> str:
        text = value.decode("utf-8", "replace")
        self.invalid_text = self.invalid_text or "\ufffd" in text
        return text


def _not_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _size(plain: object) -> int:
    """Bytes of the JSON form; of a text about as much, without making it."""
    if isinstance(plain, str):
        return len(plain) if plain.isascii() else len(plain.encode())
    return len(json.dumps(plain, ensure_ascii=False).encode())


def _bounded_event(event: Event) -> Event:
    details = _bounded(event.details)
    return replace(
        event,
        kind=str(event.kind),
        at_s=told_number(event.at_s),
        name=str(event.name),
        duration_s=None if event.duration_s is None else told_number(event.duration_s),
        content=_bounded(event.content),
        details=details if isinstance(details, dict) else {"truncated": details},
    )


def _bounded(value: object) -> object:
    if value is None or (isinstance(value, str) and len(value) < EVENT_BYTES_CAP // 4 and value.isascii()):
        return value
    plain = _plain_or_text(value)
    if _size(plain) <= EVENT_BYTES_CAP:
        return plain
    text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    return f"{text[: EVENT_BYTES_CAP // 4]}… ({len(text)} characters)"


def _plain_or_text(value: object) -> object:
    try:
        return _PlainMaker().plain(value)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  (an event never costs the answer)
        return text_of(value)


def text_of(value: object) -> str:
    """The text of an object that may not even know how to print itself."""
    try:
        return str(value).encode("utf-8", "replace").decode()
    except Exception as error:  # noqa: BLE001
        return f"<{type(value).__name__} that cannot be printed: {type(error).__name__}>"


def told_number(value: object) -> float:
    """A number of whatever type as JSON holds it; in place of one that is not finite, and of what is no number, the
    largest there is: nothing can be as large, so that it is dropped and told where all values are looked at."""
    if isinstance(value, (bool, str, bytes, bytearray)) or not hasattr(type(value), "__float__"):
        return NO_NUMBER
    try:
        number = value if isinstance(value, (int, float)) else float(value)  # type: ignore[arg-type]
        return number if math.isfinite(number) else NO_NUMBER
    except (ArithmeticError, TypeError, ValueError):
        return NO_NUMBER


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and told_number(value) != NO_NUMBER


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value
