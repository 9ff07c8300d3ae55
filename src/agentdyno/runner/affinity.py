"""Keeping what is measured on one CPU.

Two processes that the system puts on two CPUs differ by whatever else runs there: comparing a function with itself
that way, on a machine with other work, was seen to differ by up to 55 %; on one CPU by at most 2 %.
"""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass
from pathlib import Path

BUSY_CPUS = 1.1
"""CPU time per wall time above which the measured code uses more than one CPU."""


def choose_cpu() -> int | None:
    """The last CPU that this process may use; ``None`` where there is no choice or none can be made."""
    try:
        allowed = os.sched_getaffinity(0)
    except AttributeError:  # not Linux
        return None
    return max(allowed) if len(allowed) > 1 else None


@dataclass(frozen=True, slots=True)
class CpuUse:
    """Seconds of this process and of the children it has waited for."""

    wall_s: float
    own_s: float
    children_s: float


def cpu_use(wall_s: float) -> CpuUse:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return CpuUse(wall_s, own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime)


def uses_one_cpu(before: CpuUse, after: CpuUse) -> bool:
    """Whether the code that ran in between kept to one CPU and started no process."""
    wall_s = after.wall_s - before.wall_s
    if after.children_s > before.children_s or _has_children():
        return False
    return after.own_s - before.own_s <= BUSY_CPUS * wall_s + 0.02


def stay_on(cpu: int) -> bool:
    """Keeps the calling thread on ``cpu``; false where that is not allowed."""
    try:
        os.sched_setaffinity(0, {cpu})
    except (AttributeError, OSError, ValueError):
        return False
    return True


def _has_children() -> bool:
    try:
        return any(path.read_text().strip() for path in Path("/proc/self/task").glob("*/children"))
    except OSError:
        return True  # unknown: better not to confine what may run side by side
