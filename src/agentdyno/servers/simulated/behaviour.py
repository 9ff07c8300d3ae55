"""How a simulated model behaves: a frozen value that can be overridden for one request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from agentdyno.errors import SpecError, nearest
from agentdyno.servers.simulated.fault_plan import FaultPlan, fault_named, read_faults

RATES = ("error_rate", "reset_rate", "truncate_rate", "stream_error_rate")
DURATIONS = ("ttft_s", "itl_s", "ttft_jitter_s", "itl_jitter_s", "load_s", "head_delay_s", "service_s")
SWITCHES = ("echo", "truncate_clean")
PLAN = ("faults", "fault_span", "fault_start")
OF_THE_SERVER = ("rate_limit_per_s", "api_key", "models", "slots", "queue_limit", *PLAN)
"""What one request cannot change: it concerns all requests together."""
TOOL_MODES = ("never", "match", "always")
MOST_CHUNK_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the simulated model does; durations in seconds, rates between 0 and 1.

    The first token is due ``ttft_s`` (or ``load_s`` if that is longer) after the request is complete, each further
    one ``itl_s`` later; a jitter widens them by up to plus or minus its value, drawn from ``seed``, the request and
    how often the same request came before, so that a repeated run sees the same values in whatever order its
    requests arrive. In Ollama's protocol only the first request to a model that is not loaded waits for ``load_s``
    (``/api/generate`` loads and unloads, ``/api/ps`` lists); in OpenAI's every one does. ``head_delay_s`` keeps even
    the head of an answer back. A request to ``/plain`` is answered whole after ``service_s``.

    ``slots`` requests are served at once, each for the time of its answer (``ttft_s + itl_s * (tokens - 1)``): the
    capacity is ``slots`` divided by that time. ``None`` has no such limit. Others wait in the order of arrival, at
    most ``queue_limit`` of them; one more is answered 503 with a time to retry.

    An answer comes from ``answers`` (the first key that occurs in the prompt), else from ``echo``, else it is
    pseudo text of ``output_tokens`` words: a number, or a range ``(fewest, most)``. ``right_rate`` is the share of
    prompts found in ``answers`` that are answered so; the others, chosen by seed and prompt, get ``wrong_answer``.

    Faults exclude each other: ``error_rate`` answers with ``error_status``; ``reset_rate`` resets the connection
    in the middle; ``truncate_rate`` ends there without a finish reason or terminator (``truncate_clean``: the HTTP
    body ends properly all the same); ``stream_error_rate`` sends an error object in the middle of a stream.
    ``retry_after_s`` goes with every such error and overrides what the rate limit would say.

    ``faults`` gives exact numbers instead: ``http_error:3,timeout:2`` strikes five of the ``fault_span`` requests
    (ten times their number where not said) that follow the first ``fault_start``, at places drawn from ``seed``.
    Besides the four above there are ``rate_limited`` (429), ``timeout`` (no answer at all), ``endless`` (a stream
    without content or end), ``html`` (a page instead of JSON) and ``big_chunk`` (one token of ``big_chunk_bytes``);
    of what the model says, ``no_finish`` (the answer ends properly, without a finish reason), ``malformed_arguments``
    (those of a tool call are cut off) and ``wrong_arguments`` (of types that the tool does not take).
    ``fault`` is the one that every request meets, or one request that sets it. Such a fault needs no slot unless it
    strikes in the middle of an answer.

    ``tool_calls``: ``match`` calls the first offered tool that the prompt names, ``always`` the first one offered,
    until the last message is a tool's result, which is then the answer: in a call of ``final_answer`` where a tool of
    that name is offered, else as text. ``tool_arguments`` replaces arguments made up from the tool's schema.
    ``context_limit`` is in tokens (words). ``models``: any other name is answered 404.
    """

    ttft_s: float = 0.0
    itl_s: float = 0.0
    ttft_jitter_s: float = 0.0
    itl_jitter_s: float = 0.0
    output_tokens: int | tuple[int, int] = 20
    load_s: float = 0.0
    head_delay_s: float = 0.0
    service_s: float = 0.0
    slots: int | None = None
    queue_limit: int | None = None
    error_rate: float = 0.0
    error_status: int = 500
    retry_after_s: float | None = None
    reset_rate: float = 0.0
    truncate_rate: float = 0.0
    truncate_clean: bool = False
    stream_error_rate: float = 0.0
    fault: str = ""
    faults: Mapping[str, int] = field(default_factory=dict)
    fault_span: int | None = None
    fault_start: int = 0
    big_chunk_bytes: int = 10_000_000
    rate_limit_per_s: float | None = None
    context_limit: int | None = None
    api_key: str | None = field(default=None, repr=False)
    models: tuple[str, ...] | None = None
    tool_calls: str = "match"
    tool_arguments: Mapping[str, object] | None = None
    answers: Mapping[str, str] = field(default_factory=dict)
    right_rate: float = 1.0
    wrong_answer: str = "I do not know."
    echo: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name in DURATIONS:
            _within(name, getattr(self, name), 0, 86_400)
        for name in (*RATES, "right_rate"):
            _within(name, getattr(self, name), 0, 1)
        if sum(getattr(self, name) for name in RATES) > 1 + 1e-9:
            raise SpecError(f"{', '.join(RATES)} add up to more than 1", remedy="Faults exclude each other.")
        low, high = self.token_range
        if not (_is_int(low) and _is_int(high) and 0 <= low <= high):
            raise SpecError(f"output_tokens is {self.output_tokens!r}; use a number or a range such as 20-80")
        if not 400 <= self.error_status <= 599:
            raise SpecError(f"error_status is {self.error_status}; use 400 to 599")
        if self.rate_limit_per_s is not None and not self.rate_limit_per_s > 0:
            raise SpecError(f"rate_limit_per_s is {self.rate_limit_per_s}; use a number above 0")
        if self.context_limit is not None and self.context_limit < 1:
            raise SpecError(f"context_limit is {self.context_limit}; use 1 or more")
        if self.slots is not None:
            _within("slots", self.slots, 1, 1_000_000)
        if self.queue_limit is not None:
            _within("queue_limit", self.queue_limit, 0, 1_000_000)
        _within("fault_start", self.fault_start, 0, 1_000_000_000)
        _within("big_chunk_bytes", self.big_chunk_bytes, 1, MOST_CHUNK_BYTES)
        if self.fault:
            fault_named(self.fault)
        if self.faults:
            self.fault_plan()
        if self.tool_calls not in TOOL_MODES:
            raise SpecError(f"tool_calls is {self.tool_calls!r}; use {', '.join(TOOL_MODES)}")

    @property
    def token_range(self) -> tuple[int, int]:
        """Fewest and most tokens of a pseudo text."""
        tokens = self.output_tokens
        return tokens if isinstance(tokens, tuple) else (tokens, tokens)

    def fault_plan(self) -> FaultPlan:
        """``faults``, from the first request on."""
        return FaultPlan(self.faults, span=self.fault_span, start=self.fault_start, seed=self.seed)

    def overridden(self, settings: Mapping[str, object]) -> Behaviour:
        """This behaviour with some fields set; values may be text, as in a header. Raises ``SpecError``."""
        if not settings:
            return self
        allowed = [item.name for item in fields(self) if item.name not in OF_THE_SERVER]
        for name in settings:
            if name not in allowed:
                raise SpecError(f"one request cannot set {name!r}", remedy=nearest(name, allowed))
        return replace(self, **{name: _value(name, value) for name, value in settings.items()})

    def as_plain(self) -> dict[str, object]:
        """A JSON object that ``from_plain`` reads back."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        plain["answers"], plain["faults"] = dict(self.answers), dict(self.faults)
        plain["tool_arguments"] = None if self.tool_arguments is None else dict(self.tool_arguments)
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, object]) -> Behaviour:
        """The behaviour that a JSON object describes; absent keys keep their default."""
        known = [item.name for item in fields(cls)]
        for name in plain:
            if name not in known:
                raise SpecError(f"no setting {name!r} of a simulated model", remedy=nearest(name, known))
        return cls(**{name: _value(name, value) for name, value in plain.items()})


def parse_settings(text: str) -> dict[str, object]:
    """``ttft_s=0.1;output_tokens=5`` as a mapping of texts."""
    settings: dict[str, object] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, sign, value = part.partition("=")
        if not sign:
            raise SpecError(f"{part!r} is not name=value", remedy="Write for example ttft_s=0.1;output_tokens=5.")
        settings[name.strip()] = value.strip()
    return settings


_KINDS: dict[str, type] = {
    **dict.fromkeys((*DURATIONS, *RATES, "right_rate", "rate_limit_per_s", "retry_after_s"), float),
    **dict.fromkeys(("error_status", "context_limit", "seed", "slots", "queue_limit"), int),
    **dict.fromkeys(("fault_span", "fault_start", "big_chunk_bytes"), int),
    **dict.fromkeys(("tool_calls", "wrong_answer", "api_key", "fault"), str),
    **dict.fromkeys(SWITCHES, bool),
    **dict.fromkeys(("answers", "tool_arguments"), dict),
}


def _value(name: str, value: object) -> Any:
    try:
        return _converted(name, value)
    except (TypeError, ValueError, KeyError):
        raise SpecError(f"{name} cannot be {value!r}") from None


def _converted(name: str, value: object) -> object:
    if value is None:
        return None
    if name == "output_tokens":
        return _token_count(value)
    if name == "faults":
        return read_faults(value)
    if name == "models":
        return tuple(str(item) for item in value) if isinstance(value, list | tuple) else (str(value),)
    kind = _KINDS[name]
    if kind is dict:
        found = json.loads(value) if isinstance(value, str) else value
        if not isinstance(found, Mapping):
            raise TypeError
        return dict(found)
    if kind is bool and isinstance(value, str):
        return {"1": True, "true": True, "0": False, "false": False}[value.lower()] if value else True
    return kind(value)


def _token_count(value: object) -> int | tuple[int, int]:
    if isinstance(value, str):
        first, sign, last = value.partition("-")
        return (int(first), int(last)) if sign else int(first)
    if isinstance(value, list | tuple):
        low, high = value
        return (low, high)
    if not _is_int(value):
        raise TypeError
    return int(value)  # type: ignore[call-overload, no-any-return]


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:  # not a number is refused too
        raise SpecError(f"{name} is {value}; use {low} to {high}")
