"""What a journey is given: calls with the stamps of the load engine, time to think, and checks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from time import perf_counter_ns
from typing import Protocol

from agentdyno.model.load import Outcome

_NS = 1_000_000_000
_SEEDS = 1_000_003
_EARLY_NS = 3_000_000
"""How long before a call is due the journey goes on: the call itself is sent by the engine's own timer."""


class CallFailed(Exception):
    """A call of a journey was no success; it is counted already. A journey that does not catch it ends there."""

    def __init__(self, outcome: Outcome, status: int, message: str) -> None:
        super().__init__(message or outcome.value)
        self.outcome, self.status = outcome, status


@dataclass(frozen=True, slots=True)
class AskedCall:
    """What one call sends: ``content`` to a model or an agent; with a ``method``, a plain request of its own.
    ``output_tokens`` are those of a model's answer at most, where not the target's own."""

    content: object = None
    method: str = ""
    path: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class JourneyAnswer:
    """``text`` is what was said (the body, where the target speaks plain HTTP), ``status`` the HTTP status (0 of an
    agent that has none). Times are in seconds: ``latency_s`` from when the call was due, ``ttft_s`` from sending."""

    text: str
    status: int
    latency_s: float
    ttft_s: float | None = None

    def json(self) -> object:
        """The text as JSON."""
        value: object = json.loads(self.text)
        return value


@dataclass(frozen=True, slots=True)
class EndedJourneyCall:
    """What came of a call. ``key`` is how ``JourneyCalls`` knows it until it is settled."""

    key: int
    outcome: Outcome
    why: str
    answer: JourneyAnswer
    done_ns: int


class JourneyCalls(Protocol):
    """Makes the calls of journeys to one target. Times are ``perf_counter_ns``."""

    def call(self, asked: AskedCall, due_ns: int) -> asyncio.Future[EndedJourneyCall]:
        """Sends it when it is due. Cancelled where the load ends before that."""

    def settle(self, key: int, problem: str) -> None:
        """A call is counted: as a failed check where there is a problem."""

    def fail(self, due_ns: int, problem: str) -> None:
        """A journey failed while none of its calls was open: counted as a call that was never made."""


class JourneyClient:
    """One user on a journey. ``number`` says which one, ``random`` gives the same numbers in every run of a seed."""

    def __init__(self, number: int, due_ns: int, calls: JourneyCalls, seed: int) -> None:
        self.number = number
        self.random = Random(seed * _SEEDS + number)
        self.due_ns = due_ns
        """Before this nothing of the journey is due."""
        self._calls = calls
        self._last: EndedJourneyCall | None = None
        self._problem = ""
        self.called = self.waits = self.over = False
        """Whether a call was made at all, whether one is waited for, and whether no further one may be made."""

    async def ask(self, content: object, *, output_tokens: int | None = None) -> JourneyAnswer:
        """A text or chat messages to a model, an input to an agent, a JSON body to a plain address.

        ``output_tokens`` is how long a model's answer may be. Raises ``CallFailed`` where it is no success.
        """
        return await self._call(AskedCall(content, output_tokens=output_tokens))

    async def request(
        self, method: str, path: str, json: object = None, headers: Mapping[str, str] | None = None
    ) -> JourneyAnswer:
        """A request to a path below a plain address, as in ``request("GET", "/basket")``. Raises ``CallFailed``."""
        return await self._call(AskedCall(json, method.upper(), path, headers or {}))

    async def think(self, seconds: float) -> None:
        """The next call is due so long after the answer to the last; its latency counts from there."""
        self._go_on()
        self.due_ns += round(max(seconds, 0.0) * _NS)
        left_ns = self.due_ns - perf_counter_ns() - _EARLY_NS
        if left_ns > 0:
            await asyncio.sleep(left_ns / _NS)

    def due_after(self, pause_ns: int) -> None:
        """As ``think``, for who knows already what the next call asks: it may be made at once, and is ready then."""
        self.due_ns += max(pause_ns, 0)

    def check(self, held: bool, what: str) -> None:
        """Where it does not hold, the last call counts as failed, under ``what``; the journey goes on."""
        if not held:
            self.spoil(what)

    def spoil(self, problem: str) -> None:
        """The last call counts as failed; where that is counted already, one more does that was never made."""
        if self._last is None:
            self._calls.fail(self.due_ns, problem)
        else:
            self._problem = self._problem or problem

    def settle(self) -> None:
        """The last call is counted as it is by now."""
        last, self._last = self._last, None
        if last is not None:
            self._calls.settle(last.key, self._problem if last.outcome is Outcome.OK else "")
        self._problem = ""

    def _go_on(self) -> None:
        self.settle()
        if self.over:
            raise asyncio.CancelledError

    async def _call(self, asked: AskedCall) -> JourneyAnswer:
        self._go_on()
        coming = self._calls.call(asked, self.due_ns)
        self.called = self.waits = True
        try:
            called = await coming
        finally:
            self.waits = False
        self.due_ns, self._last = called.done_ns, called
        if called.outcome is not Outcome.OK:
            raise CallFailed(called.outcome, called.answer.status, called.why)
        return called.answer
