"""What an agent of a framework did, noted in the recorder of its case; and what it is asked, as chat messages.

Standard library only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from agentdyno.agents.hosting.recorder import Recorder, current
from agentdyno.model.case import SIMULATED_PREFIX, Usage

FIRST_DELTA = "first_delta_s"
"""Seconds from the start of the case to the first piece of text that the framework hands on while it streams."""


@dataclass(frozen=True, slots=True)
class FrameworkCall:
    """One call of a model; times are seconds since the start of the case. ``usage`` is ``None`` where not told."""

    started_s: float
    ended_s: float
    model: str | None = None
    usage: Usage | None = None
    finish_reason: str | None = None
    error: str | None = None
    span: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class ToolRun:
    """One call of a tool; times are seconds since the start of the case, ``ended_s`` unknown where not told."""

    name: str
    arguments: object
    started_s: float
    ended_s: float | None
    result: object = None
    error: str | None = None
    span: str | None = None
    parent: str | None = None


@dataclass(slots=True)
class Trail:
    """The recorder of the case being answered, and how times of the framework's clock compare with its own."""

    recorder: Recorder = field(default_factory=current)
    wall: Callable[[], float] = time.time
    _began_wall: float = field(init=False)

    def __post_init__(self) -> None:
        self._began_wall = self.wall() - self.now()

    def now(self) -> float:
        """Seconds since the start of the case."""
        return self.recorder.clock() - self.recorder.started

    def at(self, wall_s: float) -> float:
        """The same for a time that a framework has stamped with the clock of the day."""
        return min(max(0.0, wall_s - self._began_wall), self.now())

    def model_call(self, call: FrameworkCall) -> None:
        model = call.model
        details = _told(finish_reason=call.finish_reason, error=call.error, span=call.span, parent=call.parent)
        self.recorder.model_call(
            model,
            call.usage,
            duration_s=max(0.0, call.ended_s - call.started_s),
            simulated=model is not None and model.startswith(SIMULATED_PREFIX),
            details=details,
            ended_s=call.ended_s,
        )

    def tool(self, run: ToolRun) -> None:
        """The call and its result; the second one carries the time that it took."""
        details = _told(span=run.span, parent=run.parent, error=run.error)
        self.recorder.event("tool_call", run.name, run.arguments, ended_s=run.started_s)
        self.recorder.event(
            "tool_result",
            run.name,
            run.error if run.result is None else run.result,
            duration_s=None if run.ended_s is None else max(0.0, run.ended_s - run.started_s),
            details=details,
            ended_s=run.started_s if run.ended_s is None else run.ended_s,
        )

    def said(self, text: object, at_s: float | None = None) -> None:
        """Something the agent said before its answer."""
        if text:
            self.recorder.event("message", "assistant", text, ended_s=at_s)

    def note(self, name: str, content: object, at_s: float | None = None) -> None:
        self.recorder.event("note", name, content, ended_s=at_s)

    def delta(self) -> None:
        """A piece of text has arrived; the first one counts."""
        self.recorder.readings.setdefault(FIRST_DELTA, self.now())

    def used(self, usage: Usage | None, calls: int) -> None:
        """Tokens and calls of which only the sums are known."""
        recorder = self.recorder
        if usage is not None:
            recorder.usage = usage if recorder.usage is None else recorder.usage + usage
        recorder.api_calls += calls


@dataclass(frozen=True, slots=True)
class ChatText:
    """One message of a conversation as text."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Question:
    """``text`` is what the agent is asked now, ``before`` the conversation up to there."""

    text: str
    before: tuple[ChatText, ...] = ()

    @property
    def messages(self) -> tuple[ChatText, ...]:
        return (*self.before, ChatText("user", self.text))

    @property
    def flattened(self) -> str:
        """One text for frameworks that know no conversation."""
        if not self.before:
            return self.text
        lines = [f"{message.role}: {message.content}" for message in self.before]
        return "\n".join(["The conversation so far:", *lines, "", "Now answer:", self.text])


def question(prompt: object, history: Iterable[Mapping[str, object]] = ()) -> Question:
    """What a case asks: its input is a text, a list of chat messages whose last one is asked, or any JSON value."""
    before = [_message(item) for item in history]
    if is_messages(prompt):
        asked = [_message(item) for item in prompt]  # type: ignore[attr-defined]
        return Question(asked[-1].content, (*before, *asked[:-1]))
    return Question(as_text(prompt), tuple(before))


def is_messages(value: object) -> bool:
    """Whether a value is a list of at least one chat message."""
    return (
        isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "role" in item for item in value)
    )


def as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def arguments_of(text: object) -> object:
    """Arguments of a tool as the value that their JSON text stands for; a broken text stays as it is."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def tokens(*, given: object = 0, made: object = 0, cached: object = 0, reasoning: object = 0) -> Usage | None:
    """Usage of what a framework tells, where nothing at all is unknown rather than zero."""
    counts = [value if isinstance(value, int) else 0 for value in (given, made, cached, reasoning)]
    return Usage(*counts) if any(counts) else None


def _message(item: Mapping[str, object]) -> ChatText:
    return ChatText(str(item.get("role", "user")), as_text(item.get("content", "")))


def _told(**details: str | None) -> dict[str, object]:
    return {name: value for name, value in details.items() if value is not None}
