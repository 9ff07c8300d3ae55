"""Journeys whose calls go to an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from agentdyno.load.calls.calls import AgentCalls, CaseAsked, CaseEnded
from agentdyno.load.calls.rows import EndedCall
from agentdyno.load.journeys.client import AskedCall, EndedJourneyCall, JourneyAnswer, JourneyCalls
from agentdyno.load.journeys.runner import Journey, JourneyPace, JourneyRunner
from agentdyno.model.case import Case, as_text
from agentdyno.model.load import Outcome

_NS = 1_000_000_000


class AgentJourneys:
    """Asks ``calls`` for what its journeys ask; see ``calls.OtherWork``."""

    def __init__(self, journey: Journey, pace: JourneyPace, calls: AgentCalls) -> None:
        self._calls = _CasesOfJourneys(calls)
        self._runner = JourneyRunner(journey, self._calls, pace, calls.wake)
        self._begun_ns = calls.start_ns

    def start(self, start_ns: int) -> None:
        self._runner.start(start_ns)

    @property
    def idle(self) -> bool:
        return self._runner.idle

    def open_ns(self) -> tuple[int | None, ...]:
        coming_ns = self._runner.earliest_due_ns()
        return self._calls.earliest_due_ns(), None if coming_ns is None else coming_ns - self._begun_ns

    def stop(self) -> None:
        self._runner.stop()


class _CasesOfJourneys(JourneyCalls):
    def __init__(self, calls: AgentCalls) -> None:
        self._calls = calls
        self._kept: dict[int, CaseEnded] = {}
        self._count = 0

    def call(self, asked: AskedCall, due_ns: int) -> asyncio.Future[EndedJourneyCall]:
        future: asyncio.Future[EndedJourneyCall] = asyncio.get_running_loop().create_future()
        if asked.method:
            raise ValueError("an agent is asked with client.ask(); it has no paths")
        self._count += 1
        case = Case(f"call-{self._count}", asked.content)
        self._calls.ask(CaseAsked(case, self._answer(self._count, future)), due_ns - self._calls.start_ns)
        return future

    def settle(self, key: int, problem: str) -> None:
        ended = self._kept.pop(key)
        if problem:
            ended = replace(ended, outcome=Outcome.CHECK_FAILED, text=problem)
        self._add(ended)

    def fail(self, due_ns: int, problem: str) -> None:
        at_ns = min(due_ns - self._calls.start_ns, self._calls.now_ns())
        call = EndedCall(at_ns, -1, -1, 0, 0, blocked=True)
        self._add(CaseEnded(call, Outcome.CHECK_FAILED, problem, None))

    def earliest_due_ns(self) -> int | None:
        """Of those that have ended and are not judged yet."""
        return min((ended.call.due_ns for ended in self._kept.values()), default=None)

    def _add(self, ended: CaseEnded) -> None:
        self._calls.add_row(ended.call, ended.outcome, ended.text, ended.response)

    def _answer(self, key: int, future: asyncio.Future[EndedJourneyCall]) -> Callable[[CaseEnded | None], None]:
        def ended(case: CaseEnded | None) -> None:
            if case is None:
                future.cancel()
            elif future.done():  # the journey is gone
                self._add(case)
            else:
                self._kept[key] = case
                future.set_result(_told(key, case, self._calls.start_ns))

        return ended


def _told(key: int, case: CaseEnded, start_ns: int) -> EndedJourneyCall:
    call, response = case.call, case.response
    answer = JourneyAnswer(
        "" if response is None else as_text(response.output),
        0,
        (call.done_ns - call.due_ns) / _NS,
        None if response is None else response.readings.get("ttft_s"),
    )
    return EndedJourneyCall(key, case.outcome, case.text, answer, call.done_ns + start_ns)
