"""The calls of one step to an agent, inside the event loop: each at its time, no more at once than allowed.

Everything here runs in the loop's thread; what has ended goes out in batches. A call is recorded exactly once: when
it ends, when its time is up, or when the step's time is up, whichever comes first.
"""

from __future__ import annotations

import asyncio
import heapq
import queue
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from agentdyno.contracts import Agent, CaseFailed
from agentdyno.load.calls.rows import EndedCall, failed_outcome, record_row
from agentdyno.load.plan.schedule import LoadSchedule, concurrency_at, stage_at
from agentdyno.load.plan.sessions import HeldConversation, SessionPlan
from agentdyno.load.windows.core import HeldTime
from agentdyno.load.windows.records import UNKNOWN
from agentdyno.model.case import Case, Response
from agentdyno.model.load import Arrivals, LoadOptions, Outcome, Step
from agentdyno.servers.simulated.timetable import make_alarm

_NS = 1_000_000_000
_FLUSH_S = 0.05
_TICK_NS = 10_000_000
_LEAD_NS = 5_000_000
_NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class CallBatch:
    """What ended since the batch before; ``cached`` are the tokens of each input that its server had kept, -1 where
    that is not said. ``up_to_ns`` and ``open_due_ns`` are as ``WindowBuilder`` wants them. At
    ``at_ns`` the loop's thread had used ``cpu_ns`` of CPU time in this step, and waited ``held_ns`` for a core."""

    rows: list[tuple[int, ...]]
    cached: list[int]
    examples: list[tuple[int, Outcome, str]]
    up_to_ns: int
    open_due_ns: int | None
    at_ns: int
    cpu_ns: int
    held_ns: int
    simulated: bool
    last: bool


@dataclass(order=True, slots=True)
class Due:
    """A call that is to be made. Ordered by time."""

    due_ns: int
    request: int = field(compare=False)
    stage: int = field(compare=False)
    conversation: HeldConversation | None = field(compare=False, default=None)
    blocked: bool = field(compare=False, default=False)
    asked: CaseAsked | None = field(compare=False, default=None)


@dataclass(frozen=True, slots=True)
class CaseAsked:
    """A call that somebody asked for by himself. ``ended`` is told of its end in place of the rows: with ``None``
    where the step was over before it was made."""

    case: Case
    ended: Callable[[CaseEnded | None], None]


@dataclass(frozen=True, slots=True)
class CaseEnded:
    call: EndedCall
    outcome: Outcome
    text: str
    response: Response | None


class OtherWork(Protocol):
    """What asks for calls by itself."""

    def start(self, start_ns: int) -> None: ...

    @property
    def idle(self) -> bool: ...

    def open_ns(self) -> tuple[int | None, ...]:
        """Before each of these times (ns since the step's start) nothing more will be due."""

    def stop(self) -> None: ...


@dataclass(slots=True)
class _Live:
    call: Due
    sent_ns: int
    task: asyncio.Task[None] | None = None
    timer: asyncio.TimerHandle | None = None


class AgentCalls:
    """One step. ``begin`` and ``stop`` are called in the loop's thread; batches come out of ``batches``."""

    def __init__(
        self,
        agent: Agent,
        cases: Callable[[int], Case],
        step: Step,
        schedule: LoadSchedule,
        options: LoadOptions,
        plan: SessionPlan | None = None,
    ) -> None:
        """``cases`` gives the case of a request by its number. The step's time begins a few milliseconds from now."""
        self.batches: queue.SimpleQueue[CallBatch] = queue.SimpleQueue()
        self.start_ns = time.perf_counter_ns() + _LEAD_NS
        self._agent, self._case, self._step, self._options, self._plan = agent, cases, step, options, plan
        self._dues = schedule.due_ns.tolist()
        self._requests = schedule.request.tolist()
        self._stages = schedule.stage.tolist()
        self._closed = step.arrivals is Arrivals.CLOSED
        self._ends_ns = round(step.duration_s * _NS)
        self._at = 0
        self._waiting: deque[Due] = deque()
        self._thinking: list[Due] = []
        self._live: dict[int, _Live] = {}
        self._began = self._asked = 0
        self._held_until_ns = 0
        self._rows: list[tuple[int, ...]] = []
        self._cached: list[int] = []
        self._examples: list[tuple[int, Outcome, str]] = []
        self._simulated = self._over = False
        self._cpu_ns = self._held_ns = 0
        self._held: HeldTime | None = None
        self.others: OtherWork | None = None
        """Asks for calls by itself, beside the schedule or in place of it."""

    def begin(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._held = HeldTime()
        self._cpu_ns, self._held_ns = time.thread_time_ns(), self._held.so_far_ns()
        self._alarm = make_alarm(self._loop, self._wake)
        self._flusher = self._loop.call_later(_FLUSH_S, self._flush)
        self._alarm.set(self.start_ns)
        if self.others is not None:
            self.others.start(self.start_ns)

    def ask(self, asked: CaseAsked, due_ns: int) -> None:
        """Makes a call when it is due, in nanoseconds since the step's start."""
        if self._over or due_ns >= self._ends_ns or self.now_ns() >= self._ends_ns:
            asked.ended(None)
            return
        self._asked += 1
        call = Due(due_ns, self._asked, stage_at(self._step, due_ns / _NS), asked=asked)
        heapq.heappush(self._thinking, call)
        self._wake()

    def add_row(self, ended: EndedCall, outcome: Outcome, text: str, response: Response | None) -> None:
        """Counts a call that ``ask`` made, or that could not be made."""
        self._note(ended, outcome, response)
        due_ns = ended.due_ns
        if outcome is not Outcome.OK:
            self._examples.append((due_ns, outcome, text))

    def wake(self) -> None:
        """Looks whether the step is over: it is where nobody asks any more."""
        if self.others is not None and self.others.idle:
            self._ends_ns = min(self._ends_ns, max(self.now_ns(), 0))
        self._wake()

    def stop(self) -> None:
        """Breaks the step off: what is in progress is cancelled and counted nowhere."""
        if not self._over:
            self._end()

    def now_ns(self) -> int:
        """Since the step's start."""
        return time.perf_counter_ns() - self.start_ns

    def _wake(self) -> None:
        if self._over:
            return
        now = self.now_ns()
        if now < self._ends_ns:
            self._take_due(now)
            self._send_waiting(now)
            if self._closed and self.others is None:
                self._top_up(now)
        else:
            # What was due in the last moments is asked all the same.
            self._take_due(self._ends_ns - 1)
            self._send_waiting(now)
            self._give_up_unsent()
            busy = self._live or (self.others is not None and not self.others.idle)
            if not busy or now >= self._ends_ns + round(self._step.drain_s * _NS):
                self._time_out_rest(now)
                self._end()
                return
        self._alarm.set(self.start_ns + self._next_moment(now))

    def _take_due(self, now: int) -> None:
        while self._at < len(self._dues) and self._dues[self._at] <= now:
            number = self._at
            self._at += 1
            talk = self._plan.open(number) if self._plan is not None else None
            self._waiting.append(Due(self._dues[number], self._requests[number], self._stages[number], talk))
            self._send_waiting(now)
        while self._thinking and self._thinking[0].due_ns <= now:
            self._waiting.append(heapq.heappop(self._thinking))
            self._send_waiting(now)

    def _send_waiting(self, now: int) -> None:
        while self._waiting and len(self._live) < self._options.connections and now >= self._held_until_ns:
            self._start(self._waiting.popleft())
        # Whatever is left waits for the target; those before the last ones know it already.
        for call in reversed(self._waiting):
            if call.blocked:
                break
            call.blocked = True

    def _top_up(self, now: int) -> None:
        """Closed loop: keeps as many conversations going as the step says."""
        wanted = min(concurrency_at(self._step, now / _NS), self._options.connections)
        while len(self._live) + len(self._thinking) < wanted and now >= self._held_until_ns:
            if self._began >= self._options.max_requests:
                return
            talk = self._plan.open(self._began) if self._plan is not None else None
            self._start(Due(now, self._began, stage_at(self._step, now / _NS), talk))

    def _start(self, call: Due) -> None:
        self._began += 1
        key = self._began
        case = self._case(call.request) if call.asked is None else call.asked.case
        if call.conversation is not None:
            talk = call.conversation
            case = replace(case, id=f"{talk.number}.{talk.turn}", input=talk.ask())
        live = self._live[key] = _Live(call, self.now_ns())
        live.task = self._loop.create_task(self._call(key, live, case))
        live.timer = self._loop.call_later(self._options.timeout_s, self._expire, key)

    async def _call(self, key: int, live: _Live, case: Case) -> None:
        live.sent_ns = self.now_ns()
        response: Response | None = None
        outcome, text = Outcome.OK, ""
        try:
            response = await self._agent.run(case)
        except CaseFailed as failure:
            outcome, text, response = failed_outcome(failure), failure.message, failure.response
            if self._step.honour_retry_after and failure.retry_after_s is not None:
                pause_ns = round(failure.retry_after_s * _NS)
                self._held_until_ns = max(self._held_until_ns, self.now_ns() + pause_ns)
        except asyncio.CancelledError:
            if key not in self._live:  # cancelled from here, and counted already
                raise
            outcome, text = Outcome.STREAM_ERROR, "the agent cancelled its own call"
        except Exception as error:  # noqa: BLE001  (an agent may raise anything; it is counted)
            outcome = Outcome.TIMEOUT if isinstance(error, TimeoutError) else Outcome.STREAM_ERROR
            text = f"{type(error).__name__}: {error}"
        self._finish(key, outcome, text, response)

    def _expire(self, key: int) -> None:
        live = self._live.get(key)
        if live is not None:
            self._finish(key, Outcome.TIMEOUT, f"no answer within {self._options.timeout_s:g} s", None)
            if live.task is not None:
                live.task.cancel()

    def _finish(self, key: int, outcome: Outcome, text: str, response: Response | None) -> None:
        done = self.now_ns()
        live = self._live.pop(key, None)
        if live is None or self._over:
            return
        if live.timer is not None:
            live.timer.cancel()
        call = live.call
        if response is not None and response.simulated:
            self._simulated = True
        ended = EndedCall(call.due_ns, live.sent_ns, done, call.request, call.stage, call.blocked)
        if call.asked is not None:
            call.asked.ended(CaseEnded(ended, outcome, text, response))
            self._wake()
            return
        self._note(ended, outcome, response)
        if outcome is not Outcome.OK:
            self._examples.append((call.due_ns, outcome, text))
        elif call.conversation is not None:
            self._go_on(call, done, response)
        self._wake()

    def _note(self, ended: EndedCall, outcome: Outcome | None, response: Response | None) -> None:
        self._rows.append(record_row(ended, outcome, response))
        usage = response.usage if response is not None and outcome is Outcome.OK else None
        self._cached.append(UNKNOWN if usage is None else usage.cached_tokens)

    def _go_on(self, call: Due, done: int, response: Response | None) -> None:
        assert call.conversation is not None
        answer = response.output if response is not None and isinstance(response.output, str) else ""
        due = call.conversation.answered(answer, done)
        if due is not None and due < self._ends_ns:
            heapq.heappush(self._thinking, Due(due, call.request, stage_at(self._step, due / _NS), call.conversation))

    def _give_up_unsent(self) -> None:
        for call in self._waiting:
            never = EndedCall(call.due_ns, -1, -1, call.request, call.stage, call.blocked)
            self._note(never, None, None)
            if call.asked is not None:
                call.asked.ended(None)
        self._waiting.clear()
        for call in self._thinking:
            if call.asked is not None:
                call.asked.ended(None)
        self._thinking.clear()

    def _time_out_rest(self, now: int) -> None:
        for key in tuple(self._live):
            live = self._live.pop(key)
            call = live.call
            ended = EndedCall(call.due_ns, live.sent_ns, now, call.request, call.stage, call.blocked)
            self._note(ended, Outcome.TIMEOUT, None)
            self._examples.append((call.due_ns, Outcome.TIMEOUT, "no answer until the end of the step"))
            self._drop(live)

    def _end(self) -> None:
        self._over = True
        if self.others is not None:
            self.others.stop()
        for key in tuple(self._live):
            self._drop(self._live.pop(key))
        self._alarm.close()
        self._flusher.cancel()
        self._emit(last=True)
        if self._held is not None:
            self._held.close()

    def _drop(self, live: _Live) -> None:
        if live.timer is not None:
            live.timer.cancel()
        if live.task is not None:
            live.task.cancel()

    def _next_moment(self, now: int) -> int:
        if now >= self._ends_ns:
            return self._ends_ns + round(self._step.drain_s * _NS)
        moments = [self._ends_ns]
        if self._at < len(self._dues):
            moments.append(self._dues[self._at])
        if self._thinking:
            moments.append(self._thinking[0].due_ns)
        if self._held_until_ns > now:
            moments.append(self._held_until_ns)
        if self._closed:
            moments.append(now + _TICK_NS)
        return min(moments)

    def _flush(self) -> None:
        if not self._over:
            self._emit(last=False)
            self._flusher = self._loop.call_later(_FLUSH_S, self._flush)

    def _emit(self, *, last: bool) -> None:
        now = self.now_ns()
        cpu_ns = time.thread_time_ns() - self._cpu_ns
        held_ns = 0 if self._held is None else self._held.so_far_ns() - self._held_ns
        due = min((live.call.due_ns for live in self._live.values()), default=_NEVER)
        if self._waiting:
            due = min(due, min(call.due_ns for call in self._waiting))
        if self._at < len(self._dues):
            due = min(due, self._dues[self._at])
        if self._thinking:
            due = min(due, self._thinking[0].due_ns)
        up_to = now
        if self.others is not None:
            due = min(due, *(at for at in self.others.open_ns() if at is not None), _NEVER)
            up_to = min(now, due)
        open_due = None if due == _NEVER else due
        work = (self._rows, self._cached, self._examples)
        batch = CallBatch(*work, up_to, open_due, now, cpu_ns, held_ns, simulated=self._simulated, last=last)
        self._rows, self._cached, self._examples = [], [], []
        self.batches.put(batch)
