from __future__ import annotations

from typing import Any

import pytest

from agentdyno.model import Failure, Plan, Sample, Status, Trial
from agentdyno.runner.rules.stopping import FailureRate, TimeBudget
from agentdyno.runner.schedule import Schedule
from tests.runner.building import plan, sample, trial


class LoggingExecutor:
    """Performs nothing and writes down what it is asked for; the first trial ends first, or the last."""

    def __init__(self, *, statuses: dict[int, Status] | None = None, last_first: bool = False) -> None:
        self.log: list[str] = []
        self.flying: list[Trial] = []
        self.most_at_once = 0
        self.statuses = statuses or {}
        self.last_first = last_first
        self.broken = ""
        self.observed: dict[str, dict[str, Any]] = {}
        self.inner_loops: dict[str, int | None] = {}
        self.overhead_s: float | None = None
        self.teardown_failures: list[tuple[str, Failure]] = []

    def submit(self, trial: Trial) -> None:
        if self.broken == "submit":
            raise RuntimeError("broken")
        self.log.append(f"submit {trial.arm_id}{trial.iteration}")
        self.flying.append(trial)
        self.most_at_once = max(self.most_at_once, len(self.flying))

    def wait(self) -> Sample:
        if self.broken == "wait":
            raise RuntimeError("broken")
        done = self.flying.pop(-1 if self.last_first else 0)
        self.log.append(f"end {done.arm_id}{done.iteration}")
        return sample(done.iteration, self.statuses.get(done.iteration, Status.OK), arm_id=done.arm_id)

    def close(self) -> None:
        self.log.append("close")


def six() -> Plan:
    return plan(*(trial(iteration, arm) for iteration in range(3) for arm in ("b", "a")))


def test_one_trial_at_a_time_in_the_order_of_the_plan() -> None:
    executor = LoggingExecutor()
    samples = list(Schedule(six(), executor))
    names = ["b0", "a0", "b1", "a1", "b2", "a2"]
    assert executor.log == [f"{verb} {name}" for name in names for verb in ("submit", "end")] + ["close"]
    assert [item.key for item in samples] == [item.key for item in six().trials]


def test_trials_that_are_done_are_left_out() -> None:
    executor = LoggingExecutor()
    done = {item.key for item in six().trials[:4]}
    schedule = Schedule(six(), executor, done=done)
    assert [item.key for item in schedule] == [item.key for item in six().trials[4:]]
    assert schedule.skipped == 0
    assert schedule.stopped_because is None


def test_a_run_with_everything_done_executes_nothing_and_closes() -> None:
    executor = LoggingExecutor()
    assert list(Schedule(six(), executor, done=[item.key for item in six().trials])) == []
    assert executor.log == ["close"]


def test_a_stop_rule_lets_what_runs_finish_and_says_why_it_stopped() -> None:
    executor = LoggingExecutor()
    now = 0.0
    schedule = Schedule(six(), executor, [TimeBudget(1.0, lambda: now)], parallelism=2)
    seen = []
    for item in schedule:
        seen.append(f"{item.arm_id}{item.iteration}")
        now = 1.0
    assert seen == ["b0", "a0"]
    assert schedule.stopped_because == "the time budget of 1 s is used up (time_budget_s)"
    assert executor.log[-1] == "close"


def test_a_budget_that_is_used_up_at_once_runs_nothing() -> None:
    executor = LoggingExecutor()
    assert list(Schedule(six(), executor, [TimeBudget(0.0, lambda: 0.0)])) == []
    assert executor.log == ["close"]


def test_an_arm_that_is_given_up_is_skipped_and_counted_while_others_go_on() -> None:
    trials = [trial(iteration, arm) for iteration in range(5) for arm in ("good", "bad")]

    class Failing(LoggingExecutor):
        def wait(self) -> Sample:
            done = super().wait()
            return sample(done.iteration, Status.ERROR, arm_id="bad") if done.arm_id == "bad" else done

    schedule = Schedule(plan(*trials), Failing(), [FailureRate(0.5)])
    seen = [item.arm_id for item in schedule]
    assert (seen.count("good"), seen.count("bad")) == (5, 3)
    assert schedule.skipped == 2
    assert schedule.stopped_because is None


@pytest.mark.parametrize("last_first", [False, True])
def test_at_most_as_many_trials_run_at_once_as_asked(last_first: bool) -> None:
    executor = LoggingExecutor(last_first=last_first)
    samples = list(Schedule(six(), executor, parallelism=3))
    assert executor.most_at_once == 3
    assert sorted(item.key for item in samples) == sorted(item.key for item in six().trials)
    submitted = [line.removeprefix("submit ") for line in executor.log if line.startswith("submit")]
    assert submitted == ["b0", "a0", "b1", "a1", "b2", "a2"]


def test_nothing_runs_while_the_consumer_has_a_sample() -> None:
    executor = LoggingExecutor()
    for _ in Schedule(six(), executor):
        assert executor.flying == []


def test_the_executor_is_closed_when_the_consumer_breaks_out() -> None:
    executor = LoggingExecutor()
    for _ in Schedule(six(), executor, parallelism=2):
        break
    assert executor.log == ["submit b0", "submit a0", "end b0", "close"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_executor_is_closed_when_the_consumer_raises(error: type[BaseException]) -> None:
    executor = LoggingExecutor()

    def consume() -> None:
        for _ in Schedule(six(), executor):
            raise error

    with pytest.raises(error):
        consume()
    assert executor.log[-1] == "close"
    assert executor.log.count("close") == 1


@pytest.mark.parametrize("broken", ["submit", "wait"])
def test_the_executor_is_closed_when_it_raises_itself(broken: str) -> None:
    executor = LoggingExecutor()
    executor.broken = broken
    with pytest.raises(RuntimeError, match="broken"):
        list(Schedule(six(), executor))
    assert executor.log[-1] == "close"
    assert executor.log.count("close") == 1


def test_the_executor_is_closed_when_a_rule_raises() -> None:
    class BadRule(FailureRate):
        def observe(self, sample: Sample) -> None:
            raise ZeroDivisionError

    executor = LoggingExecutor()
    with pytest.raises(ZeroDivisionError):
        list(Schedule(six(), executor, [BadRule(0.5)]))
    assert executor.log[-1] == "close"
