"""Journeys on a schedule: each begins when it is due, or so many are on their way."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns

from agentdyno.errors import PluginError
from agentdyno.load.journeys.client import CallFailed, JourneyCalls, JourneyClient
from agentdyno.registry.local import load_target, parse_reference

TICK_S = 0.01
AHEAD_NS = 25_000_000
"""Journeys begin so long before they are due: their first call is sent by the engine's own timer when it is due."""
_NS = 1_000_000_000

Journey = Callable[[JourneyClient], Awaitable[object]]


def load_journey(reference: str, base_dir: Path) -> Journey:
    """The function that ``file.py@name`` or ``module:attr`` names. Raises ``PluginError``."""
    target = parse_reference(reference, base_dir)
    if target is None:
        raise PluginError(
            f"{reference!r} is neither file.py@name nor module:attr",
            where="load.journey",
            remedy="Name the function in its file, as in journeys.py@buyer.",
        )
    found: Journey = load_target("journeys", target)
    if not inspect.iscoroutinefunction(found):
        raise PluginError(
            f"{target.name} is no async function",
            where=reference,
            remedy=f"Write `async def {target.name}(client): ...`.",
        )
    return found


@dataclass(frozen=True, slots=True)
class JourneyPace:
    """When journeys begin. ``dues`` are ns since the start, in order; in closed loop ``wanted`` says how many are on
    their way at a moment, in seconds since the start. ``first`` and ``every`` number the journeys of one client.
    ``once``: the load ends with the last of the journeys, however much time is left."""

    ends_ns: int
    dues: Iterator[int]
    seed: int
    wanted: Callable[[float], int] | None = None
    first: int = 0
    every: int = 1
    once: bool = False


class JourneyRunner:
    """Begins journeys in its event loop. ``on_idle`` is called when the load is over and the last has ended."""

    def __init__(self, journey: Journey, calls: JourneyCalls, pace: JourneyPace, on_idle: Callable[[], None]) -> None:
        self._journey, self._calls, self._pace, self._on_idle = journey, calls, pace, on_idle
        self._next = next(pace.dues, None)
        self._begun = 0
        self._over = False
        self._held: dict[asyncio.Task[None], JourneyClient] = {}

    def start(self, start_ns: int) -> None:
        """The load begins at ``start_ns`` (``perf_counter_ns``)."""
        self._loop = asyncio.get_running_loop()
        self._start_ns = start_ns
        self._tick()

    @property
    def idle(self) -> bool:
        """Whether no journey is on its way and none will be."""
        return self._over and not self._held

    def earliest_due_ns(self) -> int | None:
        """Before this nothing of the journeys on their way will be due; ``None`` without any."""
        return min((client.due_ns for client in self._held.values()), default=None)

    def end(self) -> None:
        """No journey begins any more. Those that wait for an answer get it; the others end."""
        if not self._over:
            self._over = True
            self._next = None
            for task, client in self._held.items():
                client.over = True
                if not client.waits:
                    task.cancel()
            if not self._held:
                self._on_idle()

    def stop(self) -> None:
        """Breaks all of them off."""
        self._over = True
        for task in self._held:
            task.cancel()

    def _tick(self) -> None:
        now_ns = perf_counter_ns() - self._start_ns
        if self._over:
            return
        if now_ns >= self._pace.ends_ns or (self._pace.once and self._next is None and not self._held):
            self.end()
            return
        while self._next is not None and self._next <= now_ns + AHEAD_NS:
            due_ns, self._next = self._next, next(self._pace.dues, None)
            self._begin(due_ns)
        self._fill(now_ns)
        self._loop.call_later(TICK_S, self._tick)

    def _fill(self, now_ns: int) -> None:
        wanted = self._pace.wanted
        if wanted is None or self._over or not 0 <= now_ns < self._pace.ends_ns:
            return
        for _ in range(wanted(now_ns / _NS) - len(self._held)):
            self._begin(now_ns)

    def _begin(self, due_ns: int) -> None:
        number = self._pace.first + self._begun * self._pace.every
        self._begun += 1
        client = JourneyClient(number, self._start_ns + due_ns, self._calls, self._pace.seed)
        task = self._loop.create_task(self._hold(client))
        self._held[task] = client
        task.add_done_callback(self._ended)

    async def _hold(self, client: JourneyClient) -> None:
        try:
            await self._journey(client)
        except CallFailed:
            pass
        except (Exception, SystemExit) as error:  # noqa: BLE001  (a journey may raise anything; it is counted)
            client.spoil(f"{type(error).__name__}: {error}")
        finally:
            client.settle()

    def _ended(self, task: asyncio.Task[None]) -> None:
        client = self._held.pop(task)
        if self._over:
            if not self._held:
                self._on_idle()
        elif client.called:  # one that calls nobody is not begun anew without end
            self._fill(perf_counter_ns() - self._start_ns)
