"""Whether something else got in the way of the timed block."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from agentdyno.contracts import Instrument
from agentdyno.instruments import cgroup, host

CPU_SOME_PERCENT = 10.0
MEMORY_SOME_PERCENT = 5.0
STEAL_SHARE = 0.01
STEAL_S = 0.02
"""Two ticks of the kernel's clock: a single one may have begun long before the block."""
SWITCHES_PER_S = 50.0
SWITCHES = 5


class Pressure(Instrument):
    """Contention during the block: waiting tasks, CPU throttling, stolen time, load.

    ``load_1min`` is the load average; ``cpu_some_percent``, ``memory_some_percent`` and ``io_some_percent`` the
    share of the block in which some task of the machine waited for that resource; ``throttled_periods`` and
    ``throttled_s`` what a control group's CPU limit stopped; ``steal_s`` CPU time that the hypervisor gave to
    others, over all CPUs; ``involuntary_switches`` how often the scheduler took the CPU from this process.
    What the machine does not tell is absent.

    ``disturbed`` is 1 when the block was throttled at all, when tasks waited for the CPU for more than 10 % of
    it or for memory for more than 5 %, when more than 1 % of it (and 20 ms or more) was stolen, or when the CPU
    was taken away more than 50 times a second (and 5 times or more); else 0. Waiting for I/O does not count,
    since it is mostly the block's own. More busy threads than CPUs also disturb themselves.
    """

    name = "pressure"
    perturbs = False

    def watch(self, readings: dict[str, Any], artifacts_dir: Path) -> PressureWatch:  # noqa: ARG002
        return PressureWatch(readings)


@dataclass(frozen=True, slots=True)
class Moment:
    """The counters at one point in time; ``at_s`` is a monotonic clock."""

    at_s: float
    stalls: dict[str, host.Stall]
    throttling: cgroup.Throttling | None
    cpu: host.CpuSeconds | None
    switches: int


class PressureWatch:
    """Compares the counters before and after; clock and the process's own switches can be given."""

    def __init__(
        self,
        readings: dict[str, Any],
        root: Path = host.ROOT,
        clock: Callable[[], float] = time.perf_counter,
        switches: Callable[[], int] = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw,
    ) -> None:
        self._readings = readings
        self._root = root
        self._clock = clock
        self._switches = switches
        self._before: Moment | None = None

    def __enter__(self) -> None:
        self._before = self._now()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        after = self._now()
        if self._before is not None:
            self._readings.update(differences(self._before, after))
        load = host.load_1min(self._root)
        if load is not None:
            self._readings["load_1min"] = load

    def _now(self) -> Moment:
        return Moment(
            self._clock(),
            host.stalls(self._root),
            cgroup.throttling(self._root),
            host.cpu_seconds(self._root),
            self._switches(),
        )


def differences(before: Moment, after: Moment) -> dict[str, float]:
    """What happened between two moments, with the verdict ``disturbed``."""
    elapsed_s = after.at_s - before.at_s
    found: dict[str, float] = {}
    for name in host.RESOURCES:
        first, last = before.stalls.get(name), after.stalls.get(name)
        if first is not None and last is not None and elapsed_s > 0:
            # The counters are read one after the other, so that a share may come out a little above the whole.
            share = (last.total_s - first.total_s) / elapsed_s
            found[f"{name}_some_percent"] = min(max(share, 0.0), 1.0) * 100
    if before.throttling is not None and after.throttling is not None:
        found["throttled_periods"] = after.throttling.throttled_periods - before.throttling.throttled_periods
        found["throttled_s"] = after.throttling.throttled_s - before.throttling.throttled_s
    if before.cpu is not None and after.cpu is not None:
        found["steal_s"] = after.cpu.steal_s - before.cpu.steal_s
    found["involuntary_switches"] = after.switches - before.switches
    found["disturbed"] = int(is_disturbed(found, elapsed_s))
    return found


def is_disturbed(found: dict[str, float], elapsed_s: float) -> bool:
    """The rule that ``Pressure`` states; what is absent does not disturb."""
    steal_s = found.get("steal_s", 0.0)
    switches = found.get("involuntary_switches", 0)
    return (
        found.get("throttled_periods", 0) > 0
        or found.get("cpu_some_percent", 0.0) > CPU_SOME_PERCENT
        or found.get("memory_some_percent", 0.0) > MEMORY_SOME_PERCENT
        or (steal_s >= STEAL_S and steal_s > STEAL_SHARE * elapsed_s)
        or (switches >= SWITCHES and switches > SWITCHES_PER_S * elapsed_s)
    )
