"""Whether a process told the truth about how long its work took. Standard library only.

The code that is measured can reach the clocks of its own process, however well they are hidden. Its owner has clocks
that it cannot reach, and sees every answer arrive: later than the work ended, by the way there and back and by
whatever else the machine had to do. So the process's own figure counts, as the better one, for as long as the owner's
agrees with it; where the two are too far apart the owner's counts. The kernel counts how long either process was
ready and had no CPU: what that explains is no lie (``RunQueue``).
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

RATIO = 2.0
"""Two figures that differ by less than this factor agree."""
ONE_GAP_S = 0.2
"""Seconds between what one call took inside and outside that nothing but a wrong clock explains."""
GAP_S = 0.01
"""Seconds that a busy machine may take between the end of the work and its owner noticing, but not time and again.

Beside six other busy processes on two cores the longest of 8,000 ways there and back took 13 ms, one in a hundred 7.
"""
LAST, TOO_MANY = 5, 3
"""So many of the last calls may not be ``GAP_S`` apart."""
PROMPT_GAP_S = 0.001
"""The same where answers are noticed as soon as they arrive, and for CPU seconds.

Without what waiting for a CPU explains, the longest of 2,400 ways there and back of honest agents that were asked one
question at a time took 0.55 ms beside eight to eleven busy processes on two cores; of 4,800, the most CPU time beside
the agent's was 0.58 ms.
"""
S_PER_BYTE = 1e-7
"""Seconds for reading and writing a byte of a question or an answer: several times what it takes."""


@dataclass(slots=True)
class Doubts:
    """What the last calls of one agent showed, in whichever of its processes: a lie that ends its process after every
    answer is told as often as any other. ``prompt``: answers are noticed as soon as they arrive, since one is waited
    for at a time and no other thread of the owner works meanwhile."""

    prompt: bool = False
    _apart: deque[bool] = field(default_factory=lambda: deque(maxlen=LAST))
    _cpu_apart: deque[bool] = field(default_factory=lambda: deque(maxlen=LAST))

    @property
    def gap_s(self) -> float:
        return PROMPT_GAP_S if self.prompt else GAP_S

    def too_many(self, apart: bool) -> bool:
        """Whether this call is one of too many whose times are apart."""
        self._apart.append(apart)
        return apart and sum(self._apart) >= TOO_MANY

    def too_many_of_cpu(self, apart: bool) -> bool:
        """The same of CPU times."""
        self._cpu_apart.append(apart)
        return apart and sum(self._cpu_apart) >= TOO_MANY


@dataclass(slots=True)
class ClockCheck:
    """Of one process. ``round_trip_s`` is how long an empty message takes there and back."""

    round_trip_s: float = 0.0
    doubts: Doubts = field(default_factory=Doubts)

    def elapsed_s(
        self, inside_s: float, outside_s: float, *, message_bytes: int = 0, in_flight: int = 1, waited_s: float = 0.0
    ) -> float | None:
        """The seconds that count in place of ``inside_s``; ``None`` where that figure may be true.

        ``outside_s`` are those from the question to its answer, ``message_bytes`` the size of both. With several
        questions ``in_flight``, each may have waited for all the others to be dealt with. ``waited_s`` are the
        seconds in which one of the two was ready to go on and others had the CPU.
        """
        most_s = max(0.0, outside_s - self.round_trip_s)
        allowed_s = S_PER_BYTE * message_bytes + max(0.0, waited_s)
        gap_s = (most_s - inside_s - allowed_s) / in_flight
        far_apart = most_s - allowed_s > RATIO * inside_s and gap_s > self.doubts.gap_s
        too_many = self.doubts.too_many(far_apart)
        impossible = not 0.0 <= inside_s <= outside_s + GAP_S
        if impossible or too_many or (far_apart and gap_s > ONE_GAP_S):
            return most_s
        return None

    def cpu_seconds_differ(self, inside_s: float, outside_s: float, message_bytes: int = 0) -> bool:
        """Whether a process used more CPU time than it says; other work on the machine has no part in either."""
        gap_s = outside_s - S_PER_BYTE * message_bytes - RATIO * inside_s
        too_many = self.doubts.too_many_of_cpu(gap_s > PROMPT_GAP_S)
        return too_many or gap_s > GAP_S


class RunQueue:
    """How long the threads of a process, or the thread that asks, were ready to run while others had the CPU (Linux).

    Read from files that stay open, because it is asked around every call; ``look`` takes in threads that are new.
    """

    def __init__(self, pid: int | None = None) -> None:
        self._folder = "/proc/thread-self" if pid is None else f"/proc/{pid}/task"
        self._alone = pid is None
        self._files: dict[str, int] = {}
        self.look()

    def look(self) -> None:
        try:
            names = [""] if self._alone else os.listdir(self._folder)  # noqa: PTH208  (pathlib is slow to load)
            for name in names:
                if name not in self._files:
                    self._files[name] = os.open(f"{self._folder}/{name}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            pass  # it has ended, or the system counts nothing of the kind: then nothing is excused

    def seconds(self) -> float:
        """All of it so far; 0 where it is not counted."""
        try:
            return sum([int(os.pread(file, 64, 0).split()[1]) for file in self._files.values()]) / 1e9
        except (OSError, ValueError, IndexError):  # a thread has ended
            return self._seconds_of_the_living()

    def _seconds_of_the_living(self) -> float:
        total = 0
        for name, file in list(self._files.items()):
            try:
                total += int(os.pread(file, 64, 0).split()[1])
            except (OSError, ValueError, IndexError):
                os.close(self._files.pop(name))
        return total / 1e9

    @property
    def counted(self) -> bool:
        """Whether the system counts it for anything that was asked for."""
        return bool(self._files)

    def close(self) -> None:
        while self._files:
            os.close(self._files.popitem()[1])


class Waiting:
    """How long a process, or the thread that asks it, was ready to go on and had no CPU since ``begin``."""

    def __init__(self, pid: int) -> None:
        self._queues = RunQueue(pid), RunQueue()
        self._before_s = 0.0
        self.counted = all(queue.counted for queue in self._queues)

    def begin(self) -> None:
        self._before_s = self._total_s()

    def seconds(self) -> float:
        return self._total_s() - self._before_s

    def look(self) -> None:
        """Takes in threads that the process has started meanwhile; for the next time."""
        self._queues[0].look()

    def close(self) -> None:
        for queue in self._queues:
            queue.close()

    def _total_s(self) -> float:
        worker, asking = self._queues
        return worker.seconds() + asking.seconds()


def cpu_clock(pid: int) -> Callable[[], float | None]:
    """Reads the CPU seconds of a process from outside: all its threads, without its children (Linux)."""
    clock_id = (~pid << 3) | 2  # what clock_getcpuclockid(3) gives for a process
    read = time.clock_gettime

    def seconds() -> float | None:
        try:
            return read(clock_id)
        except (OSError, OverflowError):  # it has ended, or the system has no such clock
            return None

    return seconds
