"""One timer for everything that is due: thousands of streams, and no task or loop timer for any of them."""

from __future__ import annotations

import asyncio
import ctypes
import heapq
import os
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter_ns
from typing import Protocol

AT_ONCE = 256
"""Entries fired before the event loop gets to read from sockets again."""
CLOCK_MONOTONIC = 1  # the clock of perf_counter_ns
TFD_TIMER_ABSTIME = 1


class TimetableEntry(Protocol):
    """Something that happens at given times."""

    def fire(self, due_ns: int) -> int:
        """Does what is due and returns when to be called again, or 0 for never."""


class Alarm(Protocol):
    """Calls back once, at or soon after a time of ``perf_counter_ns``."""

    def set(self, due_ns: int) -> None: ...

    def close(self) -> None: ...


class Timetable:
    """Fires entries in the order of their times, from the thread of its event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._heap: list[tuple[int, int, TimetableEntry]] = []
        self._added = 0
        self._armed_ns = 0
        self._alarm = make_alarm(loop, self.wake)

    def add(self, due_ns: int, entry: TimetableEntry) -> None:
        """``entry`` is fired at ``due_ns`` (``perf_counter_ns``), or as soon as possible after it."""
        self._added += 1
        heapq.heappush(self._heap, (due_ns, self._added, entry))
        if not self._armed_ns or due_ns < self._armed_ns:
            self._arm(due_ns)

    def wake(self) -> None:
        """Fires what is due."""
        heap = self._heap
        self._armed_ns = 1  # what is added meanwhile need not set the alarm: it is set below
        for _ in range(AT_ONCE):
            if not heap or heap[0][0] > perf_counter_ns():
                break
            due_ns, number, entry = heapq.heappop(heap)
            again_ns = entry.fire(due_ns)
            if again_ns:
                heapq.heappush(heap, (again_ns, number, entry))
        self._armed_ns = 0
        if heap:
            self._arm(heap[0][0])

    def close(self) -> None:
        """Forgets everything that is due."""
        self._heap.clear()
        self._alarm.close()

    def _arm(self, due_ns: int) -> None:
        self._armed_ns = due_ns
        self._alarm.set(due_ns)


class TimerFd:
    """A kernel timer in the loop's selector: exact to some ten microseconds, where loop timers round to a
    millisecond."""

    def __init__(self, loop: asyncio.AbstractEventLoop, wake: Callable[[], None]) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.timerfd_create(CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self._spec = (ctypes.c_long * 4)()  # interval s, interval ns, value s, value ns
        self._wake = wake
        self._loop = loop
        loop.add_reader(self._fd, self._ring)

    def set(self, due_ns: int) -> None:
        self._spec[2], self._spec[3] = divmod(due_ns, 1_000_000_000)
        self._libc.timerfd_settime(self._fd, TFD_TIMER_ABSTIME, self._spec, None)

    def close(self) -> None:
        self._loop.remove_reader(self._fd)
        os.close(self._fd)

    def _ring(self) -> None:
        with suppress(BlockingIOError):  # it was set anew after it rang
            os.read(self._fd, 8)
        self._wake()


class LoopTimer:
    """The event loop's own timer, where there is no timerfd."""

    def __init__(self, loop: asyncio.AbstractEventLoop, wake: Callable[[], None]) -> None:
        self._loop, self._wake = loop, wake
        self._handle: asyncio.TimerHandle | None = None

    def set(self, due_ns: int) -> None:
        if self._handle is not None:
            self._handle.cancel()
        delay_s = max(0.0, (due_ns - perf_counter_ns()) / 1e9)
        self._handle = self._loop.call_later(delay_s, self._wake)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.cancel()


def make_alarm(loop: asyncio.AbstractEventLoop, wake: Callable[[], None]) -> Alarm:
    """The most exact alarm that this system has."""
    try:
        return TimerFd(loop, wake)
    except (AttributeError, OSError):
        return LoopTimer(loop, wake)
