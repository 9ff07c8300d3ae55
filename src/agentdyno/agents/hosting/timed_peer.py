"""The process of a Python agent, with its own figures held against what is seen from here."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import ClassVar

from agentdyno.model.case import Response
from agentdyno.model.metric import reported_name
from agentdyno.workers.clock_check import GAP_S, ClockCheck, Doubts, Waiting, cpu_clock
from agentdyno.workers.frames import Message
from agentdyno.workers.peer import Peer
from agentdyno.workers.reference import ALLOWANCE_S, SHARE, SPENT

_PINGS = 5
"""The first waits for the interpreter to start; of the others, some may wait for a CPU."""
_MOST_REFERENCE_S = 0.02
"""No reading of the references takes longer, whatever the process says that it spent on one."""


class TimedPeer:
    """``ask`` a question, then have the response in its reply ``checked``, before the next question. ``scope`` is
    what its calls of a model are recorded under. ``lost``: a question got no answer, and none will. ``doubts`` are
    those about its agent."""

    _in_flight: ClassVar[int] = 0
    """Questions to all such processes that wait for their answer."""

    def __init__(self, peer: Peer, scope: str = "", doubts: Doubts | None = None) -> None:
        self.peer = peer
        self.scope = scope
        self.lost = False
        self._cpu_s = cpu_clock(peer.pid)
        self._waiting = Waiting(peer.pid)
        self._check = ClockCheck(doubts=doubts if doubts and self._waiting.counted else Doubts())
        self._waited_s = 0.0
        self._took_s = 0.0
        self._used_cpu_s: float | None = None
        self._spent_s = self._granted_s = self._asked_s = 0.0
        self._beside = 1

    async def calibrate(self) -> None:
        """Measures the way there and back; before the agent's code is loaded, which could make it seem long."""
        trips = []
        for _ in range(_PINGS):
            await self.ask({"op": "ping"})
            trips.append(self._took_s)
        self._check.round_trip_s = min(trips)

    async def ask(self, message: Message) -> Message:
        """The answer to a message. Raises ``PeerLost`` or ``PeerFlooded``."""
        TimedPeer._in_flight += 1
        self._beside = TimedPeer._in_flight
        self._waiting.begin()
        cpu_s, started = self._cpu_s(), perf_counter()
        try:
            reply = await self._asked(message)
            self._took_s, after_s = perf_counter() - started, self._cpu_s()
            self._asked_s += self._took_s
            self._waited_s = self._waiting.seconds()
        finally:
            self._beside = max(self._beside, TimedPeer._in_flight)
            TimedPeer._in_flight -= 1
        self._used_cpu_s = None if cpu_s is None or after_s is None else after_s - cpu_s
        return reply

    async def _asked(self, message: Message) -> Message:
        try:
            return await self.peer.ask(message)
        except BaseException:
            self.lost = True
            raise

    def checked(self, response: Response) -> Response:
        """The response with our figures in place of those that cannot be true; these are kept as reported."""
        told, size = response.readings, self.peer.message_bytes
        ours_s = self._references_s(told.get(SPENT, self._spent_s))
        truth: dict[str, float] = {}
        duration_s, cpu_s = told.get("duration_s"), told.get("cpu_s")
        if duration_s is not None:
            elapsed_s = self._check.elapsed_s(
                duration_s,
                self._took_s,
                message_bytes=size,
                in_flight=self._beside,
                waited_s=self._waited_s + ours_s,  # it may have read them before it was asked: then it took less
            )
            if self._took_s - duration_s > GAP_S:  # its thread may be a new one
                self._waiting.look()
            if elapsed_s is not None:
                truth["duration_s"] = elapsed_s - ours_s if 0.0 <= duration_s <= elapsed_s else elapsed_s
        used_s = None if self._used_cpu_s is None else self._used_cpu_s - ours_s
        if cpu_s is not None and used_s is not None and self._check.cpu_seconds_differ(cpu_s, used_s, size):
            truth["cpu_s"] = used_s
        if not truth:
            return response
        claims = {reported_name(name): told[name] for name in truth}
        return replace(response, readings={**claims, **told, **truth})

    async def close(self, farewell: Message | None = None) -> None:
        """Ends the process, after it was told to, where there is something to tell it."""
        self._waiting.close()
        await self.peer.close(farewell)

    def _references_s(self, spent_s: float) -> float:
        """Seconds of the last answer that went into a reading of the references, which is our work and not its; no
        more of them than there may be, whatever the process says."""
        ours_s, self._spent_s = spent_s - self._spent_s, spent_s
        left_s = max(ALLOWANCE_S, SHARE * self._asked_s) + _MOST_REFERENCE_S - self._granted_s
        ours_s = max(0.0, min(ours_s, left_s, _MOST_REFERENCE_S))
        self._granted_s += ours_s
        return ours_s
