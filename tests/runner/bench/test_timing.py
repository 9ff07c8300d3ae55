from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest

from agentdyno.model import GcPolicy
from agentdyno.runner.bench.timing import (
    MAX_LOOPS,
    TimedCalls,
    calibrate_loops,
    gc_policy,
    harness_overhead_s,
    time_awaits,
    time_bare_calls,
    time_calls,
)

US, MS, S = 1_000, 1_000_000, 1_000_000_000


class Counter:
    def __init__(self) -> None:
        self.calls: list[object] = []

    def __call__(self, argument: object = None) -> int:
        self.calls.append(argument)
        return len(self.calls)

    async def wait(self) -> int:
        return self()


@pytest.mark.parametrize("loops", range(1, 41))
def test_a_batch_makes_exactly_as_many_calls_as_asked_and_gives_the_first_result(loops: int) -> None:
    with_argument, bare, awaited = Counter(), Counter(), Counter()
    timings = [
        time_calls(with_argument, "argument", loops),
        time_bare_calls(bare, loops),
        asyncio.run(time_awaits(awaited.wait, loops)),
    ]
    assert with_argument.calls == ["argument"] * loops
    assert len(bare.calls) == len(awaited.calls) == loops
    assert [(timing.loops, timing.result) for timing in timings] == [(loops, 1)] * 3
    assert all(timing.wall_ns > 0 and timing.cpu_ns >= 0 for timing in timings)


@pytest.fixture
def collector() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize("was_enabled", [True, False])
@pytest.mark.parametrize("policy", list(GcPolicy))
def test_the_collector_is_as_before_after_a_timed_region(policy: GcPolicy, was_enabled: bool) -> None:
    (gc.enable if was_enabled else gc.disable)()
    with gc_policy(policy):
        assert gc.isenabled() == (was_enabled and policy is GcPolicy.NORMAL)
    assert gc.isenabled() == was_enabled
    with pytest.raises(KeyError), gc_policy(policy):
        raise KeyError
    assert gc.isenabled() == was_enabled


@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize("was_enabled", [True, False])
def test_the_collector_is_as_before_even_when_the_measured_code_switches_it(was_enabled: bool) -> None:
    (gc.enable if was_enabled else gc.disable)()
    with gc_policy(GcPolicy.OFF):
        (gc.disable if was_enabled else gc.enable)()
    assert gc.isenabled() == was_enabled


@pytest.mark.usefixtures("collector")
def test_the_collect_policy_collects_before_and_the_off_policy_does_not() -> None:
    gc.disable()
    collections: list[str] = []
    gc.callbacks.append(lambda phase, info: collections.append(phase))
    try:
        with gc_policy(GcPolicy.OFF):
            pass
        assert collections == []
        with gc_policy(GcPolicy.COLLECT):
            assert collections == ["start", "stop"]
        assert collections == ["start", "stop"]
    finally:
        gc.callbacks.pop()


class FakeClock:
    """Times calls that take ``call_ns`` each, except that the batch number ``stalled`` takes ``stall_ns`` more."""

    def __init__(self, call_ns: float, stalled: int = -1, stall_ns: int = 0) -> None:
        self.call_ns, self.stalled, self.stall_ns = call_ns, stalled, stall_ns
        self.batches: list[int] = []

    def __call__(self, loops: int) -> TimedCalls:
        stall = self.stall_ns if len(self.batches) == self.stalled else 0
        self.batches.append(loops)
        return TimedCalls(round(self.call_ns * loops) + stall, 0, loops, None)


@pytest.mark.parametrize(
    ("call_ns", "loops"),
    [(10, 400_000), (1 * US, 4_000), (49 * US, 82), (50 * US, 1), (60 * US, 1), (5 * MS, 1), (2 * S, 1)],
)
def test_calibration_makes_batches_of_four_milliseconds_of_calls_below_fifty_microseconds(
    call_ns: int, loops: int
) -> None:
    assert calibrate_loops(FakeClock(call_ns)) == loops


def test_a_slow_call_is_executed_once_to_calibrate() -> None:
    clock = FakeClock(2 * S)
    calibrate_loops(clock)
    assert clock.batches == [1]


@pytest.mark.parametrize("call_ns", [10, 1 * US, 49 * US, 60 * US, 5 * MS, 80 * MS])
def test_calibration_spends_about_ten_milliseconds_on_fast_calls_and_two_calls_on_others(call_ns: int) -> None:
    clock = FakeClock(call_ns)
    calibrate_loops(clock)
    spent_ns = sum(clock.batches) * call_ns
    assert spent_ns <= max(16 * MS, 2 * call_ns)


@pytest.mark.parametrize("stalled", range(12))
@pytest.mark.parametrize("stall_ns", [12 * MS, 40 * MS])
def test_one_batch_that_the_system_held_up_does_not_make_a_fast_call_slow(stalled: int, stall_ns: int) -> None:
    assert 3_000 <= calibrate_loops(FakeClock(1 * US, stalled, stall_ns)) <= 4_000


@pytest.mark.parametrize("call_ns", [0, 0.01, 0.1, 1])
def test_calibration_ends_whatever_the_clock_says(call_ns: float) -> None:
    clock = FakeClock(call_ns)
    assert 1 <= calibrate_loops(clock) <= MAX_LOOPS
    assert len(clock.batches) < 200


def test_the_harness_costs_something_and_says_so() -> None:
    assert harness_overhead_s() > 0
