"""The lines between the bench and a program that answers cases: one JSON object each, in both directions.

The bench says ``{"hello": …}`` once, ``{"run": …, "id": N}`` for each case and ``{"close": true}`` at the end. The
program answers the first with ``{"ok": {"protocol": 1}}``, and each case with any number of ``{"chunk": TEXT}`` and
then one ``{"ok": RESPONSE}`` or ``{"error": …}``. ``docs/reference/agent-protocol.md`` tells all of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

from agentdyno.agents.hosting.answer import RESPONSE_KEYS, bounded, read_response
from agentdyno.contracts import CaseFailed
from agentdyno.errors import nearest
from agentdyno.model.case import Case, Response
from agentdyno.model.codec import to_plain
from agentdyno.model.metric import reported_name
from agentdyno.model.sample import FailureKind

PROTOCOL = 1
MOST_IN_FLIGHT = 1_000
"""Cases that a program may ask for at the same time."""
CLOSE = b'{"close": true}\n'
UNKNOWN = b'{"of_a_later_protocol": true}\n'


class ReplyKind(Enum):
    CHUNK = "chunk"
    OK = "ok"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ProgramReply:
    """One line of a program. ``id`` is that of the case; a program with one case at a time may leave it out."""

    kind: ReplyKind
    content: object
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a program says of itself: how many cases it may be given at the same time, and who it is."""

    in_flight: int = 1
    name: str = ""
    version: str = ""


def hello_line(agent: str, config: Mapping[str, object]) -> bytes:
    return _line({"hello": {"protocol": PROTOCOL, "agent": agent, "config": to_plain(config)}})


def run_line(case: Case, number: int, environ: Mapping[str, str] | None = None) -> bytes:
    """A case without what it is judged by: neither its target nor its metadata leave the bench.

    ``environ`` are variables for this case alone, as in a pass with tracing.
    """
    told: dict[str, object] = {"id": case.id, "input": to_plain(case.input)}
    if case.turns:
        told["turns"] = list(case.turns)
    if environ:
        told["environ"] = dict(environ)
    return _line({"run": told, "id": number})


def read_line(line: bytes) -> ProgramReply | None:
    """``None`` for whatever is no line of the protocol: something that the program printed."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    number = told.pop("id", None)
    if len(told) != 1 or not (number is None or (isinstance(number, int) and not isinstance(number, bool))):
        return None
    ((key, content),) = told.items()
    try:
        return ProgramReply(ReplyKind(key), content, number)
    except ValueError:
        return None


def greeting_in(reply: ProgramReply) -> Greeting | None:
    """``None`` where the reply is no answer to ``hello``. Raises ``ValueError`` for one that cannot be dealt with."""
    told = reply.content
    if reply.kind is not ReplyKind.OK or not isinstance(told, Mapping) or "protocol" not in told:
        return None
    if told["protocol"] != PROTOCOL:
        raise ValueError(f"it speaks protocol {told['protocol']!r}, the bench speaks {PROTOCOL}")
    in_flight = told.get("in_flight", 1)
    if isinstance(in_flight, bool) or not isinstance(in_flight, int) or not 1 <= in_flight <= MOST_IN_FLIGHT:
        raise ValueError(f"in_flight is {in_flight!r}; a whole number from 1 to {MOST_IN_FLIGHT} is meant")
    return Greeting(in_flight, str(told.get("name", "")), str(told.get("version", "")))


def response_in(reply: ProgramReply, streamed: str | None) -> Response:
    """The answer; what was ``streamed`` is its output where it gives none. Readings are what the program reports.

    Raises ``CaseFailed`` for an error that the program tells, and for an answer of another form.
    """
    if reply.kind is ReplyKind.ERROR:
        raise _failure(reply.content)
    told = reply.content if isinstance(reply.content, Mapping) else {"output": reply.content}
    if "output" not in told:
        if streamed is None:
            message = "the answer has no output, and nothing was streamed before it"
            raise CaseFailed(FailureKind.SERIALISATION, message)
        told = {**told, "output": streamed}
    unknown = sorted(str(key) for key in told.keys() - RESPONSE_KEYS)
    if unknown:
        near = nearest(unknown[0], RESPONSE_KEYS)
        raise CaseFailed(FailureKind.SERIALISATION, f"the answer has an unknown key {unknown[0]!r}. {near}")
    try:
        response = bounded(read_response(told))
    except (TypeError, ValueError) as error:
        raise CaseFailed(FailureKind.SERIALISATION, f"the answer is no response: {error}") from None
    return replace(response, readings={reported_name(name): value for name, value in response.readings.items()})


def _failure(content: object) -> CaseFailed:
    if isinstance(content, Mapping):
        message, kind = str(content.get("message") or "no message"), str(content.get("type") or "")
        retryable = content.get("retryable") is True
        text = f"{kind}: {message}" if kind else message
        return CaseFailed(FailureKind.EXCEPTION, text, retryable=retryable)
    return CaseFailed(FailureKind.EXCEPTION, str(content))


def _line(message: Mapping[str, object]) -> bytes:
    # ASCII with escapes: no character of a case can end the line, whatever the reader takes for a line break
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"
