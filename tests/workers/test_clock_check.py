"""When a process's own clock is believed: given seconds, no clock."""

from __future__ import annotations

import os
import time
from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.workers.clock_check import (
    GAP_S,
    LAST,
    ONE_GAP_S,
    PROMPT_GAP_S,
    TOO_MANY,
    ClockCheck,
    Doubts,
    RunQueue,
    Waiting,
    cpu_clock,
)
from tests.properties import examples

SECONDS = st.floats(0.0, 1000.0)


def test_a_call_that_took_far_longer_than_its_process_says_is_known_from_the_first_on() -> None:
    assert ClockCheck(round_trip_s=0.001).elapsed_s(1e-6, 0.301) == pytest.approx(0.3)


def test_a_small_lie_is_known_once_it_has_been_told_three_times() -> None:
    check = ClockCheck()
    told = [check.elapsed_s(1e-6, 0.05) for _ in range(TOO_MANY + 1)]
    assert told == [None] * (TOO_MANY - 1) + [0.05, 0.05]


def test_where_answers_are_noticed_at_once_a_lie_of_milliseconds_is_known_too() -> None:
    check = ClockCheck(doubts=Doubts(prompt=True))
    told = [check.elapsed_s(1e-6, 0.005) for _ in range(TOO_MANY + 1)]
    assert told == [None] * (TOO_MANY - 1) + [0.005, 0.005]
    elsewhere = ClockCheck()
    assert [elsewhere.elapsed_s(1e-6, 0.005) for _ in range(LAST)] == [None] * LAST, "it may have been the owner"


def test_what_was_told_before_counts_in_the_next_process_of_an_agent() -> None:
    doubts = Doubts()
    told = [ClockCheck(doubts=doubts).elapsed_s(1e-6, 0.05) for _ in range(TOO_MANY + 1)]
    assert told == [None] * (TOO_MANY - 1) + [0.05, 0.05]


def test_a_machine_that_is_busy_now_and_then_makes_nobody_a_liar() -> None:
    check = ClockCheck()
    late = [True, True, *[False] * (LAST - TOO_MANY + 1)] * 20
    assert {check.elapsed_s(0.0001, 0.0001 + (0.04 if slow else 0.0005)) for slow in late} == {None}


def test_what_waiting_for_a_cpu_explains_makes_nobody_a_liar_however_often() -> None:
    check = ClockCheck()
    assert [check.elapsed_s(0.0001, 0.5, waited_s=0.495) for _ in range(10)] == [None] * 10
    assert check.elapsed_s(0.0001, 0.5, waited_s=0.1) == 0.5, "the rest is still too much"


def test_the_kernel_counts_how_long_every_thread_of_a_process_waits() -> None:
    own, mine = RunQueue(os.getpid()), RunQueue()
    before, before_mine = own.seconds(), mine.seconds()
    assert before >= before_mine >= 0.0
    ready = Event()
    other = Thread(target=ready.wait)
    other.start()
    own.look()
    assert own.seconds() >= before
    ready.set()
    other.join()
    assert own.seconds() >= 0.0, "a thread that has ended is left out"
    own.close()
    mine.close()
    assert own.seconds() == 0.0
    assert RunQueue(2**22 + 1).seconds() == 0.0, "no such process"


def test_waiting_counts_from_its_beginning_on() -> None:
    waiting = Waiting(os.getpid())
    waiting.look()
    waiting.begin()
    assert waiting.seconds() >= 0.0
    waiting.close()
    waiting.begin()
    assert waiting.seconds() == 0.0, "what is closed counts nothing"


def test_figures_within_a_factor_of_two_agree_however_large() -> None:
    check = ClockCheck()
    assert [check.elapsed_s(10.0, 19.0) for _ in range(10)] == [None] * 10
    assert check.elapsed_s(10.0, 21.0) == 21.0


def test_large_answers_have_time_to_be_written_and_read() -> None:
    sixteen = 16 * 1024 * 1024
    assert ClockCheck().elapsed_s(0.001, 1.5, message_bytes=sixteen) is None
    assert ClockCheck().elapsed_s(0.001, 1.5) == 1.5


def test_where_calls_overlap_each_may_have_waited_for_the_others() -> None:
    assert ClockCheck().elapsed_s(0.001, 0.5, in_flight=8) is None
    assert ClockCheck().elapsed_s(0.001, 5.0, in_flight=8) == 5.0


def test_a_process_that_says_it_worked_longer_than_it_was_asked_is_not_believed() -> None:
    assert ClockCheck().elapsed_s(5.0, 0.1) == pytest.approx(0.1)
    assert ClockCheck().elapsed_s(-3.0, 0.1) == pytest.approx(0.1)
    assert ClockCheck().elapsed_s(float("nan"), 0.1) == pytest.approx(0.1)


@examples(200)
@given(st.lists(st.tuples(SECONDS, st.floats(0.0, GAP_S)), max_size=20), st.floats(0.0, 0.01))
def test_honest_figures_are_never_replaced(calls: list[tuple[float, float]], round_trip_s: float) -> None:
    check = ClockCheck(round_trip_s)
    for inside_s, transport_s in calls:
        assert check.elapsed_s(inside_s, inside_s + transport_s) is None


@examples(200)
@given(SECONDS, SECONDS)
def test_what_counts_is_never_more_than_was_seen_and_never_far_below_it(inside_s: float, outside_s: float) -> None:
    counted = ClockCheck().elapsed_s(inside_s, outside_s)
    figure = inside_s if counted is None else counted
    assert figure <= outside_s + GAP_S
    assert figure >= min(outside_s / 2, outside_s - ONE_GAP_S)


@examples(200)
@given(st.lists(st.tuples(SECONDS, st.floats(0.0, PROMPT_GAP_S / 2)), max_size=20), st.floats(0.0, 0.01))
def test_honest_figures_are_never_replaced_where_answers_are_noticed_at_once(
    calls: list[tuple[float, float]], round_trip_s: float
) -> None:
    check = ClockCheck(round_trip_s, Doubts(prompt=True))
    for inside_s, transport_s in calls:
        assert check.elapsed_s(inside_s, inside_s + transport_s) is None
        assert not check.cpu_seconds_differ(inside_s, inside_s + transport_s)


def test_cpu_time_that_a_process_hides_is_seen() -> None:
    assert ClockCheck().cpu_seconds_differ(0.0, 0.3)
    assert not ClockCheck().cpu_seconds_differ(0.2, 0.3)
    assert not ClockCheck().cpu_seconds_differ(0.0, 1.0, message_bytes=16 * 1024 * 1024)
    check = ClockCheck()
    assert [check.cpu_seconds_differ(0.0001, 0.0009) for _ in range(LAST)] == [False] * LAST


def test_a_little_cpu_time_that_a_process_hides_is_seen_once_it_was_hidden_three_times() -> None:
    check = ClockCheck()
    told = [check.cpu_seconds_differ(0.0, 0.005) for _ in range(TOO_MANY + 1)]
    assert told == [False] * (TOO_MANY - 1) + [True, True]


def test_the_cpu_clock_of_a_process_is_read_from_outside() -> None:
    before = time.process_time()
    here = cpu_clock(os.getpid())()
    assert here is not None
    assert before <= here <= time.process_time()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    assert cpu_clock(child)() is None
