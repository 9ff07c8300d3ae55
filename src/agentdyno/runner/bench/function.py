"""``@benchmark``: a function as an experiment, and as something to call for its figures right away."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, update_wrapper
from operator import mul
from time import perf_counter_ns, process_time_ns
from typing import Any, overload

from agentdyno.errors import SpecError
from agentdyno.registry.names import register
from agentdyno.runner.bench.readings import memory_use, reset_peak
from agentdyno.runner.bench.timing import (
    BATCH_S,
    FAST_CALL_S,
    TimedCalls,
    calibrate_loops,
    time_awaits,
    time_bare_calls,
)


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """Figures over ``iterations`` timings, in milliseconds per call.

    ``throughput`` is calls per second at the mean, ``memory_mb`` the peak resident memory of this process meanwhile
    in MB, ``metadata`` what the function returned in the last timing, if a dict. Awaiting the result gives it back,
    so that ``await my_benchmark()`` works for plain functions too.
    """

    name: str
    iterations: int
    avg_time_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    min_ms: float
    max_ms: float
    std_ms: float
    cpu_ms: float
    throughput: float
    memory_mb: float
    inner_loops: int = 1
    metadata: dict[str, Any] = field(default_factory=dict)
    samples_ms: tuple[float, ...] = ()

    def __await__(self) -> Generator[Any, None, BenchmarkResult]:
        yield from ()
        return self


class BenchmarkedFunction:
    """A benchmarked function. Calling it measures; ``.function`` is the function itself."""

    def __init__(self, function: Callable[..., Any], name: str, iterations: int, warmup: int) -> None:
        update_wrapper(self, function)
        self.function = function
        self.name = name
        self.iterations = iterations
        self.warmup = warmup
        self.is_async = inspect.iscoroutinefunction(function)

    def __call__(self, **params: Any) -> BenchmarkResult | Awaitable[BenchmarkResult]:
        """Measures the function: a result for a plain one, something to await for an async one."""
        call = partial(self.function, **params) if params else self.function
        return self._measure_async(call) if self.is_async else self._measure(call)

    def _measure(self, call: Callable[[], Any]) -> BenchmarkResult:
        reset_peak()
        for _ in range(self.warmup):
            call()
        loops = calibrate_loops(lambda n: time_bare_calls(call, n))
        if loops > 1:
            timings = [time_bare_calls(call, loops) for _ in range(self.iterations)]
            return self._result(_stamps(timings), loops, timings[-1].result)
        walls, cpus, last = time_each_call(call, self.iterations)
        return self._result((walls, cpus), 1, last)

    async def _measure_async(self, call: Callable[[], Awaitable[Any]]) -> BenchmarkResult:
        reset_peak()
        for _ in range(self.warmup):
            await call()
        first = await time_awaits(call, 1)
        probe = await time_awaits(call, 8) if first.wall_ns < 100_000 else first
        loops = _loops_from(probe)
        timings = [await time_awaits(call, loops) for _ in range(self.iterations)]
        return self._result(_stamps(timings), loops, timings[-1].result)

    def _result(self, stamps: tuple[list[int], list[int]], loops: int, last: Any) -> BenchmarkResult:
        """Figures from wall and CPU nanoseconds; whole numbers are added exactly, and fast."""
        walls, cpus = stamps
        n, unit = len(walls), loops * 1e6
        per_call = [wall / unit for wall in walls]
        ordered = sorted(per_call)
        total = sum(walls)
        mean = total / n / unit
        spread = (n * sum(map(mul, walls, walls)) - total * total) / n / unit**2
        return BenchmarkResult(
            name=self.name,
            iterations=self.iterations,
            avg_time_ms=mean,
            p50_ms=_quantile(ordered, 0.50),
            p95_ms=_quantile(ordered, 0.95),
            p99_ms=_quantile(ordered, 0.99),
            min_ms=ordered[0],
            max_ms=ordered[-1],
            std_ms=math.sqrt(spread / (n - 1)) if n > 1 else 0.0,
            cpu_ms=sum(cpus) / n / unit,
            throughput=1e3 / mean if mean > 0 else math.inf,
            memory_mb=memory.peak_rss_bytes / 1e6 if (memory := memory_use()) is not None else math.nan,
            inner_loops=loops,
            metadata=dict(last) if isinstance(last, Mapping) else {},
            samples_ms=tuple(per_call),
        )


def _stamps(timings: Sequence[TimedCalls]) -> tuple[list[int], list[int]]:
    return [timing.wall_ns for timing in timings], [timing.cpu_ns for timing in timings]


def time_each_call(call: Callable[[], Any], count: int) -> tuple[list[int], list[int], Any]:
    """Wall and CPU nanoseconds of each of ``count`` calls, and the last result; each call is timed by both clocks.

    The lists are made beforehand and hold plain numbers: growing lists and tuples would wake the garbage collector.
    """
    walls, cpus = [0] * count, [0] * count
    wall, cpu = perf_counter_ns, process_time_ns
    result = None
    for i in range(count):
        cpu_start = cpu()
        start = wall()
        result = call()
        walls[i] = wall() - start
        cpus[i] = cpu() - cpu_start
    return walls, cpus, result


@overload
def benchmark(name: Callable[..., Any], *, iterations: int = 100, warmup: int = 3) -> BenchmarkedFunction: ...


@overload
def benchmark(
    name: str | None = None, *, iterations: int = 100, warmup: int = 3
) -> Callable[[Callable[..., Any]], BenchmarkedFunction]: ...


def benchmark(
    name: str | Callable[..., Any] | None = None, *, iterations: int = 100, warmup: int = 3
) -> Callable[[Callable[..., Any]], BenchmarkedFunction] | BenchmarkedFunction:
    """Makes a sync or async function a benchmark: call it for figures, or name it in a spec.

    >>> @benchmark(name="My Custom Benchmark", iterations=100)
    ... def my_benchmark():
    ...     return {"metric": sum(range(1000))}
    >>> result = my_benchmark()          # or: await my_benchmark()
    >>> result.avg_time_ms > 0
    True
    """
    if not _is_count(iterations, 1) or not _is_count(warmup, 0):
        raise SpecError(
            "iterations must be a whole number of at least 1 and warmup of at least 0, "
            f"got {iterations!r} and {warmup!r}"
        )
    if callable(name):
        return _decorate(name, None, iterations, warmup)
    return lambda function: _decorate(function, name, iterations, warmup)


def _decorate(function: Callable[..., Any], name: str | None, iterations: int, warmup: int) -> BenchmarkedFunction:
    made = BenchmarkedFunction(function, name or function.__name__, iterations, warmup)
    register("experiments", made.name, made)
    return made


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _loops_from(timing: TimedCalls) -> int:
    per_call_s = timing.wall_ns / timing.loops / 1e9
    return 1 if per_call_s >= FAST_CALL_S else max(1, round(BATCH_S / max(per_call_s, 1e-9)))


def _quantile(ordered: list[float], q: float) -> float:
    position = q * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)
