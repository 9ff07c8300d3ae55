"""A finite capacity: so many requests are served at once, the others wait in the order in which they came."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush


class Ticket:
    """One request's place: in the queue, then at a slot, until it leaves."""

    __slots__ = ("_begin", "_slots", "_state", "came_ns")

    def __init__(self, slots: Slots, begin: Callable[[int], None], came_ns: int) -> None:
        self._slots, self._begin, self._state, self.came_ns = slots, begin, "waiting", came_ns

    @property
    def waits(self) -> bool:
        return self._state == "waiting"

    def start(self, free_ns: int) -> None:
        """The slot is free from ``free_ns`` on."""
        self._state = "served"
        self._begin(max(free_ns, self.came_ns))

    def leave(self, at_ns: int) -> None:
        """Gives up the slot, or the place in the queue, at ``at_ns``; a second time does nothing."""
        state, self._state = self._state, "gone"
        if state == "served":
            self._slots.freed(at_ns)
        elif state == "waiting":
            self._slots.queued -= 1


class Slots:
    """Serves ``count`` requests at once, so that the capacity is ``count`` divided by the service time.

    A request that waited begins at the very time at which its slot was *due* to be free, not when this process came
    to see it: a late event loop delays bytes, but it does not lower the capacity.
    """

    def __init__(self, count: int, queue_limit: int | None = None) -> None:
        self._free = [0] * count  # since when, the earliest first
        self._queue_limit = queue_limit
        self._queue: deque[Ticket] = deque()
        self.queued = self.peak_queued = 0

    @property
    def full(self) -> bool:
        """Whether one more request could not even wait."""
        return not self._free and self._queue_limit is not None and self.queued >= self._queue_limit

    def enter(self, begin: Callable[[int], None], at_ns: int) -> Ticket:
        """``begin`` is called with the time from which the request is served: ``at_ns``, or later."""
        ticket = Ticket(self, begin, at_ns)
        if self._free:
            ticket.start(heappop(self._free))
        else:
            self._queue.append(ticket)
            self.queued += 1
            self.peak_queued = max(self.peak_queued, self.queued)
        return ticket

    def freed(self, at_ns: int) -> None:
        """A slot is free from ``at_ns`` on: the next that still waits gets it."""
        while self._queue:
            ticket = self._queue.popleft()
            if ticket.waits:
                self.queued -= 1
                ticket.start(at_ns)
                return
        heappush(self._free, at_ns)
