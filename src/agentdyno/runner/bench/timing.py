"""The timed region: nothing but the call, a counted loop, and two clocks.

The loops are unrolled by eight, so that counting costs a fraction of a nanosecond per call; results other than
the first are dropped at once. The first is kept because it is the one that does not depend on the size of the batch:
it drew from generators that had just been seeded. Wall time is ``perf_counter_ns``; CPU time is that of the whole
process. Both are bound as defaults when this module is loaded, before the measured code is: that may put others into
``time``, or into here.
"""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from time import perf_counter_ns, process_time_ns
from typing import Any

from agentdyno.model.spec import GcPolicy

FAST_CALL_S = 50e-6
"""Calls shorter than this are timed in batches."""
BATCH_S = 4e-3
"""How long a batch of fast calls should take."""
SETTLE_S = 10e-3
"""Calls that take less than this are repeated for as long before measuring: the interpreter specialises hot code."""
SLOW_CALL_S = 0.1
"""Longer than the system keeps a process waiting: a call that takes so long is slow, not disturbed."""
MAX_LOOPS = 10_000_000

Clock = Callable[[], int]
"""Nanoseconds."""


@dataclass(frozen=True, slots=True)
class TimedCalls:
    """Totals over ``loops`` calls, and what the first of them returned."""

    wall_ns: int
    cpu_ns: int
    loops: int
    result: Any


def time_calls(
    call: Callable[[Any], Any],
    argument: Any,
    loops: int,
    *,
    wall_ns: Clock = perf_counter_ns,
    cpu_ns: Clock = process_time_ns,
) -> TimedCalls:
    """Times ``loops`` calls of ``call(argument)``."""
    blocks, rest = divmod(loops - 1, 8)
    cpu = cpu_ns()
    start = wall_ns()
    result = call(argument)
    for _ in repeat(None, blocks):
        call(argument)
        call(argument)
        call(argument)
        call(argument)
        call(argument)
        call(argument)
        call(argument)
        call(argument)
    for _ in repeat(None, rest):
        call(argument)
    end = wall_ns()
    return TimedCalls(end - start, cpu_ns() - cpu, loops, result)


def time_bare_calls(
    call: Callable[[], Any], loops: int, *, wall_ns: Clock = perf_counter_ns, cpu_ns: Clock = process_time_ns
) -> TimedCalls:
    """Times ``loops`` calls of ``call()``."""
    blocks, rest = divmod(loops - 1, 8)
    cpu = cpu_ns()
    start = wall_ns()
    result = call()
    for _ in repeat(None, blocks):
        call()
        call()
        call()
        call()
        call()
        call()
        call()
        call()
    for _ in repeat(None, rest):
        call()
    end = wall_ns()
    return TimedCalls(end - start, cpu_ns() - cpu, loops, result)


async def time_awaits(
    call: Callable[[], Awaitable[Any]],
    loops: int,
    *,
    wall_ns: Clock = perf_counter_ns,
    cpu_ns: Clock = process_time_ns,
) -> TimedCalls:
    """Times ``loops`` awaits of ``call()`` one after the other, inside the running event loop."""
    cpu = cpu_ns()
    start = wall_ns()
    result = await call()
    for _ in repeat(None, loops - 1):
        await call()
    end = wall_ns()
    return TimedCalls(end - start, cpu_ns() - cpu, loops, result)


@contextmanager
def gc_policy(policy: GcPolicy) -> Iterator[None]:
    """Applies the collector's policy around a timed region, never inside it."""
    if policy is GcPolicy.NORMAL:
        yield
        return
    was_enabled = gc.isenabled()
    if policy is GcPolicy.COLLECT:
        gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
        else:
            gc.disable()


def calibrate_loops(timed: Callable[[int], TimedCalls]) -> int:
    """How many calls make a batch of ``BATCH_S``; 1 for a call that is not fast.

    Batches grow until one is long enough to trust its rate. A rate that is far above the one before it may be that
    of the system, which had something else to do: it is taken again. A call of ``SLOW_CALL_S`` is executed once.
    """
    spent_s, loops, before_s = 0.0, 1, 0.0
    while loops < MAX_LOOPS:
        batch_s = timed(loops).wall_ns / 1e9
        spent_s += batch_s
        per_call_s = batch_s / loops
        if spent_s >= SLOW_CALL_S or (spent_s >= SETTLE_S and per_call_s <= 2 * before_s):
            return 1 if per_call_s >= FAST_CALL_S else max(1, min(MAX_LOOPS, round(BATCH_S / max(per_call_s, 1e-12))))
        if batch_s < BATCH_S:
            loops = min(loops * 2, max(1, int(BATCH_S * loops / batch_s)) if batch_s > 0 else MAX_LOOPS)
        before_s = per_call_s
    return MAX_LOOPS


def harness_overhead_s(repeats: int = 200) -> float:
    """What an empty call reads when timed alone: the harness's own share of every unbatched reading, in seconds."""
    readings = sorted(time_bare_calls(_nothing, 1).wall_ns for _ in range(repeats))
    return readings[repeats // 2] / 1e9


def _nothing() -> None:
    return None
