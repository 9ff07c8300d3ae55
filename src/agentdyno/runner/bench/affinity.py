"""Keeping what is measured on one CPU.

Two processes that the system puts on two CPUs differ by whatever else runs there: comparing a function with itself
that way, on a machine with other work, was seen to differ by up to 55 %; on one CPU by at most 2 %.
"""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

BUSY_CPUS = 1.1
"""CPU time per wall time above which the measured code uses more than one CPU."""
OTHER_THREADS = 0.1
"""Share of the CPU time above which other threads than the calling one take part. They count even while they
run in turn: on a machine with other work, threads that could run side by side get one CPU between them."""
UNCERTAIN_S = 1e-3
"""CPU time that may be an effect of reading the clocks one after the other."""


def choose_cpu() -> int | None:
    """The last CPU that this process may use; ``None`` where there is no choice or none can be made."""
    try:
        allowed = os.sched_getaffinity(0)
    except AttributeError:  # not Linux
        return None
    return max(allowed) if len(allowed) > 1 else None


@dataclass(frozen=True, slots=True)
class CpuUse:
    """CPU seconds of this process, of the children it has waited for, and of the calling thread alone."""

    wall_s: float
    own_s: float
    children_s: float
    thread_s: float


def cpu_use(wall_s: float) -> CpuUse:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return CpuUse(wall_s, time.process_time(), children.ru_utime + children.ru_stime, time.thread_time())


def uses_one_cpu(before: CpuUse, after: CpuUse) -> bool:
    """Whether the code that ran in between kept to one CPU and started no process."""
    if after.children_s > before.children_s or _has_children():
        return False
    own_s = after.own_s - before.own_s
    others_s = own_s - (after.thread_s - before.thread_s)
    at_once = own_s > BUSY_CPUS * (after.wall_s - before.wall_s) + UNCERTAIN_S
    return not at_once and others_s <= OTHER_THREADS * own_s + UNCERTAIN_S


def stay_on(cpu: int) -> bool:
    """Keeps the calling thread on ``cpu``; false where that is not allowed."""
    try:
        os.sched_setaffinity(0, {cpu})
    except (AttributeError, OSError, ValueError):
        return False
    return True


def _has_children() -> bool:
    try:
        lists = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    except OSError:
        lists = []
    return not lists or any(text.strip() for text in lists)  # unknown: better not to confine what may need more
