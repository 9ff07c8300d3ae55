"""What a step is made of: its requests as bytes, and when each of them is due."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentdyno.errors import SpecError
from agentdyno.load.plan.conversations import recorded_conversations
from agentdyno.load.plan.dataset import CaseSet, build_case_requests
from agentdyno.load.plan.orders import JourneyOrder
from agentdyno.load.plan.requests import RequestSet, build_requests
from agentdyno.load.plan.schedule import LoadSchedule, build_schedule
from agentdyno.load.plan.sessions import SessionRequests, build_session_requests
from agentdyno.load.plan.trace import Trace
from agentdyno.model.load import Arrivals, LoadOptions, LoadTarget, Step
from agentdyno.settings.load_requests import TURNS

WORDS = "words:"
"""``Step.requests`` of a set whose prompts all have so many words: ``words:4096``."""
_TRACE = "trace"


@dataclass(frozen=True, slots=True)
class Material:
    """``name`` is that of the set of requests. In conversations of ``turns`` requests, each is followed by the next
    of the set, ``think_ns`` of that one after the answer. With a ``journey`` the entries of the schedule begin it."""

    name: str
    wire: tuple[bytes, ...]
    schedule: LoadSchedule
    turns: int = TURNS.default
    think_ns: NDArray[np.int64] | None = None
    journey: JourneyOrder | None = None


class Materials:
    """Builds sets of requests as steps ask for them; beside the target's own only one is kept, as they are large."""

    def __init__(
        self,
        target: LoadTarget,
        options: LoadOptions,
        *,
        key: str | None = None,
        trace: Trace | None = None,
        cases: CaseSet | None = None,
        journey: JourneyOrder | None = None,
    ) -> None:
        self.journey = journey
        self._target, self._options, self._key, self._trace, self._cases = target, options, key, trace, cases
        self._own: RequestSet | SessionRequests | None = None
        self._other: tuple[str, RequestSet] | None = None

    def first(self) -> bytes:
        """One request of the target's own set."""
        own = self._owned(0)
        return (own.requests if isinstance(own, SessionRequests) else own).wire[0]

    def of(self, step: Step) -> Material:
        """``SpecError`` where the step asks for something that is not there."""
        if self.journey is not None:
            return Material("journey", (), build_schedule(step, 1), journey=self.journey)
        if step.arrivals is Arrivals.TRACE and self._trace is not None and self._trace.session is not None:
            return self._replayed(step, self._trace)
        if step.arrivals is Arrivals.TRACE:
            replayed = self._named(_TRACE, step.seed)
            recorded_ns = None if self._trace is None else self._trace.due_ns
            return Material(_TRACE, replayed.wire, build_schedule(step, len(replayed.wire), recorded_ns=recorded_ns))
        if step.requests:
            named = self._named(step.requests, step.seed)
            return Material(step.requests, named.wire, build_schedule(step, len(named.wire)))
        own = self._owned(step.seed)
        if not isinstance(own, SessionRequests):
            return Material("", own.wire, build_schedule(step, len(own.wire)))
        wire = own.requests.wire
        opening = own.opening(build_schedule(step, len(wire) // own.turns))
        return Material("", wire, opening, own.turns, own.think_ns)

    def _replayed(self, step: Step, trace: Trace) -> Material:
        talks = recorded_conversations(trace, step.seed)
        order = JourneyOrder("", "", self._target, self._options, self._key, talks)
        schedule = build_schedule(step, len(talks.turns), recorded_ns=talks.starts_ns)
        return Material(_TRACE, (), schedule, journey=order)

    def _owned(self, seed: int) -> RequestSet | SessionRequests:
        if self._own is None:
            if self._cases is not None:
                self._own = build_case_requests(self._target, self._options, self._cases, seed, key=self._key)
            elif self._options.sessions.turns > 1:
                self._own = build_session_requests(self._target, self._options, seed, key=self._key)
            else:
                self._own = build_requests(self._target, self._options, seed, key=self._key)
        return self._own

    def _named(self, name: str, seed: int) -> RequestSet:
        if self._other is None or self._other[0] != name:
            words = lengths = None
            if name == _TRACE:
                if self._trace is None:
                    raise SpecError("the step replays a trace, and none is given")
                lengths = self._trace.lengths()
            elif name.startswith(WORDS) and name.removeprefix(WORDS).isdecimal():
                words = int(name.removeprefix(WORDS))
            else:
                raise SpecError(f"there is no set of requests {name!r}", remedy=f"It is empty, or {WORDS}N.")
            built = build_requests(self._target, self._options, seed, words=words, key=self._key, lengths=lengths)
            self._other = (name, built)
        return self._other[1]
