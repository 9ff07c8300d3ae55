"""When the bench itself stood still: stopped by a signal, suspended with its machine, or without a CPU for a second.

A thread of the bench looks at the clock ten times a second. Where a second or more went by between two looks and this
process used next to no CPU time in it, nothing of the bench ran: whatever was being timed then is no measurement. A
subject that is slow, or that was stopped alone, does not keep the bench from looking, and so is never excused; that
it was stopped is noted all the same, by a look at its state twice a second. Standard library only.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

LOOK_S = 0.1
PAUSE_S = 1.0
"""A bench that does not come to look for so long stood still; a busy machine makes it wait for some hundredths."""
BUSY_SHARE = 0.5
"""With more CPU time than this share of the gap, it was this process itself that kept the thread from looking."""
MOST_KEPT = 1_000
LOOKS_BETWEEN = 5
"""The states of processes are read so many times less often than the clock."""


def _boot_s() -> float:
    """Of a clock that goes on while the machine is suspended, where there is one."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


@dataclass(frozen=True, slots=True)
class ClockReading:
    """Seconds of three clocks (that of durations, one that goes on while the machine is suspended, the CPU time of
    this process), and the time of day."""

    clock_s: float
    boot_s: float
    cpu_s: float
    at_s: float

    @classmethod
    def now(cls) -> ClockReading:
        return cls(time.monotonic(), _boot_s(), time.process_time(), time.time())

    def is_fresh(self) -> bool:
        """Whether it was taken so recently that another one now could tell of no pause."""
        return 0.0 <= time.monotonic() - self.clock_s < LOOK_S and 0.0 <= _boot_s() - self.boot_s < LOOK_S

    def gap_to(self, later: ClockReading) -> float:
        """The seconds in which nothing ran, 0 where something did."""
        gap_s = max(later.clock_s - self.clock_s, later.boot_s - self.boot_s) - LOOK_S
        return 0.0 if gap_s < PAUSE_S or later.cpu_s - self.cpu_s > BUSY_SHARE * gap_s else gap_s


@dataclass(slots=True)
class PauseWatch:
    """Looks from ``start`` to ``stop``; the rest may be asked in any thread."""

    _pauses: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))
    _stops: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))
    _stopped_since: float | None = None
    _last: ClockReading | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        self._ended.clear()
        self.look(ClockReading.now())
        self._thread = threading.Thread(target=self._watch, name="pauses", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(LOOK_S * 10)
            self._thread = None

    def look(self, now: ClockReading) -> None:
        """Notes a pause where one has just ended."""
        with self._lock:
            if self._last is not None and (gap_s := self._last.gap_to(now)):
                self._pauses.append((now.at_s - gap_s, now.at_s))
            self._last = now

    def seconds_between(self, began_s: float, ended_s: float) -> float:
        """How long the bench stood still between two times of day, in seconds."""
        if self._thread is None:
            return 0.0
        last = self._last
        if last is None or not last.is_fresh():
            self.look(ClockReading.now())  # whoever asks may be the first to run again
        if not self._pauses:
            return 0.0
        with self._lock:
            return _within(self._pauses, began_s, ended_s)

    def stopped_between(self, began_s: float, ended_s: float) -> float:
        """How long a process that works for the bench was stopped between two times of day while the bench went on:
        the seconds of which that is certain."""
        with self._lock:
            return _within(self._stops, began_s, ended_s)

    def note_stopped(self, pids: Iterable[int], at_s: float) -> None:
        """Which processes were seen stopped at a time of day."""
        with self._lock:
            if not list(pids):
                self._stopped_since = None
            elif self._stopped_since is None:
                self._stopped_since = at_s
                self._stops.append((at_s, at_s))
            else:
                self._stops[-1] = (self._stopped_since, at_s)

    def _watch(self) -> None:
        looks = 0
        while not self._ended.wait(LOOK_S):
            self.look(ClockReading.now())
            looks += 1
            if looks % LOOKS_BETWEEN == 0 or self._stopped_since is not None:
                self.note_stopped(stopped_descendants(os.getpid()), time.time())


def _within(spans: Iterable[tuple[float, float]], began_s: float, ended_s: float) -> float:
    return sum(max(0.0, min(ended_s, end) - max(began_s, begin)) for begin, end in spans)


STOPPED = "T"
"""As /proc tells the state of a process that SIGSTOP has stopped; a debugger's are ``t``."""


def stopped_descendants(pid: int) -> list[int]:
    """Processes below this one that stand still because of a signal; none where the system does not tell."""
    return [child for child in descendants(pid) if _state(child) == STOPPED]


def descendants(pid: int) -> Iterator[int]:
    """Processes that this one has started, with theirs."""
    for child in _children(pid):
        yield child
        yield from descendants(child)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  (pathlib is slower, and this is asked often)
            found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_bytes().split())
    except OSError:  # it has ended, or the system keeps no such list
        pass
    return found


def _state(pid: int) -> str:
    try:
        told = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""
    return told.rpartition(")")[2].split()[0]  # the name before it may hold anything
