"""One input row of a benchmark, and what an agent answers to it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

NO_NUMBER = sys.float_info.max
"""In place of a number that is none, or is not finite, on its way to where all values of an agent are looked at: JSON
has no such number, and an agent's value that was left out on the way would be dropped without a word."""
Message = Mapping[str, object]
"""One message of a chat: ``{"role": …, "content": …}``."""


@dataclass(frozen=True, slots=True)
class Case:
    """``input`` is a text, a list of chat messages (``{"role": …, "content": …}``) or any JSON value.

    ``turns`` are the user's messages of a conversation, one after the other; ``input`` is then the first of them.
    Cases that share a ``group`` are related (paraphrases of one question, questions about one document) and count
    as one cluster in statistics.
    """

    id: str
    input: object
    target: object = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    group: str | None = None
    turns: tuple[str, ...] = ()


def as_text(value: object) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def as_messages(value: object) -> list[Message] | None:
    """A list of chat messages as it is, ``None`` for anything else."""
    if not isinstance(value, (list, tuple)) or not value:
        return None
    messages = [dict(item) for item in value if isinstance(item, Mapping) and "role" in item]
    return list(messages) if len(messages) == len(value) else None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens. ``cached_tokens`` are part of the input, ``reasoning_tokens`` part of the output."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a trajectory; ``at_s`` counts from the start of the case.

    ``kind`` is ``message`` (``name`` is the role), ``tool_call`` (``name`` is the tool, ``content`` its arguments),
    ``tool_result``, ``model_call`` (``name`` is the model that answered; ``details`` holds usage and timings, and
    ``recorded`` where the recording proxy saw it: see ``counted_calls``),
    ``retrieval``, ``step`` (of a workflow), ``span`` (any other piece of work), ``wait`` (a pause before another
    try), ``queue`` (time before work began), ``retry`` or ``note``.

    An event with a ``duration_s`` is a span. Where it is known what it belongs to, ``details["span"]`` is its id and
    ``details["parent"]`` that of the span around it, both unique within the case; where they are missing, an event
    belongs to the shortest span that contains it in time.
    """

    kind: str
    at_s: float = 0.0
    name: str = ""
    content: object = None
    duration_s: float | None = None
    details: Mapping[str, object] = field(default_factory=dict)


MISSING_USAGE = "usage_not_found"
"""Under ``observed``: where an agent was told to find its tokens and did not, and what there was."""
ASKED = "asked"
"""Under an arm's ``observed``: the reference of an agent that is a model asked as it is."""
EXECUTOR_SPAN = "workflow executor"
"""How the name of the span around the steps of a workflow begins: what is in no step is the executor's time."""
RECORDING_COST = "recording_cost"
"""Under an arm's ``observed``: what the recording proxy takes of a request, where the agent is behind it."""
RECORDED = "recorded"
"""In the details of an event: the recording proxy saw it. Where a case has such model calls, only they count; those
that the agent reports itself stay beside them."""


def counted_calls(events: Sequence[Event]) -> list[Event]:
    """The model calls of a case, each once: those that were recorded, else those that were reported."""
    calls = [event for event in events if event.kind == "model_call"]
    return [event for event in calls if event.details.get(RECORDED)] or calls


SIMULATED_PREFIX = "simulated/"
"""In front of the name of every model that our simulated servers answer as."""


@dataclass(frozen=True, slots=True)
class Response:
    """What an agent answers to a case. Unknown is ``None``: an unknown cost is not free.

    ``cost`` is in US dollars, as the agent reports it. ``model`` is the model that the other side says it is, and
    ``observed`` the configuration it reports. ``readings`` are numbers measured on the way (``ttft_s``, ``itl_s``,
    ``cpu_s``, ``peak_rss_bytes``…); those that an agent gives itself are kept as reported, under ``reported.NAME``
    where the bench has a reading of that name. ``simulated`` answers never pass for measurements.
    """

    output: object = None
    usage: Usage | None = None
    cost: float | None = None
    api_calls: int | None = None
    events: tuple[Event, ...] = ()
    observed: Mapping[str, object] = field(default_factory=dict)
    readings: Mapping[str, float] = field(default_factory=dict)
    model: str | None = None
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """What a scorer says of one answer: named values in 0..1, ``None`` where it could not judge.

    ``correctness``, ``completeness`` and ``relevance`` are the names with a meaning everywhere. ``cost`` and
    ``usage`` are the judge's own, where a model judged; they are never counted as the agent's.
    """

    values: Mapping[str, float | None]
    explanation: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
    usage: Usage | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class CaseKey:
    """A case of a suite: ids are unique within a benchmark."""

    benchmark: str
    case_id: str
