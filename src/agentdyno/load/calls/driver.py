"""Load on anything that answers a case: a function, a command, an endpoint behind the agent contract.

The agent lives in an event loop in a thread of its own, so that the schedule is kept while windows are worked with.
What the agent does inside the loop delays other calls; that shows as lag, and is the agent's in the end.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from agentdyno.contracts import Agent, CaseFailed
from agentdyno.errors import DynoError, RunError, SpecError
from agentdyno.load.calls.calls import AgentCalls, CallBatch
from agentdyno.load.calls.journeys import AgentJourneys
from agentdyno.load.journeys.replay import Replay
from agentdyno.load.journeys.runner import Journey, JourneyPace
from agentdyno.load.plan.conversations import recorded_conversations
from agentdyno.load.plan.prompts import prompt_lengths, prompt_texts
from agentdyno.load.plan.schedule import (
    LoadSchedule,
    build_schedule,
    check_step,
    concurrency_at,
    expected_requests,
)
from agentdyno.load.plan.sessions import plan_sessions
from agentdyno.load.plan.trace import Trace
from agentdyno.load.scenarios.large_inputs import words_named
from agentdyno.load.windows.collect import WindowBuilder
from agentdyno.load.windows.core import CoreTimes, with_core
from agentdyno.load.windows.records import EXTRA, UNKNOWN, Gaps, RawFile, records_of
from agentdyno.model.case import Case, Response
from agentdyno.model.load import Arrivals, LoadOptions, Objective, Step, Window

_NS = 1e9
_PATIENCE_S = 0.5
_TRIES = 3
_DISTINCT = 256
_NO_GAPS: Gaps = np.zeros(0, dtype=np.int64)
T = TypeVar("T")
_log = logging.getLogger(__name__)


class AgentDriver:
    """Keeps schedules against an agent; see ``load.driver.Driver``. ``connections`` of the options caps its calls.

    ``cases`` are asked in a circle; where there are none, prompts are made up as ``options`` say. ``trace`` is what
    steps with such arrivals replay, with prompts as long as recorded. ``artifacts`` is the folder that the raw
    requests are written to. With a ``journey`` the schedule says when journeys begin. ``left`` holds windows that did
    not come out because the iterator was closed.
    """

    def __init__(
        self,
        agent: Agent,
        cases: Sequence[Case],
        options: LoadOptions,
        *,
        objectives: Sequence[Objective] = (),
        artifacts: Path | None = None,
        trace: Trace | None = None,
        journey: Journey | None = None,
    ) -> None:
        self._journey = journey
        self.name = agent.name
        self.simulated = False
        self.left: tuple[Window, ...] = ()
        self._agent, self._options, self._objectives, self._trace = agent, options, tuple(objectives), trace
        self._artifacts = artifacts if options.keep_requests else None
        self._raw: RawFile | None = None
        self._cases = tuple(cases)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._index = 0
        self._starts_s = 0.0
        self._core = CoreTimes()
        self.began_ns: int | None = None
        self._observed: dict[str, object] = {}

    def open(self) -> None:
        """Starts the agent and asks it one case, up to three times. ``DynoError`` where it never answers."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="agentdyno-load", daemon=True)
        self._thread.start()
        try:
            self._wait(self._agent.start(), self._options.timeout_s)
            if self._journey is None:  # what a journey asks only the journey knows
                self._probe()
            if self._artifacts is not None:
                self._raw = RawFile(self._artifacts)
        except BaseException:
            self.close()
            raise

    def run(self, step: Step) -> Iterator[Window]:
        """The windows of one step. An interrupt while it runs stops it; the windows so far still come out."""
        self.left = ()
        calls, builder = self._prepare(step)
        self._opened().call_soon_threadsafe(calls.begin)
        ready: deque[Window] = deque()
        running = True
        try:
            while running:
                try:
                    batch = calls.batches.get(timeout=0.1)
                except queue.Empty:
                    continue
                self._add(builder, batch)
                ready += map(self._with_core, builder.pop_finished(batch.up_to_ns, batch.open_due_ns))
                if batch.last:
                    running = False
                    # Replayed conversations may have ended before their time was over.
                    ready += self._close_step(builder, batch.up_to_ns if calls.now_ns() < builder.ends_ns else None)
                while ready:
                    yield ready.popleft()
        except BaseException as error:
            if running:
                ready += self._break_off(calls, builder)
            if not isinstance(error, KeyboardInterrupt):
                self.left = tuple(ready)
                raise
            yield from ready
            raise

    def observed(self) -> Mapping[str, object]:
        return dict(self._observed)

    def close(self) -> None:
        """Ends the agent and its loop; returns within a second or so even where the agent hangs."""
        if self._raw is not None:
            self._raw.close()
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._loop = self._thread = None
        ending = asyncio.run_coroutine_threadsafe(_shut_down(self._agent), loop)
        try:
            ending.result(2 * _PATIENCE_S)
        except FutureTimeout:
            ending.cancel()
        except Exception:  # noqa: BLE001  (whatever it says, its work is done)
            _log.debug("closing the agent %s failed", self.name, exc_info=True)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(_PATIENCE_S)
            if not thread.is_alive():
                loop.close()

    def _prepare(self, step: Step) -> tuple[AgentCalls, WindowBuilder]:
        self._opened()
        check_step(step)
        if expected_requests(step) > self._options.max_requests:
            raise SpecError(
                f"the step {step.name!r} asks for {expected_requests(step):,.0f} requests",
                remedy=f"max_requests is {self._options.max_requests:,}.",
            )
        sessions = self._options.sessions
        plan = plan_sessions(sessions, self._options.prompts, step.seed) if sessions.turns > 1 else None
        cases = self._case_set(step)
        recorded_ns = None if self._trace is None else self._trace.due_ns
        journey, once = self._journey, False
        if self._trace is not None and self._trace.session is not None and step.arrivals is Arrivals.TRACE:
            talks = recorded_conversations(self._trace, step.seed)
            journey, once, recorded_ns = Replay(talks), True, talks.starts_ns
        schedule = build_schedule(step, len(cases), recorded_ns=recorded_ns, sessions=plan is not None)
        if journey is not None:
            none = LoadSchedule(schedule.due_ns[:0], schedule.stage[:0], schedule.request[:0])
            calls = AgentCalls(self._agent, _round(cases), step, none, self._options)
            calls.others = AgentJourneys(journey, _pace(step, schedule, once=once), calls)
        else:
            calls = AgentCalls(self._agent, _round(cases), step, schedule, self._options, plan)
        if self.began_ns is None:
            self.began_ns = calls.start_ns
        self._starts_s = (calls.start_ns - self.began_ns) / _NS
        self._core = CoreTimes()
        self._core.add(0, 0, 0)
        builder = WindowBuilder(step, self._options.window_s, self._index, self._starts_s, self._objectives)
        builder.simulated = self.simulated
        return calls, builder

    def _case_set(self, step: Step) -> tuple[Case, ...]:
        if step.arrivals is Arrivals.TRACE and self._trace is not None:
            return _as_cases(prompt_texts(self._trace.input_words.tolist(), step.seed))
        words = words_named(step.requests)
        if words is None and self._cases:
            return self._cases
        if words is None and self._options.prompt:
            return (Case("prompt", self._options.prompt),)
        prompts = self._options.prompts
        if words is not None:
            prompts = replace(prompts, distribution="fixed", mean=words)
        count = max(4, min(_DISTINCT, 4_000_000 // max(int(prompts.mean), 1)))
        lengths = prompt_lengths(prompts, count, step.seed)
        return _as_cases(prompt_texts(lengths, step.seed, shared=prompts.shared))

    def _add(self, builder: WindowBuilder, batch: CallBatch) -> None:
        self.simulated = builder.simulated = self.simulated or batch.simulated
        if batch.rows:
            records = records_of(list(batch.rows))
            extras = np.array([(UNKNOWN, cached, UNKNOWN) for cached in batch.cached], EXTRA)
            builder.add(records, _NO_GAPS, extras)
            if self._raw is not None:
                self._raw.add(records)
        self._core.add(batch.at_ns, batch.cpu_ns, batch.held_ns)
        for due_ns, outcome, text in batch.examples:
            builder.example(due_ns, outcome, text)

    def _with_core(self, window: Window) -> Window:
        begin_ns = (window.starts_s - self._starts_s) * _NS
        return with_core(window, [self._core.between(begin_ns, begin_ns + window.duration_s * _NS)])

    def _break_off(self, calls: AgentCalls, builder: WindowBuilder) -> tuple[Window, ...]:
        self._opened().call_soon_threadsafe(calls.stop)
        stopped_ns = 0
        try:
            while True:
                batch = calls.batches.get(timeout=_PATIENCE_S)
                self._add(builder, batch)
                stopped_ns = batch.up_to_ns
                if batch.last:
                    break
        except queue.Empty:  # the agent blocks the loop: what it had said until then is kept
            stopped_ns = stopped_ns or calls.now_ns()
        return self._close_step(builder, stopped_ns)

    def _close_step(self, builder: WindowBuilder, stopped_ns: int | None) -> tuple[Window, ...]:
        windows = tuple(map(self._with_core, builder.finish(stopped_ns)))
        self._index = builder.next_index
        return windows

    def _probe(self) -> None:
        case = self._case_set(Step("check", ()))[0]
        last = ""
        for _ in range(_TRIES):
            try:
                response = self._wait(self._agent.run(case), self._options.timeout_s)
            except CaseFailed as failure:
                last = failure.message
                if failure.fatal:
                    raise RunError(last, where=f"agent {self.name}", remedy=failure.remedy or None) from None
            except DynoError:
                raise
            except Exception as error:  # noqa: BLE001  (an agent may raise anything)
                last = f"{type(error).__name__}: {error}"
            else:
                self._take_note(response)
                return
        raise RunError(
            f"it answered none of {_TRIES} calls before the load: {last}",
            where=f"agent {self.name}",
            remedy="Try it by itself with `dyno try`.",
        )

    def _take_note(self, response: Response) -> None:
        self.simulated = self.simulated or response.simulated
        self._observed = {**response.observed, "version": self._agent.version, "processes": 1}
        if response.model is not None:
            self._observed["model"] = response.model
        if response.usage is not None:
            self._observed["token_source"] = "usage"

    def _wait(self, work: Coroutine[object, object, T], limit_s: float) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._opened())
        try:
            return future.result(limit_s)
        except FutureTimeout:
            if future.done():  # the agent's own
                raise
            raise RunError(f"no answer within {limit_s:g} s", where=f"agent {self.name}") from None
        finally:
            future.cancel()

    def _opened(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise RunError("the driver is not open", where=f"agent {self.name}")
        return self._loop


def _pace(step: Step, schedule: LoadSchedule, *, once: bool) -> JourneyPace:
    wanted = (lambda at_s: concurrency_at(step, at_s)) if step.arrivals is Arrivals.CLOSED else None
    return JourneyPace(round(step.duration_s * _NS), iter(schedule.due_ns.tolist()), step.seed, wanted, once=once)


def _as_cases(texts: Sequence[str]) -> tuple[Case, ...]:
    return tuple(Case(f"prompt-{number}", text) for number, text in enumerate(texts))


def _round(cases: tuple[Case, ...]) -> Callable[[int], Case]:
    return lambda number: cases[number % len(cases)]


async def _shut_down(agent: Agent) -> None:
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await agent.close()
    except TimeoutError:
        pass
    mine = asyncio.current_task()
    rest = [task for task in asyncio.all_tasks() if task is not mine]
    for task in rest:
        task.cancel()
    if rest:
        await asyncio.wait(rest, timeout=_PATIENCE_S / 2)
