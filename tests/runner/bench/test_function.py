from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from agentdyno import benchmark
from agentdyno.errors import PluginError, SpecError
from agentdyno.registry import names, registered
from agentdyno.runner.bench import function as function_module
from agentdyno.runner.bench.arm import Bench
from agentdyno.runner.bench.function import BenchmarkedFunction, BenchmarkResult, time_each_call
from agentdyno.runner.bench.timing import TimedCalls
from tests.runner.building import job, trial


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "_registered", {})


def test_calling_a_plain_benchmark_measures_it() -> None:
    @benchmark(name="Sums", iterations=7)
    def sums(size: int = 100) -> dict[str, int]:
        """Adds up."""
        return {"total": sum(range(size))}

    result = sums(size=10)
    assert isinstance(result, BenchmarkResult)
    assert (result.name, result.iterations, result.metadata) == ("Sums", 7, {"total": 45})
    assert len(result.samples_ms) == 7
    assert 0 < result.min_ms <= result.p50_ms <= result.p95_ms <= result.p99_ms <= result.max_ms
    assert result.throughput == pytest.approx(1000 / result.avg_time_ms)
    assert result.memory_mb > 1
    assert result.inner_loops > 1
    assert sums.function(3) == {"total": 3}
    assert sums.__doc__ == "Adds up."


def test_plain_and_async_benchmarks_can_both_be_awaited() -> None:
    @benchmark(iterations=3, warmup=0)
    async def later(value: int = 1) -> dict[str, int]:
        await asyncio.sleep(0)
        return {"value": value}

    @benchmark(iterations=3, warmup=0)
    def now(value: int = 1) -> dict[str, int]:
        return {"value": value}

    async def both() -> list[BenchmarkResult]:
        return [await later(value=2), await now(value=3)]

    assert [(item.name, item.metadata) for item in asyncio.run(both())] == [
        ("later", {"value": 2}),
        ("now", {"value": 3}),
    ]
    pending = later()
    assert inspect.iscoroutine(pending)
    pending.close()


def test_a_slow_function_is_called_once_per_iteration_with_both_clocks() -> None:
    calls: list[int] = []

    def slow() -> str:
        calls.append(1)
        return "no dict"

    walls, cpus, last = time_each_call(slow, 5)
    assert (len(walls), len(cpus), len(calls), last) == (5, 5, 5, "no dict")
    assert min(*walls, *cpus) >= 0


def test_figures_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    walls_ms = [4.0, 1.0, 3.0, 2.0, 10.0]
    walls, cpus = [int(wall * 1e6) for wall in walls_ms], [500_000] * 5
    monkeypatch.setattr(function_module, "calibrate_loops", lambda _: 1)
    monkeypatch.setattr(function_module, "time_each_call", lambda call, count: (walls, cpus, {"k": 1}))

    result = benchmark(iterations=5, warmup=0)(lambda: None)()
    assert isinstance(result, BenchmarkResult)
    assert result.samples_ms == (4.0, 1.0, 3.0, 2.0, 10.0)
    assert (result.avg_time_ms, result.p50_ms, result.min_ms, result.max_ms) == (4.0, 3.0, 1.0, 10.0)
    assert result.p95_ms == pytest.approx(4.0 + 0.8 * 6.0)
    assert result.p99_ms == pytest.approx(4.0 + 0.96 * 6.0)
    assert result.std_ms == pytest.approx((50 / 4) ** 0.5)
    assert (result.cpu_ms, result.throughput) == (0.5, 250.0)


def test_figures_of_batches_are_per_call(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = iter([TimedCalls(2_000_000, 1_000_000, 10, {"n": 1}), TimedCalls(4_000_000, 3_000_000, 10, {"n": 2})])
    monkeypatch.setattr(function_module, "calibrate_loops", lambda _: 10)
    monkeypatch.setattr(function_module, "time_bare_calls", lambda call, loops: next(batches))
    result = benchmark(iterations=2, warmup=0)(lambda: None)()
    assert isinstance(result, BenchmarkResult)
    assert result.samples_ms == (0.2, 0.4)
    assert [result.p50_ms, result.cpu_ms] == pytest.approx([0.3, 0.2])
    assert result.inner_loops == 10
    assert result.metadata == {"n": 2}


def test_one_iteration_has_all_quantiles_and_no_spread() -> None:
    result = benchmark(iterations=1)(lambda: None)()
    assert isinstance(result, BenchmarkResult)
    assert result.p50_ms == result.p95_ms == result.p99_ms == result.max_ms
    assert result.std_ms == 0.0
    assert result.metadata == {}


def test_what_the_function_raises_comes_through() -> None:
    def broken() -> None:
        raise ValueError("deliberate")

    with pytest.raises(ValueError, match="deliberate"):
        benchmark(broken)()


@pytest.mark.parametrize("bad", [{"iterations": 0}, {"iterations": -1}, {"iterations": 2.5}, {"iterations": True}])
def test_iterations_must_be_a_whole_number_of_at_least_one(bad: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="iterations must be a whole number of at least 1"):
        benchmark(**bad)


@pytest.mark.parametrize("warmup", [-1, 1.5, None])
def test_warmup_must_be_a_whole_number(warmup: Any) -> None:
    with pytest.raises(SpecError, match="warmup of at least 0"):
        benchmark(warmup=warmup)


def test_a_benchmark_is_registered_under_its_name() -> None:
    @benchmark
    def bare() -> None: ...

    @benchmark("First", iterations=4)
    def named() -> None: ...

    known = registered("experiments")
    assert set(known) == {"bare", "First"}
    assert known["First"].target is named
    assert (bare.iterations, named.iterations) == (100, 4)


def test_another_function_under_the_same_name_is_refused_naming_both() -> None:
    def one() -> None: ...

    def two() -> None: ...

    benchmark("Same")(one)
    with pytest.raises(PluginError, match=r"two experiments are called 'Same'.*test_function.py:.*test_function.py:"):
        benchmark("Same")(two)


@pytest.fixture
def twice() -> BenchmarkedFunction:
    @benchmark(iterations=9)
    async def twice(value: int = 1) -> dict[str, int]:
        await asyncio.sleep(0)
        return {"twice": 2 * value}

    return twice


def test_the_same_object_runs_as_an_experiment(twice: BenchmarkedFunction) -> None:
    bench = Bench(job("twice", value=21), twice)
    bench.prepare()
    assert bench.execute(trial(0)).readings["result.twice"] == 42
    bench.close()
