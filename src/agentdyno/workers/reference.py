"""How fast this host is at the moment: two short workloads, timed between samples in the process that measures.

One is interpreted code, the other copies memory that the nearer caches do not hold. Both are timed in CPU seconds of
the calling thread, so that waiting for a CPU does not count. Readings are taken on a budget of CPU time: at most
``SHARE`` of the time that the samples take, or an allowance where that is more. Standard library only.
"""

from __future__ import annotations

import mmap
from _thread import get_ident
from collections.abc import Mapping
from contextlib import suppress
from itertools import repeat
from os import O_RDONLY, getpid, pread
from os import close as close_file
from os import open as open_file  # names of our own: what is measured may replace those of the module
from time import thread_time_ns
from typing import Protocol, runtime_checkable

INTERPRETED, MEMORY = "interpreted", "memory"
REFERENCES = (INTERPRETED, MEMORY)
SHARE = 0.02
"""Of the samples' time."""
ALLOWANCE_S = 0.3
"""What a whole run may spend in any case; processes that take turns share it."""
INTERLEAVED_ALLOWANCE_S = 0.02
"""The same of a run of two sides: its verdict rests on their taking turns, and not on normalised times."""
READING = "reference."
"""How the names of readings begin that tell the runner about references; no sample is stored with one."""
SPENT = f"{READING}spent_s"
QUEUED = f"{READING}queued_s"
PROCESS = f"{READING}process"
RECENT = 5
"""Readings of a reference whose median is its value now: one alone scatters by several percent."""

_PAGE_BYTES = 2 << 20
_MEMORY_BYTES = 2 * _PAGE_BYTES
_EVERY = 8
"""Readings of interpreted code for one of memory, which costs several times as much; short runs have none."""
_SETTLE = 4
"""Runs of the interpreted code before its first reading: the interpreter specialises it meanwhile."""
_NUMBERS = tuple(range(64))
_WORDS = tuple(f"w{number}" for number in _NUMBERS)


@runtime_checkable
class ReadsReferences(Protocol):
    """Something that works on this host and can read references while it does."""

    def read_references(self, allowance_s: float) -> None:
        """From now on it reads them between its samples, in any case for ``allowance_s`` seconds."""
        ...


class References:
    """Takes readings of both references while samples are made.

    ``begin`` before the first sample, ``worked`` after each; ``now`` tells what is known, as readings of a sample;
    ``close`` at the end. With an ``allowance_s`` of 0 nothing is ever read.
    """

    def __init__(self, allowance_s: float) -> None:
        self._allowance_s = allowance_s
        self._worked_s = self._spent_s = self._cost_s = 0.0
        self._count = 0
        self._recent: dict[str, list[float]] = {name: [] for name in REFERENCES}
        self._now: Mapping[str, float] = {}
        self._queue_file: int | None = None
        self._queue_thread = 0

    @property
    def wanted(self) -> bool:
        return self._allowance_s > 0

    def begin(self) -> None:
        """The first readings, so that the first sample has some."""
        if self.wanted:
            for _ in range(_SETTLE):
                _interpret()
            self._read()

    def worked(self, seconds: float) -> None:
        """Another sample has taken ``seconds``: reads again where the budget allows it."""
        if not self.wanted:
            return
        self._worked_s += seconds
        if self._spent_s + self._cost_s <= budget_s(self._worked_s, self._allowance_s):
            self._read()

    def now(self) -> Mapping[str, float]:
        """CPU seconds of each reference, the median of its latest readings, and what all of them have cost."""
        if not self._now:
            found = {READING + name: sorted(item)[len(item) // 2] for name, item in self._recent.items() if item}
            self._now = {**found, SPENT: self._spent_s, PROCESS: float(getpid())}
        return self._now

    def queued_s(self) -> float | None:
        """Seconds in which the calling thread was ready and others had the CPU; ``None`` where nobody counts them.

        The file of the thread stays open: it is asked for around every sample, and opening it is most of the cost.
        """
        if not self.wanted:
            return None
        thread = get_ident()
        try:
            if self._queue_file is None or thread != self._queue_thread:
                self.close()
                self._queue_file, self._queue_thread = open_file("/proc/thread-self/schedstat", O_RDONLY), thread
            return int(pread(self._queue_file, 64, 0).split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            self._queue_file = None  # not closed: if it is another file by now, it belongs to what is measured
            return None

    def close(self) -> None:
        if self._queue_file is not None:
            with suppress(OSError):
                close_file(self._queue_file)
            self._queue_file = None

    def _read(self) -> None:
        """The cost is CPU time: one reading that waits for a CPU would else use up what a short run may spend, and
        the first reading would stand for all of its samples."""
        started = thread_time_ns()
        self._keep(INTERPRETED, interpreted_s())
        if self._count % _EVERY == _EVERY // 4:
            self._keep(MEMORY, memory_s())
        self._count += 1
        self._cost_s = (thread_time_ns() - started) / 1e9
        self._spent_s += self._cost_s
        self._now = {}

    def _keep(self, name: str, seconds: float | None) -> None:
        if seconds is not None:
            self._recent[name] = [*self._recent[name][1 - RECENT :], seconds]


def budget_s(worked_s: float, allowance_s: float) -> float:
    """What may have been spent once samples have taken ``worked_s``.

    Nobody knows how long a run will be. The allowance is used up fast at first and ever more slowly (with the fourth
    root of the time): a run of a fifth of a second needs some three hundred readings to be steady, and a long one
    still has some near its end. From there on it is ``SHARE`` of the time.
    """
    whole_s = allowance_s / SHARE
    return allowance_s * (worked_s / whole_s) ** 0.25 if worked_s < whole_s else SHARE * worked_s


def interpreted_s() -> float:
    """CPU seconds of a piece of ordinary Python: calls, a dict, text; the least of three, as what else happens on the
    CPU can only add."""
    least = 0
    for _ in repeat(None, 3):
        before = thread_time_ns()
        _interpret()
        took = thread_time_ns() - before
        least = min(least or took, took)
    return max(1, least) / 1e9


def memory_s() -> float | None:
    """CPU seconds of copying a few megabytes, the least of three; ``None`` where there is no memory for it.

    The memory is mapped for this alone and given back at once: what the measured code holds and how its allocator
    behaves stay as they are. Large pages, where there are any, make that twenty times as cheap.
    """
    try:
        room = mmap.mmap(-1, 2 * _MEMORY_BYTES + _PAGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, ValueError, AttributeError):
        return None
    with suppress(OSError, AttributeError):
        room.madvise(mmap.MADV_HUGEPAGE)
    with room, memoryview(room) as view, view[:_MEMORY_BYTES] as first, view[-_MEMORY_BYTES:] as second:
        first[:] = second  # the pages are made here
        least = 0
        for source, target in ((first, second), (second, first), (first, second)):
            before = thread_time_ns()
            target[:] = source
            took = thread_time_ns() - before
            least = min(least or took, took)
    return max(1, least) / 1e9


def _interpret() -> int:
    total = 0
    for _ in repeat(None, 12):
        table = {number: number for number in _NUMBERS}  # numbers, as texts hash differently in every process
        for number in _NUMBERS:
            total = _add(total, table[number])
        total += len(",".join(_WORDS).split(","))
    return total


def _add(first: int, second: int) -> int:
    return first + second
