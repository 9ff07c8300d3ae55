"""What happens while an agent answers a case: its events, tokens and calls, collected wherever they occur.

A function that is on the bench need not hand anything around: model calls through ``ChatModel`` and whatever the
function records itself end up in the response of the case that is being answered. Standard library only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from agentdyno.model.case import Event, Response, Usage
from agentdyno.model.metric import reported_name

_current: ContextVar[Recorder | None] = ContextVar("agentdyno_recorder", default=None)


@dataclass(slots=True)
class Recorder:
    """Collects while a case is answered. Times count from its creation.

    ``readings`` are what the agent's code says of itself, ``measured`` what the bench has measured. ``memory`` is
    what a framework's adapter keeps of a conversation between two turns.
    """

    clock: Callable[[], float] = time.perf_counter
    events: list[Event] = field(default_factory=list)
    usage: Usage | None = None
    cost: float | None = None
    api_calls: int = 0
    model: str | None = None
    simulated: bool = False
    observed: dict[str, object] = field(default_factory=dict)
    readings: dict[str, float] = field(default_factory=dict)
    measured: dict[str, float] = field(default_factory=dict)
    memory: object = None
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def event(
        self,
        kind: str,
        name: str = "",
        content: object = None,
        *,
        duration_s: float | None = None,
        details: Mapping[str, object] | None = None,
        ended_s: float | None = None,
    ) -> None:
        """Adds an event that took ``duration_s`` and ended ``ended_s`` after the case began: now, if not said."""
        end_s = self.clock() - self.started if ended_s is None else ended_s
        at_s = end_s - (duration_s or 0.0)
        self.events.append(Event(kind, at_s, name, content, duration_s, dict(details or {})))

    def model_call(
        self,
        model: str | None,
        usage: Usage | None,
        *,
        duration_s: float,
        readings: Mapping[str, float] | None = None,
        simulated: bool = False,
        details: Mapping[str, object] | None = None,
        ended_s: float | None = None,
    ) -> None:
        """Counts one call of a model: tokens and the server's own times add up, the first TTFT stays.

        ``details`` are kept with its event; ``ended_s`` is as in ``event``.
        """
        self.api_calls += 1
        self.model = model or self.model
        self.simulated = self.simulated or simulated
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage + usage
        for name, value in (readings or {}).items():
            if name.startswith("server."):
                self.measured[name] = self.measured.get(name, 0.0) + value
            else:
                self.measured.setdefault(name, value)
        kept: dict[str, object] = {"readings": dict(readings or {}), **(details or {})}
        if usage is not None:
            kept["usage"] = {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cached_tokens": usage.cached_tokens,
                "reasoning_tokens": usage.reasoning_tokens,
            }
        self.event("model_call", model or "", duration_s=duration_s, details=kept, ended_s=ended_s)

    def response(self, output: object) -> Response:
        """Everything collected, with the answer."""
        return Response(
            output=output,
            usage=self.usage,
            cost=self.cost,
            api_calls=self.api_calls or None,
            events=tuple(self.events),
            observed=dict(self.observed),
            readings={**{reported_name(str(name)): value for name, value in self.readings.items()}, **self.measured},
            model=self.model,
            simulated=self.simulated,
        )


@contextmanager
def recording(recorder: Recorder | None = None) -> Iterator[Recorder]:
    """Makes a recorder the current one for what runs inside, tasks and threads started there included."""
    mine = recorder or Recorder()
    token = _current.set(mine)
    try:
        yield mine
    finally:
        _current.reset(token)


def current() -> Recorder:
    """The recorder of the case being answered; one that nobody reads where no case is."""
    return _current.get() or Recorder()


@contextmanager
def tool_call(name: str, arguments: object = None) -> Iterator[list[object]]:
    """Records the call of a tool: ``with tool_call("search", query) as result: result.append(search(query))``."""
    recorder = current()
    recorder.event("tool_call", name, arguments)
    started = recorder.clock()
    result: list[object] = []
    try:
        yield result
    except BaseException as error:
        recorder.event("tool_result", name, f"{type(error).__name__}: {error}", duration_s=recorder.clock() - started)
        raise
    recorder.event("tool_result", name, result[-1] if result else None, duration_s=recorder.clock() - started)
