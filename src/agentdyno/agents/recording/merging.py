"""A response with what the proxy saw: its calls are events, and its figures take the place of the agent's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from agentdyno.agents.recording.call_notes import TOKEN_LIMITS, notes_on
from agentdyno.model.case import RECORDED, Event, Response, Usage
from agentdyno.model.metric import Provenance, reported_name
from agentdyno.servers.proxy.model_call import ModelCall

TOKENS = ("input_tokens", "output_tokens")
FIRST = ("ttft_s", "itl_s", "tokens_per_s")
"""Readings of a case that are those of its first call that has them."""


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A call within its case. ``retry_of`` is the failed call that it repeats, ``repeats`` counts equal requests that
    were answered before; ``waited_s`` lies between the failed call and this one."""

    call: ModelCall
    number: int
    retry_of: int | None = None
    repeats: int = 0
    waited_s: float = 0.0

    @property
    def span(self) -> str:
        return f"call-{self.number + 1}"

    @property
    def end_ns(self) -> int:
        return end_of(self.call)


def with_calls(response: Response, calls: Sequence[ModelCall], started_ns: int, *, full: bool = False) -> Response:
    """``response`` of a case that began at ``started_ns`` with the calls that were made since."""
    own = [call for call in calls if call.started_ns >= started_ns]
    seen = in_order([call for call in own if call.api])
    unknown = [call for call in own if not call.api]
    events = [event for item in seen for event in _events(item, started_ns, full=full)]
    if early := len(calls) - len(own):
        text = f"{early} requests that began before this case are not counted as its own"
        events.insert(0, Event("note", 0.0, "early requests", text))
    readings = {**response.readings, **_readings(seen, len(unknown))}
    if not seen:
        return replace(response, events=(*response.events, *events), readings=readings)
    claims = _claims(response)
    reported = tuple(_as_reported(event) for event in response.events)
    merged = sorted((*reported, *events), key=lambda event: event.at_s)
    models = [item.call.model for item in seen if item.call.model]
    usage = _usage(seen)
    return replace(
        response,
        usage=response.usage if usage is None else usage,
        api_calls=len(seen),
        events=tuple(merged),
        readings={**(claims if usage is not None else _without_tokens(claims)), **readings},
        model=models[-1] if models else response.model,
        simulated=response.simulated or any(item.call.simulated for item in seen),
    )


def in_order(calls: Sequence[ModelCall]) -> list[SeenCall]:
    """The calls of a case with what each has to do with those before it.

    A call repeats a failed one where the client says so (then it is the last that failed), or where it asks the very
    same; what asks the same as an answered one is a repetition and no retry.
    """
    seen: list[SeenCall] = []
    for number, call in enumerate(sorted(calls, key=lambda item: item.started_ns)):
        same = [item for item in seen if item.call.request_hash == call.request_hash]
        failed = [item for item in (same if not call.retry else same or seen) if not item.call.ok]
        before = failed[-1] if failed else None
        if before is not None and same and same[-1].call.ok and not call.retry:
            before = None  # it has been answered since
        waited_s = 0.0 if before is None else max(0.0, (call.started_ns - before.end_ns) / 1e9)
        repeats = sum(item.call.ok for item in same)
        seen.append(SeenCall(call, number, None if before is None else before.number, repeats, waited_s))
    return seen


def end_of(call: ModelCall) -> int:
    """When it was over, as far as that is known."""
    return call.done_ns or call.first_byte_ns or call.sent_ns or call.started_ns


def _events(item: SeenCall, started_ns: int, *, full: bool) -> list[Event]:
    call = item.call
    at_s = (call.started_ns - started_ns) / 1e9
    ended_s = (item.end_ns - started_ns) / 1e9
    events = []
    if item.retry_of is not None:
        details: dict[str, object] = {"for": item.span, "after": f"call-{item.retry_of + 1}", RECORDED: True}
        events.append(Event("wait", at_s - item.waited_s, "before another try", None, item.waited_s, details))
    content = {"request": call.request, "response": call.response} if full else None
    name = call.model or call.model_asked
    events.append(Event("model_call", at_s, name, content, max(0.0, ended_s - at_s), _details(item)))
    for found in notes_on(call, retried=item.retry_of is not None, waited_s=item.waited_s):
        told = {"of": item.span, RECORDED: True}
        events.append(Event("note", ended_s, found.name, found.text, None, told))
    return events


def _details(item: SeenCall) -> dict[str, object]:
    """What is known of a call; the guide on recording explains each name."""
    call = item.call
    details: dict[str, object] = {
        RECORDED: True,
        "provenance": (Provenance.SIMULATED if call.simulated else Provenance.MEASURED).value,
        "span": item.span,
        "api": call.api,
        "upstream": call.upstream,
        "status": call.status,
        "ended": call.ended or "complete",
        "streamed": call.streamed,
        "finish_reason": call.finish_reason,
        "tool_calls": call.tool_calls,
        "request_bytes": call.request_bytes,
        "response_bytes": call.response_bytes,
        "retry": call.retry,
        "repeats": item.repeats,
        "readings": dict(call.readings),
        "phases": _phases(call),
        "prefixes": [list(pair) for pair in call.prefixes],
        "findings": [found.name for found in notes_on(call, retried=item.retry_of is not None)],
    }
    if call.usage is not None:
        details["usage"] = asdict(call.usage)
    if call.gaps is not None:
        details["gaps"] = asdict(call.gaps)
    if item.retry_of is not None:
        details |= {"retry_of": f"call-{item.retry_of + 1}", "waited_s": item.waited_s}
    optional = {"retry_after_s": call.retry_after_s, "model_asked": call.model_asked or None}
    optional |= {"error": call.error or None, "broken": call.broken or None, "problem": call.problem or None}
    return details | {name: value for name, value in optional.items() if value is not None}


def _phases(call: ModelCall) -> dict[str, float]:
    """Seconds of each part of a call: ``connect_s``, ``send_s``, ``wait_s`` until the first byte, ``ttft_s`` from the
    last byte sent to the first content, ``decode_s`` from there (or from the first byte) to the end."""
    found: dict[str, float] = {}
    marks = (call.started_ns, call.connected_ns, call.sent_ns, call.first_byte_ns)
    for name, before, after in zip(("connect_s", "send_s", "wait_s"), marks, marks[1:], strict=False):
        if before is not None and after is not None:
            found[name] = max(0, after - before) / 1e9
    if call.first_content_ns is not None and call.sent_ns is not None:
        found["ttft_s"] = max(0, call.first_content_ns - call.sent_ns) / 1e9
    begun = call.first_content_ns or call.first_byte_ns
    if begun is not None and call.done_ns is not None:
        found["decode_s"] = max(0, call.done_ns - begun) / 1e9
    return found


def _usage(seen: Sequence[SeenCall]) -> Usage | None:
    """Tokens of all calls; ``None`` where one that was answered does not tell its own."""
    told = [item.call.usage for item in seen if item.call.usage is not None]
    silent = [item for item in seen if item.call.usage is None and item.call.ok]
    return sum(told, Usage()) if told and not silent else None


def _readings(seen: Sequence[SeenCall], unknown: int) -> dict[str, float]:
    """Counts of the case, under ``proxy.``, and the first call's times."""
    calls = [item.call for item in seen]
    found = [note.name for item in seen for note in notes_on(item.call, retried=item.retry_of is not None)]
    readings: dict[str, float] = {
        "proxy.calls": float(len(calls)),
        "proxy.unknown": float(unknown),
        "proxy.failed": float(sum(not call.ok for call in calls)),
        "proxy.retries": float(found.count("retried")),
        "proxy.repeated": float(sum(item.repeats > 0 for item in seen)),
        "proxy.waited_s": sum(item.waited_s for item in seen),
        "proxy.rate_limited": float(found.count("rate_limited")),
        "proxy.truncated": float(found.count("truncated")),
        "proxy.token_limit": float(sum(call.finish_reason in TOKEN_LIMITS for call in calls)),
        "proxy.no_finish_reason": float(found.count("no_finish_reason")),
        "proxy.broken": float(found.count("broken_body")),
        "proxy.request_bytes": float(sum(call.request_bytes for call in calls)),
        "proxy.response_bytes": float(sum(call.response_bytes for call in calls)),
        "proxy.model_s": _covered_s(seen),
    }
    for name in FIRST:
        first = next((call.readings[name] for call in calls if name in call.readings), None)
        if first is not None:
            readings[name] = first
    for name in {name for call in calls for name in call.readings if name.startswith("server.")}:
        readings[name] = sum(call.readings.get(name, 0.0) for call in calls)
    return readings


def _covered_s(seen: Sequence[SeenCall]) -> float:
    """Seconds during which at least one call was under way."""
    total, until = 0, 0
    for item in sorted(seen, key=lambda one: one.call.started_ns):
        begun = max(item.call.started_ns, until)
        total += max(0, item.end_ns - begun)
        until = max(until, item.end_ns)
    return total / 1e9


def _claims(response: Response) -> dict[str, float]:
    """What the agent said of its calls, as what it reports."""
    claims: dict[str, float] = {}
    if response.usage is not None:
        claims |= {reported_name(name): float(getattr(response.usage, name)) for name in TOKENS}
    if response.api_calls is not None:
        claims[reported_name("api_calls")] = float(response.api_calls)
    claims |= {reported_name(name): response.readings[name] for name in FIRST if name in response.readings}
    return claims


def _without_tokens(claims: dict[str, float]) -> dict[str, float]:
    """Where the tokens that count are the agent's own, there is nothing to hold them against."""
    own = {reported_name(name) for name in TOKENS}
    return {name: value for name, value in claims.items() if name not in own}


def _as_reported(event: Event) -> Event:
    if event.kind != "model_call":
        return event
    return replace(event, details={**event.details, "provenance": Provenance.REPORTED.value})
