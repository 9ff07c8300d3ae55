"""Sends the requests of one client when they are due, over connections that it keeps."""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from heapq import heappop, heappush
from time import perf_counter_ns

from agentdyno.load.client.asked import AskedRequests, Ended
from agentdyno.load.client.backlog import BLOCKED, RETRIED, Backlog, Item
from agentdyno.load.client.connections import Links
from agentdyno.load.client.decode import pause_asked_s
from agentdyno.load.client.hot import COMPLETE, ExchangeEnding, LoadConnection
from agentdyno.load.plan.orders import ClientSettings, StepOrder
from agentdyno.servers.simulated.timetable import make_alarm

AT_ONCE = 32
"""Requests sent before the event loop gets to read from sockets again."""
SLEPT_NS = 20_000
"""A loop that finds something to read after less than this has not slept: it was there before."""
_NS = 1_000_000_000

Entry = tuple[int, int, int, int]
"""(due in ns, request, stage, flags) of a request that waits to be sent."""


class Sender:
    """The requests of a step are sent when they are due: never earlier, and late only where no connection is free."""

    def __init__(self, loop: asyncio.AbstractEventLoop, settings: ClientSettings, backlog: Backlog) -> None:
        self._loop, self._settings, self._backlog = loop, settings, backlog
        self._alarm = make_alarm(loop, self._pump)
        self._links = Links(loop, settings, self, self._serve_waiting)
        self._tasks: set[asyncio.Task[None]] = set()
        self._connecting: dict[int, Entry] = {}
        self._wire: tuple[bytes, ...] = ()
        self._asked = AskedRequests(loop)
        self._order: StepOrder | None = None
        self._clear()

    def _clear(self) -> None:
        self._waiting: deque[Entry] = deque()
        self._later: list[tuple[int, int, int]] = []  # further turns of conversations, as a heap
        self._next: tuple[int, int, int] | None = None
        self._start_ns = self._end_ns = self._paused_until_ns = 0
        self._over = True
        self._wanted = self._begun = self._active = self._most = 0
        self._loops = self._honours = False
        self._wave: list[tuple[LoadConnection, ExchangeEnding, int]] = []
        self._wave_ns = self._waited_ns = self._free_ns = 0

    async def prepare(self, order: StepOrder) -> str:
        """Takes an order and opens the first connections; returns what went wrong with them, if anything did."""
        self._clear()
        self._order = order
        self._wire = order.wire or self._wire
        return await self._links.warm_up(order.connections_wanted(self._settings.processes))

    def start(self, start_ns: int) -> None:
        """The step begins at ``start_ns``."""
        assert self._order is not None
        self._start_ns = start_ns
        self._end_ns = start_ns + round(self._order.step.duration_s * _NS)
        self._over = False
        self._most = self._order.max_requests
        by_others = self._order.journey is not None
        self._loops = self._order.closed and not by_others
        self._links.keep_spare = not self._loops  # whoever comes next is no part of what is asked for by now
        self._honours = self._order.step.honour_retry_after
        self._entries = iter(()) if by_others else self._order.entries()
        self._backlog.after = self._follow if self._order.turns > 1 and not self._loops else None
        if self._loops:
            self._alarm.set(start_ns)
        else:
            self._advance()
            self._arm()

    def tick(self, now_ns: int) -> None:
        """To be called every some milliseconds: what need not be exact."""
        if self._over:
            return
        if now_ns >= self._end_ns and (self._next is None or self._next[0] > now_ns):
            self._over = True
            self._links.keep_spare = False
            for _, request, _ in self._later:
                self._asked.drop(request)
            self._later.clear()
            for due_ns, request, stage, _ in self._waiting:
                self._backlog.add_unsent(due_ns, request, stage)
                self._asked.drop(request)
            self._active -= len(self._waiting)
            self._waiting.clear()
        elif self._loops:
            self._fill(now_ns)

    def end_at(self, now_ns: int) -> None:
        """The step ends now, where it has not ended yet."""
        self._end_ns = min(self._end_ns, now_ns)

    def expire(self, now_ns: int, timeout_ns: int | None = None) -> None:
        """Ends exchanges that have taken longer than allowed; ``timeout_ns`` where not as in the settings."""
        allowed = round(self._settings.timeout_s * _NS) if timeout_ns is None else timeout_ns
        before = now_ns - allowed
        for link in self._links.busy():
            if link.sent_ns <= before:
                link.time_out(now_ns)
        if timeout_ns is not None:
            for task in self._tasks:
                task.cancel()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to send or to wait for."""
        return self._over and self._active == 0

    @property
    def active(self) -> int:
        """Requests that were due and have not ended."""
        return self._active

    @property
    def over_since_ns(self) -> int:
        """When the last stage ends."""
        return self._end_ns

    def earliest_due_ns(self) -> int | None:
        """Of everything that has not ended, sent or not."""
        dues = [link.due_ns for link in self._links.busy()]
        dues += [entry[0] for entry in self._connecting.values()]
        if self._waiting:
            dues.append(self._waiting[0][0])  # they wait in the order in which they were due
        dues += [entry[0] for entry in (self._next, *self._later[:1]) if entry is not None]
        return min(dues, default=None)

    def ask(self, data: bytes, due_ns: int, ended: Ended) -> None:
        """Sends a request when it is due. ``ended`` is told of its end, in place of the backlog: with ``None`` where
        the step was over before it was sent."""
        if self._over or self._order is None:
            ended(None)
            return
        number = self._asked.add(data, ended)
        stage = self._stage_at(due_ns)
        if due_ns > perf_counter_ns():
            heappush(self._later, (due_ns, number, stage))
            self._arm()
        else:
            self._dispatch(due_ns, number, stage)

    def break_off(self) -> None:
        """Forgets what is in progress and what is still due."""
        self._over = True
        self._links.keep_spare = False
        self._next = None
        self._later.clear()
        self._waiting.clear()
        self._asked.drop_all()
        for task in self._tasks:
            task.cancel()
        self._links.abort_all()
        self._connecting.clear()
        self._wave.clear()
        self._links.opening = 0
        self._active = 0

    def close(self) -> None:
        self.break_off()
        self._alarm.close()

    def ended(self, link: LoadConnection, ending: ExchangeEnding, now_ns: int) -> None:
        """An exchange is over: note it, and use the connection for the next."""
        if ending is not COMPLETE and self._is_stale(link, ending):
            # A kept connection that the other side had dropped: the request goes once more, over a fresh one.
            self._links.discard(link)
            self._open_for((link.due_ns, link.request, link.stage, link.flags | RETRIED))
            return
        # The kernel's stamp is from before the answer waited to be read; what follows is due from the reading on.
        read_ns = perf_counter_ns() if link.stamped else now_ns
        if not self._wave:
            self._begin_wave(read_ns)
        self._wave.append((link, ending, read_ns))
        own = (0, read_ns - now_ns) if link.stamped else (read_ns - self._wave_ns + self._waited_ns,) * 2
        noted = (link.due_ns, link.sent_ns, now_ns, link.request, link.stage, link.flags)
        self._hand_on((*noted, ending, link.reads, "", *own))
        if self._honours and link.reads:
            self._obey(link.reads[0][1], now_ns)

    def _hand_on(self, item: Item) -> None:
        """To whoever asked for it, else to the backlog."""
        if not (self._asked and self._asked.take_end(item)):
            self._backlog.add(item)

    def _begin_wave(self, now_ns: int) -> None:
        """The first answer of those that the loop found ready at once: the others are there as well, and wait for
        their turn. Where the loop did not sleep before, they came while it worked, half-way through on average."""
        free_ns = max(self._free_ns, self._backlog.free_ns)
        self._waited_ns = max(free_ns - self._wave_ns, 0) // 2 if now_ns - free_ns < SLEPT_NS else 0
        self._wave_ns = now_ns
        self._loop.call_soon(self._finish_wave)

    def _finish_wave(self) -> None:
        """Nothing is sent until all that was ready is read and stamped."""
        wave, self._wave = self._wave, []
        for link, ending, now_ns in wave:
            self._use_again(link, ending, now_ns)
        self._free_ns = perf_counter_ns()

    def _use_again(self, link: LoadConnection, ending: ExchangeEnding, now_ns: int) -> None:
        if self._waiting or not self._loops or ending is not COMPLETE or not self._goes_on(now_ns):
            self._active -= 1
            self._links.give(link)
            if self._waiting:
                self._serve_waiting()
        elif link.keep and link.usable:
            self._send(link, now_ns, self._circle(), self._stage_at(now_ns), 0)
        else:
            self._links.discard(link)
            self._open_for((now_ns, self._circle(), self._stage_at(now_ns), BLOCKED))

    def _is_stale(self, link: LoadConnection, ending: ExchangeEnding) -> bool:
        lost = ending is ExchangeEnding.LOST or ending is ExchangeEnding.CLOSED
        return lost and not link.reads and link.used > 1 and not link.flags & RETRIED

    def _goes_on(self, now_ns: int) -> bool:
        """Whether a closed loop begins another request in the place of one that has just ended."""
        return (
            self._active <= self._wanted
            and self._begun < self._most
            and self._paused_until_ns <= now_ns < self._end_ns
            and not self._over
        )

    def dropped(self, link: LoadConnection) -> None:
        self._links.forget(link)

    def _circle(self) -> int:
        """The next request of a closed loop: the set is gone through in a circle, by all clients together."""
        self._begun += 1
        settings = self._settings
        return (settings.process + self._begun * settings.processes) % len(self._wire)

    def _stage_at(self, now_ns: int) -> int:
        order = self._order
        if order is None or len(order.step.stages) == 1:
            return 0
        return order.stage_at((now_ns - self._start_ns) / _NS)

    def _fill(self, now_ns: int) -> None:
        """Brings a closed loop to the number of requests that is wanted now."""
        order = self._order
        assert order is not None
        at_s = (now_ns - self._start_ns) / _NS
        if at_s < 0 or self._paused_until_ns > now_ns:
            return
        self._wanted = order.in_flight(at_s, self._settings.process, self._settings.processes)
        while self._active < self._wanted and self._begun < self._most:
            self._dispatch(perf_counter_ns(), self._circle(), self._stage_at(now_ns))

    def _pump(self) -> None:
        """Sends what is due; called by the alarm."""
        order = self._order
        if self._over or order is None:
            return
        if self._loops:
            self._fill(perf_counter_ns())
            return
        for _ in range(AT_ONCE):
            entry = self._next
            if self._later and (entry is None or self._later[0] < entry):
                if self._later[0][0] > perf_counter_ns():
                    break
                self._dispatch(*heappop(self._later))
                continue
            if entry is None or entry[0] > perf_counter_ns():
                break
            self._advance()
            self._dispatch(*entry)
        self._arm()

    def _arm(self) -> None:
        """Sets the alarm to what is due next."""
        entry = self._next
        if self._later and (entry is None or self._later[0] < entry):
            entry = self._later[0]
        if entry is not None:
            self._alarm.set(entry[0])

    def _follow(self, request: int, _stage: int, done_ns: int) -> None:
        """The next turn of a conversation, if it has one and it is due within the step."""
        order = self._order
        assert order is not None
        if order.think_ns is None or not (request + 1) % order.turns:
            return
        due_ns = done_ns + int(order.think_ns[request + 1])
        if due_ns < self._end_ns:
            stage = order.stage_at((due_ns - self._start_ns) / _NS)
            heappush(self._later, (due_ns, request + 1, stage))
            self._arm()

    def _advance(self) -> None:
        entry = next(self._entries, None)
        self._next = None if entry is None else (entry[0] + self._start_ns, entry[1], entry[2])

    def _dispatch(self, due_ns: int, request: int, stage: int) -> None:
        self._active += 1
        if self._waiting or (self._paused_until_ns and self._paused_until_ns > perf_counter_ns()):
            self._waiting.append((due_ns, request, stage, BLOCKED))
            return
        link = self._links.take()
        if link is not None:
            self._send(link, due_ns, request, stage, 0)
        elif self._links.room:
            self._open_for((due_ns, request, stage, BLOCKED))
        else:
            self._waiting.append((due_ns, request, stage, BLOCKED))

    def _send(self, link: LoadConnection, due_ns: int, request: int, stage: int, flags: int) -> None:
        link.due_ns, link.request, link.stage, link.flags = due_ns, request, stage, flags
        link.send(self._asked.data(request) if self._asked else self._wire[request])

    def _serve_waiting(self) -> None:
        """Sends what waits, as far as connections are free or may be opened."""
        if self._over or self._paused_until_ns > perf_counter_ns():
            return
        for _ in range(AT_ONCE):
            if not self._waiting:
                return
            link = self._links.take()
            if link is not None:
                self._send(link, *self._waiting.popleft())
            elif self._links.room:
                self._open_for(self._waiting.popleft())
            else:
                return
        self._loop.call_soon(self._serve_waiting)

    def _obey(self, head: bytes, now_ns: int) -> None:
        """Where the target asks to be left alone for a while, nothing is sent until then."""
        asked_s = pause_asked_s(head)
        if asked_s is not None:
            until_ns = now_ns + round(asked_s * _NS)
            if until_ns > self._paused_until_ns:
                self._paused_until_ns = until_ns
                self._loop.call_later((until_ns - now_ns) / _NS + 0.001, self._serve_waiting)

    def _open_for(self, entry: Entry) -> None:
        task = self._loop.create_task(self._open_and_send(entry))
        self._connecting[id(task)] = entry
        self._links.opening = len(self._connecting)
        self._tasks.add(task)
        task.add_done_callback(self._opened)

    def _opened(self, task: asyncio.Task[None] | None) -> None:
        """No longer being set up; called a second time when the task is done."""
        if task is not None:
            self._connecting.pop(id(task), None)
            self._links.opening = len(self._connecting)
            if task.done():
                self._tasks.discard(task)

    async def _open_and_send(self, entry: Entry) -> None:
        due_ns, request, stage, flags = entry
        began_ns = perf_counter_ns()
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                link = await self._links.connect()
        except TimeoutError:
            ending, text = ExchangeEnding.TIMEOUT, "no connection in time"
        except (OSError, ssl.CertificateError) as error:
            ending, text = ExchangeEnding.NO_CONNECTION, f"no connection: {error.strerror or error}"
        except asyncio.CancelledError:
            if self._active == 0:
                return
            ending, text = ExchangeEnding.TIMEOUT, "no connection in time"
        else:
            self._opened(asyncio.current_task())
            if self._active == 0:
                self._links.discard(link)
            else:
                self._send(link, due_ns, request, stage, flags)
            return
        now_ns = perf_counter_ns()
        self._hand_on((due_ns, began_ns, now_ns, request, stage, flags, ending, [], text, 0, 0))
        self._active -= 1
        self._opened(asyncio.current_task())
        if self._waiting:
            self._serve_waiting()
