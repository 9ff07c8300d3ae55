"""Experiments that replace the clocks of their process are timed all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.model import Sample
from agentdyno.runner.bench.job import CodeReference
from agentdyno.runner.executors.processes import checked
from agentdyno.workers.clock_check import TOO_MANY, ClockCheck, Waiting
from tests.runner.building import job, run, sample, trial
from tests.runner.conftest import Pool

SLEPT_S = 0.3
FROZEN = """
import sys, time
sleep = time.sleep
def freeze():
    for name in ("perf_counter", "monotonic", "process_time", "time"):
        setattr(time, name, lambda: 1.0)
        setattr(time, name + "_ns", lambda: 1)
    for name, module in list(sys.modules.items()):
        if name.startswith("agentdyno"):
            for clock in ("perf_counter_ns", "process_time_ns"):
                if hasattr(module, clock):
                    setattr(module, clock, lambda: 1)
"""
DEEP = """
    timing = sys.modules["agentdyno.runner.bench.timing"]
    for timed in (timing.time_calls, timing.time_bare_calls):
        timed.__kwdefaults__["wall_ns"] = lambda: 1
    sys.modules["agentdyno.runner.bench.worker"]._Work.trial.__defaults__ = (lambda: 1.0,)
"""


def measured(pool: Pool, folder: Path, text: str) -> Sample:
    file = folder / "subject.py"
    file.write_text(FROZEN + text)
    code = CodeReference("work", files=(str(file),))
    (taken,) = run(pool(job("work", code=code, inner_loops=1)), trial())
    return taken


@pytest.mark.parametrize("when", ["loaded", "called"])
def test_replaced_clocks_are_not_the_ones_that_time(pool: Pool, tmp_path: Path, when: str) -> None:
    begin, inside = ("freeze()", "pass") if when == "loaded" else ("", "freeze()")
    taken = measured(pool, tmp_path, f"{begin}\ndef work():\n    sleep(0.3)\n    {inside}\n")
    assert taken.readings["duration_s"] >= SLEPT_S
    assert "reported.duration_s" not in taken.readings


def test_a_clock_that_was_found_and_replaced_is_seen_from_outside(pool: Pool, tmp_path: Path) -> None:
    taken = measured(pool, tmp_path, f"def deep():\n{DEEP}\ndef work():\n    deep()\n    sleep(0.3)\n")
    again = measured(pool, tmp_path, f"def deep():\n{DEEP}\ndeep()\ndef work():\n    sleep(0.3)\n")
    assert again.readings["duration_s"] >= SLEPT_S
    assert again.readings["reported.duration_s"] == 0.0
    assert taken.readings["duration_s"] >= SLEPT_S


def test_what_lies_around_the_timed_calls_is_no_disagreement() -> None:
    taken = sample(duration_s=0.001, inner_loops=4)
    assert checked(taken, ClockCheck(), inside_s=0.9, outside_s=0.91) == taken
    assert checked(taken, ClockCheck(), inside_s=None, outside_s=5.0) == taken


def test_a_batch_whose_clock_is_wrong_takes_what_its_owner_saw_per_call() -> None:
    taken = checked(sample(duration_s=0.001, inner_loops=4), ClockCheck(), inside_s=0.01, outside_s=0.8)
    assert taken.readings == {"duration_s": 0.2, "reported.duration_s": 0.001}


def test_an_experiment_that_had_to_wait_for_a_cpu_is_believed_however_often() -> None:
    clock, taken = ClockCheck(), sample(duration_s=0.001)
    for _ in range(TOO_MANY + 1):
        assert checked(taken, clock, inside_s=0.001, outside_s=0.5, waited_s=0.495) == taken
    assert "reported.duration_s" in checked(taken, clock, inside_s=0.001, outside_s=0.8, waited_s=0.1).readings


def test_the_owner_asks_the_kernel_how_long_an_experiment_waited(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that stands still while 0.3 s pass is a lie, unless all of that was waiting for a CPU."""
    monkeypatch.setattr(Waiting, "seconds", lambda self: 10.0)
    taken = measured(pool, tmp_path, f"def deep():\n{DEEP}\ndeep()\ndef work():\n    sleep(0.3)\n")
    assert taken.readings["duration_s"] == 0.0
    assert "reported.duration_s" not in taken.readings
