"""One client process: takes orders from the run that started it, keeps the schedule, and sends back what it saw."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter_ns, process_time_ns

import numpy as np

from agentdyno.load.client.backlog import Backlog
from agentdyno.load.client.decode import CHAT
from agentdyno.load.client.journeys import EndpointCalls
from agentdyno.load.client.pipe import Kind, Pipe, RequestBatch, encode_batch, load_value
from agentdyno.load.client.sender import Sender
from agentdyno.load.client.stream_decode import StreamDecoder
from agentdyno.load.journeys.replay import Replay
from agentdyno.load.journeys.runner import Journey, JourneyPace, JourneyRunner, load_journey
from agentdyno.load.plan.orders import ClientSettings, StepOrder
from agentdyno.load.windows.core import HeldTime
from agentdyno.load.windows.records import RECORD
from agentdyno.model.load import Dialect
from agentdyno.wire.endpoints import ANSWERS
from agentdyno.workers.serve import die_with

TICK_S = 0.01
FLUSH_NS = 200_000_000
EXPIRE_NS = 100_000_000
_NS = 1_000_000_000
_NONE = np.zeros(0, RECORD)
_NO_GAPS = np.zeros(0, np.int64)


class Client:
    """Lives in an event loop of its own until it is told to quit."""

    def __init__(self, loop: asyncio.AbstractEventLoop, settings: ClientSettings, pipe: Pipe) -> None:
        self._loop, self._settings, self._pipe = loop, settings, pipe
        answers = CHAT.get(settings.dialect) or ANSWERS.get(settings.answers)
        decoder = StreamDecoder(answers, settings.method, settings.max_bytes)
        self._backlog = Backlog(loop, decoder, settings.process)
        self._sender = Sender(loop, settings, self._backlog)
        self._drain_ns = self._start_ns = self._flushed_ns = self._expired_ns = 0
        self._running = self._stopping = False
        self._held = HeldTime()
        self._decoder = decoder
        self._calls: EndpointCalls | None = None
        self._journeys: JourneyRunner | None = None
        self.quit: asyncio.Future[None] = loop.create_future()

    def attend(self) -> None:
        """Does what the other side asks; called when the pipe can be read."""
        for kind, data in self._pipe.receive():
            if kind is Kind.STEP:
                self._task = self._loop.create_task(self._prepare(load_value(data)))
            elif kind is Kind.GO:
                self._go(load_value(data))
            elif kind is Kind.STOP:
                self._stop()
            elif kind is Kind.QUIT:
                self._leave()
        if self._pipe.ended:
            self._leave()

    def _leave(self) -> None:
        if not self.quit.done():
            self.quit.set_result(None)

    async def _prepare(self, order: StepOrder) -> None:
        try:
            self._prepare_journeys(order)
            problem = await self._sender.prepare(order)
        except Exception as error:  # noqa: BLE001 - a client that cannot go on says so, whatever it is
            self._pipe.post(Kind.FAILED, f"{type(error).__name__}: {error}")
            return
        self._drain_ns = round(order.step.drain_s * _NS)
        self._stopping = False
        self._pipe.post(Kind.READY, problem)

    def _prepare_journeys(self, order: StepOrder) -> None:
        self._calls = self._journeys = None
        if order.journey is None:
            return
        settings = self._settings
        pace = JourneyPace(
            round(order.step.duration_s * _NS),
            (due for due, _, _ in order.entries()),
            order.step.seed,
            (lambda at_s: order.in_flight(at_s, settings.process, settings.processes)) if order.closed else None,
            settings.process,
            settings.processes,
            once=order.journey.conversations is not None,
        )
        self._calls = EndpointCalls(self._sender, self._backlog, self._decoder, order.journey)
        journey: Journey
        if order.journey.conversations is not None:
            journey = Replay(order.journey.conversations, chat=settings.dialect is not Dialect.HTTP)
        else:
            journey = load_journey(order.journey.reference, Path(order.journey.base_dir))
        self._journeys = JourneyRunner(journey, self._calls, pace, lambda: None)

    def _go(self, start_ns: int) -> None:
        gc.collect()
        gc.freeze()
        self._start_ns = start_ns
        self._backlog.reset(start_ns)
        self._sender.start(start_ns)
        if self._journeys is not None:
            self._journeys.start(start_ns)
        self._running = True
        self._loop.call_later(TICK_S, self._tick)

    def _stop(self) -> None:
        if self._running:
            self._stopping = True
            if self._journeys is not None:
                self._journeys.stop()
            self._sender.break_off()

    def _tick(self) -> None:
        now_ns = perf_counter_ns()
        sender = self._sender
        if self._journeys is not None and self._journeys.idle:
            sender.end_at(now_ns)  # nobody asks any more
        sender.tick(now_ns)
        if now_ns - self._expired_ns > EXPIRE_NS:
            self._expired_ns = now_ns
            late = now_ns - sender.over_since_ns > self._drain_ns
            sender.expire(now_ns, 0 if late else None)
            if late and self._journeys is not None:
                self._journeys.stop()
        ended = (sender.finished and (self._journeys is None or self._journeys.idle)) or self._stopping
        if ended:
            self._backlog.decode_all()
            now_ns = perf_counter_ns()
        if ended or now_ns - self._flushed_ns > FLUSH_NS:
            self._flushed_ns = now_ns
            self._flush(now_ns)
        self._pipe.flush()
        if not ended:
            self._loop.call_later(TICK_S, self._tick)
            return
        self._running = False
        self._pipe.post(Kind.ENDED, now_ns - self._start_ns)
        self._push_rest()

    def _flush(self, now_ns: int) -> None:
        backlog, sender, start_ns = self._backlog, self._sender, self._start_ns
        for example in backlog.take_examples():
            self._pipe.post(Kind.EXAMPLE, example)
        kept_due_ns, kept_done_ns = (None, None) if self._calls is None else self._calls.earliest()
        coming_ns = None if self._journeys is None else self._journeys.earliest_due_ns()
        open_dues = (sender.earliest_due_ns(), backlog.earliest_due_ns(), kept_due_ns, coming_ns)
        dues = [due for due in open_dues if due is not None]
        up_to_ns = min(backlog.earliest_done_ns() or now_ns, kept_done_ns or now_ns)
        state = RequestBatch(
            _NONE,
            _NO_GAPS,
            up_to_ns - start_ns,
            min(dues) - start_ns if dues else None,
            now_ns - start_ns,
            process_time_ns(),
            self._held.so_far_ns(),
            sender.active,
        )
        self._pipe.post(Kind.BATCH, encode_batch(*backlog.take_rows(), state))

    def _push_rest(self) -> None:
        """Until the other side has everything of this step."""
        self._pipe.flush()
        if self._pipe.waiting and not self._running:
            self._loop.call_later(TICK_S, self._push_rest)


async def _live(pipe: Pipe, settings: ClientSettings) -> None:
    loop = asyncio.get_running_loop()
    client = Client(loop, settings, pipe)
    loop.add_reader(pipe.fileno(), client.attend)
    pipe.post(Kind.READY, "")
    client.attend()
    await client.quit


def _settings(pipe: Pipe) -> ClientSettings | None:
    """Waits for the first message."""
    pipe.socket.setblocking(True)
    try:
        while not pipe.ended:
            for _, data in pipe.receive():
                found: ClientSettings = load_value(data)
                return found
    finally:
        pipe.socket.setblocking(False)
    return None


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """uvloop's where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def main(fd: int) -> None:
    """What the process does: the socket to the run is the descriptor ``fd``."""
    pipe = Pipe(socket.socket(fileno=fd))
    die_with(pipe.socket, watching=True)
    settings = _settings(pipe)
    if settings is None:
        return
    if settings.cpu is not None:
        with suppress(OSError, AttributeError):
            os.sched_setaffinity(0, {settings.cpu})
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a connection is a descriptor
    gc.set_threshold(100_000, 50, 100)  # a collection in the middle of a burst would make stamps late
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(_live(pipe, settings))
