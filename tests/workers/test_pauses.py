"""A bench that stood still is told from one that was busy, and from a subject that was slow."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from agentdyno.workers.pauses import ClockReading, PauseWatch, stopped_descendants


def reading(clock_s: float, cpu_s: float = 0.0, boot_s: float | None = None) -> ClockReading:
    return ClockReading(clock_s, clock_s if boot_s is None else boot_s, cpu_s, 1_000.0 + (boot_s or clock_s))


@pytest.mark.parametrize(
    ("later", "seconds"),
    [
        (reading(10.1), 0.0),  # it came to look in time
        (reading(11.0), 0.0),  # a busy machine
        (reading(30.1), 20.0),  # stopped by a signal
        (reading(30.1, cpu_s=19.0), 0.0),  # busy itself, and so nobody's fault but the subject's
        (reading(10.1, boot_s=310.1), 300.0),  # suspended: the clock of durations stood still, too
    ],
)
def test_a_gap_without_cpu_time_is_a_pause(later: ClockReading, seconds: float) -> None:
    assert reading(10.0).gap_to(later) == pytest.approx(seconds)


def test_a_pause_counts_for_what_was_timed_in_it_and_for_nothing_else() -> None:
    watch = PauseWatch()
    watch.start()
    try:
        watch.look(reading(-900.0))  # in the past, so that the clock of this test has no part in it
        watch.look(reading(-879.9))  # stood still from 100.1 s to 120.1 s of the day
        assert watch.seconds_between(90.0, 130.0) == pytest.approx(20.0)
        assert watch.seconds_between(119.1, 119.6) == pytest.approx(0.5)
        assert watch.seconds_between(50.0, 100.0) == 0.0
        assert watch.seconds_between(121.0, 140.0) == 0.0
    finally:
        watch.stop()


def test_a_watch_that_was_not_started_knows_of_no_pause() -> None:
    assert PauseWatch().seconds_between(0.0, 1e12) == 0.0


def test_a_process_that_was_seen_stopped_was_so_from_the_first_to_the_last_of_these_times() -> None:
    watch = PauseWatch()
    for at_s, pids in (
        (100.0, []),
        (100.5, [7]),
        (100.6, [7]),
        (103.5, [7]),
        (103.6, []),
        (110.0, [7]),
        (111.0, [7]),
    ):
        watch.note_stopped(pids, at_s)
    assert watch.stopped_between(0.0, 105.0) == pytest.approx(3.0)
    assert watch.stopped_between(0.0, 200.0) == pytest.approx(4.0)
    assert watch.stopped_between(101.0, 102.0) == pytest.approx(1.0)
    assert watch.stopped_between(104.0, 109.0) == 0.0


def test_a_stopped_process_is_found_below_the_one_that_started_it() -> None:
    waits = [sys.executable, "-c", "import sys; print(1, flush=True); sys.stdin.read()"]
    child = subprocess.Popen(waits, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        child.stdout.readline()
        assert child.pid not in stopped_descendants(os.getpid())
        child.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, child.pid, os.WSTOPPED)
        assert child.pid in stopped_descendants(os.getpid())
        child.kill()
