"""The formula of normalised time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.figures.normalised import normalised_s

SECONDS = st.floats(1e-6, 100.0)


def test_cpu_time_is_scaled_waiting_is_not_and_the_run_queue_is_left_out() -> None:
    # 10 ms: 4 on the CPU, 3 in the run queue, so 3 of waiting; the host is half as fast as its standard.
    assert normalised_s(0.010, 0.004, 0.003, speed=0.5) == pytest.approx(0.003 + 0.002)
    assert normalised_s(0.010, 0.004, 0.003, speed=1.0) == pytest.approx(0.007)


def test_sleeping_takes_as_long_on_every_host() -> None:
    assert normalised_s(0.5, 0.0, 0.0, speed=0.3) == 0.5


def test_more_cpu_time_than_wall_time_is_several_threads_and_has_no_answer() -> None:
    assert normalised_s(1.0, 1.5, 0.0, speed=1.0) is None
    assert normalised_s(1.0, 1.01, 0.0, speed=1.0) == pytest.approx(1.01)  # the clocks are read in turn
    assert normalised_s(10e-6, 30e-6, 0.0, speed=1.0) == pytest.approx(30e-6)


def test_more_time_in_the_run_queue_than_there_was_leaves_no_negative_waiting() -> None:
    assert normalised_s(0.010, 0.004, 0.020, speed=2.0) == pytest.approx(0.008)


@given(SECONDS, SECONDS, st.floats(0.2, 5.0))
def test_a_host_that_is_slower_all_over_gives_the_same_figure(wait_s: float, cpu_s: float, slower: float) -> None:
    usual = normalised_s(wait_s + cpu_s, cpu_s, 0.0, speed=1.0)
    slow = normalised_s(wait_s + cpu_s * slower, cpu_s * slower, 0.0, speed=1.0 / slower)
    assert slow == pytest.approx(usual)
