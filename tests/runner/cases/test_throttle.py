"""Fewer calls at once when the other side says so, more when it copes."""

from __future__ import annotations

import asyncio

import pytest

from agentdyno.runner.cases.throttle import Allowance, Throttle, wait_before


def test_a_refusal_halves_what_is_allowed_and_lets_nothing_begin_for_the_time_asked() -> None:
    allowance = Allowance(8)
    allowance.refused(now=100.0, wait_s=5.0)
    assert (allowance.limit, allowance.open_at) == (4, 105.0)


def test_refusals_of_calls_that_were_on_their_way_do_not_halve_again() -> None:
    allowance = Allowance(8)
    for _ in range(8):
        allowance.refused(now=100.0, wait_s=5.0)
    assert allowance.limit == 4
    allowance.refused(now=106.0, wait_s=1.0)
    assert allowance.limit == 2


def test_at_least_one_call_is_always_allowed() -> None:
    allowance = Allowance(2)
    for second in range(10):
        allowance.refused(now=second * 10.0, wait_s=1.0)
    assert allowance.limit == 1


def test_good_calls_win_back_what_was_lost_and_never_more() -> None:
    allowance = Allowance(4)
    allowance.refused(now=0.0, wait_s=0.0)
    limits = []
    for _ in range(9):
        allowance.served()
        limits.append(allowance.limit)
    assert limits == [2, 3, 3, 3, 4, 4, 4, 4, 4]


def test_the_wait_doubles_unless_the_other_side_asks_for_another() -> None:
    assert [wait_before(attempt, None, luck=0.0) for attempt in (2, 3, 4, 20)] == [0.5, 1.0, 2.0, 30.0]
    assert wait_before(2, None, luck=1.0) == 0.25
    assert wait_before(7, 3.5, luck=0.3) == 3.5
    assert wait_before(2, -1.0, luck=0.3) == 0.0


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_coroutines_than_allowed_are_inside_at_once(most: int) -> None:
    inside, peak = 0, 0

    async def work(throttle: Throttle) -> None:
        nonlocal inside, peak
        await throttle.acquire()
        inside += 1
        peak = max(peak, inside)
        await asyncio.sleep(0)
        inside -= 1
        await throttle.release()

    async def everything() -> None:
        throttle = Throttle(most)
        await asyncio.gather(*(work(throttle) for _ in range(20)))

    asyncio.run(everything())
    assert peak == most


def test_after_a_refusal_nobody_enters_before_the_time_asked_for() -> None:
    async def everything() -> tuple[float, float]:
        throttle = Throttle(2)
        await throttle.acquire()
        throttle.refused(0.05)
        await throttle.release()
        before = throttle.now()
        await throttle.acquire()
        return before, throttle.now()

    before, after = asyncio.run(everything())
    assert after - before >= 0.045
